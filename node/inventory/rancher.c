/* The containerd configuration of k3s and RKE2: runtime.h. */
#include "node/inventory/runtime.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

#define CONFIG "/agent/etc/containerd/config.toml"

enum { TEXT_MAX = 64 * 1024, DROP_INS_MAX = 64, NAME_LEN_MAX = 256 };

/* Units that installers generate, with the arguments of the installation. */
static const struct {
    const char *distribution;
    const char *path;
} units[] = {
    { "k3s", "etc/systemd/system/k3s.service" },
    { "k3s", "etc/systemd/system/k3s-agent.service" },
    { "rke2", "etc/systemd/system/rke2-server.service" },
    { "rke2", "etc/systemd/system/rke2-agent.service" },
};

struct part rancher_folder_of_unit(struct part text)
{
    /* Each argument may be quoted and on its own line. */
    static const char *const options[] = { "--data-dir", "'-d'", "\"-d\"", " -d " };
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        const char *at = part_find(text, options[i]);
        if (at)
            return part_bare(part_from(text, at + strlen(options[i])), "= \t\r\n\\\"'");
    }
    return (struct part){ 0 };
}

struct part rancher_folder_of_config(struct part text)
{
    static const char *const keys[] = { "data-dir:", "\"data-dir\":", "'data-dir':" };
    struct part line;
    while (part_next(&text, '\n', &line))
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            if (part_skip(&line, keys[i]))
                return part_bare(line, " \t\"'");
    return (struct part){ 0 };
}

/* The configuration in the directory that a file sets, or NULL. */
static const char *config_by(struct view *v, const char *path,
                             struct part (*find)(struct part text))
{
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    if (view_read(v, path, &text) != SEEN)
        return NULL;
    const char *folder = part_shown(&v->arena, find(part_of_buf(&text)), RANCHER_PATH_MAX);
    if (!folder || folder[0] != '/' || strlen(folder) + strlen(CONFIG) > RANCHER_PATH_MAX)
        return NULL;
    const char *config = arena_printf(&v->arena, "%.*s" CONFIG,
                                      (int) strlen(folder) - str_has_suffix(folder, "/"), folder);
    return view_is(v, config + 1, S_IFREG) == ABSENT ? NULL : config;
}

/* The last drop-in by name wins. */
static const char *config_by_drop_ins(struct view *v, const char *distribution)
{
    char last[NAME_LEN_MAX] = "";
    CLEANUP_FOLDER struct folder drop_ins = { 0 };
    const char *name,
        *ret = NULL,
        *folder = arena_printf(&v->arena, "etc/rancher/%s/config.yaml.d", distribution);
    view_folder(v, folder, DROP_INS_MAX, &drop_ins);
    while ((name = view_next(v, &drop_ins))) {
        if (!str_has_suffix(name, ".yaml") || strcmp(name, last) < 0)
            continue;
        const char *config = config_by(v, arena_printf(&v->arena, "%s/%s", folder, name),
                                       rancher_folder_of_config);
        if (!config)
            continue;
        ret = config;
        snprintf(last, sizeof last, "%s", name);
    }
    return ret;
}

const char *rancher_config(struct view *v, const char *distribution)
{
    const char *config = NULL;
    for (size_t i = 0; !config && i < ARRAY_LEN(units); i++)
        if (str_eq(units[i].distribution, distribution))
            config = config_by(v, units[i].path, rancher_folder_of_unit);
    if (!config)
        config = config_by_drop_ins(v, distribution);
    const char *path = arena_printf(&v->arena, "etc/rancher/%s/config.yaml", distribution);
    return config ? config : config_by(v, path, rancher_folder_of_config);
}
