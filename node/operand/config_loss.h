/* What containerd's configuration loses by a change of its files: pure, from the texts of `containerd config dump` before and
 * after, which has every setting with its value, defaults as well. */
#ifndef OSTLER_NODE_OPERAND_CONFIG_LOSS_H
#define OSTLER_NODE_OPERAND_CONFIG_LOSS_H

#include "base/buf.h"

/* How much is read of a dump, in bytes and settings; containerd 2.1 says 250 lines. How many settings a text names, and how long
 * a name may be in it. */
enum { CONFIG_DUMP_MAX = 1 << 20, CONFIG_SETTINGS_MAX = 16384, CONFIG_NAMED_MAX = 4, CONFIG_NAME_MAX = 160 };

enum config_loss {
    CONFIG_KEPT,       /* every setting is as it was, but for those that the toolkit is there to change */
    CONFIG_LOST,       /* settings are gone, or have other values */
    CONFIG_UNREADABLE, /* one of the texts is no dump that can be read: nothing is known */
};

/* `ret` (which has to take 4 KiB) gets the settings that are lost, with commas between; a value is shown of well-known settings
 * alone, since others may be passwords of registries. What the toolkit changes: which files are imported, runtimes whose name
 * begins with "nvidia", the default runtime where it becomes one of those, and that CDI is on. */
enum config_loss config_loss(const char *before, const char *after, struct buf *ret);

#endif
