#include "node/operand/driver_files.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/os.h"
#include "node/operand/place.h"
#include "node/operand/program.h"

/* A ConfigMap holds up to 1 MiB (api/core/v1 MaxSecretSize). */
enum { FILES_MAX = 1024, FILE_MAX = 1 << 20, RELEASE_MAX = 64 << 10, UPDATE_MS = 60 * 1000 };

/* Operating systems of driver images, by the directories that they use. */
enum family { FAMILY_OTHER, FAMILY_DEBIAN, FAMILY_RED_HAT, FAMILY_SUSE, FAMILY_COUNT };

static const struct {
    const char *id; /* ID in os-release */
    enum family family;
} families[] = {
    { "ubuntu", FAMILY_DEBIAN },  { "debian", FAMILY_DEBIAN }, { "rhel", FAMILY_RED_HAT },
    { "centos", FAMILY_RED_HAT }, { "rocky", FAMILY_RED_HAT }, { "ol", FAMILY_RED_HAT },
    { "rhcos", FAMILY_RED_HAT },  { "sles", FAMILY_SUSE },     { "sl-micro", FAMILY_SUSE },
};

/* The directories are those of NVIDIA's operator (v26.7.0 internal/state/driver_volumes.go), so
 * that its ConfigMaps work here. */
static const struct kind {
    const char *setting; /* name in the policy */
    /* mount point of the ConfigMap in the manifest; missing: the policy names none */
    const char *from;
    const char *to[FAMILY_COUNT];
    const char *suffix[FAMILY_COUNT]; /* required suffix of file names; NULL: any */
    const char *update[FAMILY_COUNT]; /* program that makes the system read the files; NULL: none */
} kinds[] = {
    {
        .setting = "driver.repoConfig",
        .from = "ostler-config/repositories",
        .to = { NULL, "etc/apt/sources.list.d", "etc/yum.repos.d", "etc/zypp/repos.d" },
    },
    {
        .setting = "driver.certConfig",
        .from = "ostler-config/certificates",
        .to = { NULL, "usr/local/share/ca-certificates", "etc/pki/ca-trust/extracted/pem",
                "etc/pki/trust/anchors" },
        .suffix = { [FAMILY_DEBIAN] = ".crt" },
        .update = { [FAMILY_DEBIAN] = "update-ca-certificates",
                    [FAMILY_SUSE] = "update-ca-certificates" },
    },
    {
        .setting = "driver.kernelModuleConfig",
        .from = "ostler-config/modules",
        .to = { "drivers", "drivers", "drivers", "drivers" },
    },
};

/* ID of the container's operating system, or "". */
static const char *system_of(const struct root *root, struct arena *a)
{
    CLEANUP_BUF struct buf text = BUF_INIT(RELEASE_MAX);
    struct os_release release = { 0 };
    if (root_read(root, "etc/os-release", &text) == 0)
        os_release_parse(a, part_of_buf(&text), &release);
    return str_or_empty(release.id);
}

static enum family family_of(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (str_eq(families[i].id, id))
            return families[i].family;
    return FAMILY_OTHER;
}

static int put_file(const struct root *root, const struct kind *k, const char *name,
                    const char *folder, struct err *e)
{
    CLEANUP_FREE char *from = xasprintf("%s/%s", k->from, name),
                      *to = xasprintf("%s/%s", folder, name);
    CLEANUP_BUF struct buf text = BUF_INIT(FILE_MAX);
    int why = root_read(root, from, &text);
    if (why)
        return err_set(e, ERR_SYSTEM, "%s: cannot read %s: %s", k->setting, name, strerror(why));
    if (memchr(buf_text(&text), '\0', text.len))
        return err_set(e, ERR_INVALID, "%s: %s is not text", k->setting, name);
    return place_put(root, to, buf_text(&text), e) == 0 ? 0 : err_wrap(e, "%s", k->setting);
}

/* Names that start with ".." are a ConfigMap volume's own links and directories. */
static int put_files(const struct root *root, const struct kind *k, enum family family,
                     struct folder *from, struct err *e)
{
    const char *name, *suffix = k->suffix[family];
    size_t files = 0;
    while ((name = folder_next(from))) {
        if (str_has_prefix(name, ".."))
            continue;
        if (suffix && !str_has_suffix(name, suffix))
            return err_set(e, ERR_INVALID,
                           "%s: the driver ignores %s, because its name does not end in %s: rename "
                           "that key of the ConfigMap",
                           k->setting, name, suffix);
        if (put_file(root, k, name, k->to[family], e) < 0)
            return -1;
        files++;
    }
    if (from->why)
        return err_set(e, ERR_SYSTEM, "%s: cannot list its files: %s", k->setting,
                       strerror(from->why));
    if (!files)
        return err_set(e, ERR_NOT_FOUND,
                       "%s: its ConfigMap is not in this namespace, or is empty: create it",
                       k->setting);
    return 0;
}

static int put_kind(const struct root *root, const struct kind *k, const char *system,
                    struct err *e)
{
    CLEANUP_FOLDER struct folder from = { 0 };
    enum family family = family_of(system);
    int why = folder_open(&from, root, k->from, FILES_MAX);
    if (why)
        return why == ENOENT ? 0
                             : err_set(e, ERR_SYSTEM, "%s: cannot open its files: %s", k->setting,
                                       strerror(why));
    if (!k->to[family])
        return err_set(e, ERR_INVALID,
                       "%s: Ostler does not know where system \"%s\" of the driver image looks for "
                       "such files: unset it",
                       k->setting, system);
    if (put_files(root, k, family, &from, e) < 0)
        return -1;
    if (k->update[family] && program_run_quietly(k->update[family], UPDATE_MS, e) < 0)
        return err_wrap(e, "%s", k->setting);
    return 0;
}

int driver_files_put(const struct root *root, struct err *e)
{
    CLEANUP_ARENA struct arena a = { 0 };
    const char *system = system_of(root, &a);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (put_kind(root, &kinds[i], system, e) < 0)
            return -1;
    return 0;
}
