/* Compares containerd's configuration before and after a change, to find lost settings. Pure:
 * the inputs are the texts of `containerd config dump`, which lists every setting, defaults
 * included. */
#ifndef OSTLER_NODE_OPERAND_CONFIG_LOSS_H
#define OSTLER_NODE_OPERAND_CONFIG_LOSS_H

#include "base/buf.h"

/* Limits of a dump in bytes and settings (containerd 2.1 prints 250 lines), of the settings that a
 * message names, and of their names. */
enum {
    CONFIG_DUMP_MAX = 1 << 20,
    CONFIG_SETTINGS_MAX = 16384,
    CONFIG_NAMED_MAX = 4,
    CONFIG_NAME_MAX = 160
};

enum config_loss {
    CONFIG_KEPT,       /* every setting is unchanged, except those that the toolkit must change */
    CONFIG_LOST,       /* settings are missing or have other values */
    CONFIG_UNREADABLE, /* one of the texts is not a readable dump: the result is not known */
};

/* `ret` (needs room for 4 KiB) receives the lost settings, separated by commas. Only well-known
 * settings are shown with values, because others may be registry passwords. The toolkit may change:
 * imported files, runtimes whose name starts with "nvidia", the default runtime if it becomes one
 * of those, and CDI being enabled. */
enum config_loss config_loss(const char *before, const char *after, struct buf *ret);

#endif
