#include "node/inventory/rancher.h"

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
        if (!at)
            continue;
        at += strlen(options[i]);
        return part_bare((struct part){ at, text.len - (size_t) (at - text.at) }, "= \t\r\n\\\"'");
    }
    return (struct part){ 0 };
}

struct part rancher_folder_of_config(struct part text)
{
    static const char *const keys[] = { "data-dir:", "\"data-dir\":", "'data-dir':" };
    struct part line;
    while (part_next(&text, '\n', &line))
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            size_t n = strlen(keys[i]);
            if (part_begins(line, keys[i]))
                return part_bare((struct part){ line.at + n, line.len - n }, " \t\"'");
        }
    return (struct part){ 0 };
}

/* The configuration in the directory that a file sets, or NULL. */
static const char *config_by(const struct view *v, const char *path,
                             struct part (*find)(struct part text))
{
    CLEANUP_BUF struct buf text = BUF_INIT(TEXT_MAX);
    if (view_read(v, path, &text) != SEEN)
        return NULL;
    const char *folder = part_shown(v->arena, find((struct part){ buf_text(&text), text.len }),
                                    RANCHER_PATH_MAX);
    if (!folder || folder[0] != '/' || strlen(folder) + strlen(CONFIG) > RANCHER_PATH_MAX)
        return NULL;
    const char *config = arena_printf(v->arena, "%.*s" CONFIG,
                                      (int) strlen(folder) - str_has_suffix(folder, "/"), folder);
    return view_is(v, config + 1, S_IFREG) == ABSENT ? NULL : config;
}

/* The last drop-in by name wins. */
static const char *config_by_drop_ins(const struct view *v, const char *distribution)
{
    char folder[64], path[sizeof folder + NAME_LEN_MAX], last[NAME_LEN_MAX] = "";
    CLEANUP_FOLDER struct folder drop_ins = { 0 };
    const char *name, *ret = NULL;
    int why = 0;
    snprintf(folder, sizeof folder, "etc/rancher/%s/config.yaml.d", distribution);
    if (view_folder(v, folder, DROP_INS_MAX, &drop_ins) != SEEN)
        return NULL;
    while ((name = folder_next(&drop_ins, &why))) {
        if (!str_has_suffix(name, ".yaml") || strcmp(name, last) < 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        const char *config = config_by(v, path, rancher_folder_of_config);
        if (!config)
            continue;
        ret = config;
        snprintf(last, sizeof last, "%s", name);
    }
    if (why)
        view_note(v, folder, why);
    return ret;
}

const char *rancher_config(const struct view *v, const char *distribution)
{
    char path[64];
    const char *config = NULL;
    for (size_t i = 0; !config && i < ARRAY_LEN(units); i++)
        if (str_eq(units[i].distribution, distribution))
            config = config_by(v, units[i].path, rancher_folder_of_unit);
    if (!config)
        config = config_by_drop_ins(v, distribution);
    snprintf(path, sizeof path, "etc/rancher/%s/config.yaml", distribution);
    return config ? config : config_by(v, path, rancher_folder_of_config);
}
