#include "node/inventory/host_toolkit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/handlers.h"
#include "node/inventory/host_driver.h"

#define PROGRAM "nvidia-container-runtime"
#define OF_OPERATORS "/nvidia/toolkit/"
#define LIBRARY "libnvidia-container.so"

enum { CONFIG_MAX = 256 * 1024, DROP_INS_MAX = 64, READ_MAX = 16, NAME_LEN_MAX = 256 };

/* Directories that packages use, in the order of a service's PATH. */
static const char *const folders[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin",
                                       "/sbin",           "/bin",           "/opt/bin" };

static const char *const libraries[] = {
    "usr/lib/x86_64-linux-gnu/" LIBRARY ".1",
    "usr/lib/aarch64-linux-gnu/" LIBRARY ".1",
    "usr/lib64/" LIBRARY ".1",
    "usr/lib/" LIBRARY ".1",
};

/* What the files configure; later files override. */
struct named {
    char name[TOOLKIT_NAME_MAX + 1], program[TOOLKIT_PATH_MAX + 1], standard[TOOLKIT_NAME_MAX + 1];
    const char *config;
};

static bool copy_part(struct part p, char *ret, size_t size)
{
    if (!p.len || p.len >= size)
        return false;
    for (size_t i = 0; i < p.len; i++)
        if (p.at[i] < ' ' || p.at[i] > '~')
            return false;
    memcpy(ret, p.at, p.len);
    ret[p.len] = '\0';
    return true;
}

static bool is_nvidias(struct part program)
{
    if (!program.len)
        return false;
    const char *slash = memrchr(program.at, '/', program.len);
    size_t cut = slash ? (size_t) (slash - program.at) + 1 : 0;
    return part_begins((struct part){ program.at + cut, program.len - cut }, PROGRAM);
}

/* A handler named nvidia has priority, because RuntimeClasses of that name use it. */
static void take_handler(const struct handler *h, const char *config, struct named *n)
{
    bool called_so = part_is(h->name, "nvidia");
    char name[sizeof n->name], program[sizeof n->program];
    if (!is_nvidias(h->program) || (!called_so && *n->name && !part_is(h->name, n->name)))
        return;
    if (!copy_part(h->name, name, sizeof name) || !copy_part(h->program, program, sizeof program))
        return;
    memcpy(n->name, name, sizeof name);
    memcpy(n->program, program, sizeof program);
    n->config = config;
}

static void host_toolkit_take_text(struct part text, const char *config, struct named *n,
                                   struct handlers *h)
{
    handlers_read(text, h);
    for (size_t i = 0; i < h->len; i++)
        take_handler(&h->items[i], config, n);
    copy_part(h->standard, n->standard, sizeof n->standard);
}

static void take_docker(struct part text, const char *config, struct named *n)
{
    CLEANUP_JSON json_t *daemon = json_loadb(text.at, text.len, 0, NULL);
    const char *standard = json_str_or_empty(daemon, "default-runtime");
    JSON_EACH_MEMBER (name, runtime, json_object_get(daemon, "runtimes")) {
        const char *path = json_str_or_empty(runtime, "path");
        const struct handler h = { part_of(name), part_of(path) };
        take_handler(&h, config, n);
    }
    copy_part(part_of(standard), n->standard, sizeof n->standard);
}

static int host_toolkit_by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Reads the files of a directory in import order, which is by name. */
static void take_folder(struct view *v, const char *folder, const char *suffix, struct named *n)
{
    char names[READ_MAX][NAME_LEN_MAX];
    size_t len = 0;
    const char *name;
    CLEANUP_FOLDER struct folder files = { 0 };
    view_folder(v, folder, DROP_INS_MAX, &files);
    while (len < READ_MAX && (name = view_next(v, &files)))
        if (str_has_suffix(name, suffix) && strlen(name) < NAME_LEN_MAX)
            snprintf(names[len++], NAME_LEN_MAX, "%s", name);
    qsort(names, len, sizeof *names, host_toolkit_by_name);
    for (size_t i = 0; i < len; i++) {
        CLEANUP_BUF struct buf text = BUF_INIT(CONFIG_MAX);
        struct handlers h;
        const char *path = arena_printf(&v->arena, "/%s/%s", folder, names[i]);
        if (strlen(path) <= TOOLKIT_PATH_MAX && view_read(v, path + 1, &text) == SEEN)
            host_toolkit_take_text(part_of_buf(&text), path, n, &h);
    }
}

/* Imports a directory's files with one suffix, or one file by its absolute path. */
static void take_import(struct view *v, struct part pattern, struct named *n)
{
    char path[TOOLKIT_PATH_MAX + 1];
    if (!copy_part(pattern, path, sizeof path) || path[0] != '/')
        return;
    char *star = strchr(path, '*'), *slash = strrchr(path, '/');
    if (slash == path || (star && star != slash + 1))
        return;
    *slash = '\0';
    /* Without a star, the whole name is the suffix. */
    take_folder(v, path + 1, star ? star + 1 : slash + 1, n);
}

static void look_at_config(struct view *v, const struct runtime *r, struct named *n)
{
    CLEANUP_BUF struct buf text = BUF_INIT(CONFIG_MAX);
    struct handlers h = { 0 };
    bool read = r->config && view_read(v, r->config + 1, &text) == SEEN;
    const struct part all = part_of_buf(&text);
    if (read && str_eq(r->name, "docker"))
        take_docker(all, r->config, n);
    else if (read)
        host_toolkit_take_text(all, r->config, n, &h);
    for (size_t i = 0; i < h.imports_len; i++)
        take_import(v, h.imports[i], n);
    if (str_eq(r->name, "cri-o"))
        take_folder(v, "etc/crio/crio.conf.d", "", n);
}

/* Finds a program without a directory in its name. */
static const char *in_path(struct view *v, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        const char *path = arena_printf(&v->arena, "%s/%s", folders[i], name);
        if (view_is(v, path + 1, S_IFREG) == SEEN)
            return path;
    }
    return NULL;
}

static void take_named(struct view *v, const struct named *n, struct host_toolkit *ret)
{
    const char *there = n->program[0] == '/' ? NULL : in_path(v, n->program);
    ret->program = there ? there : arena_strdup(&v->arena, n->program);
    ret->installed = there ||
                     (n->program[0] == '/' && view_is(v, n->program + 1, S_IFREG) != ABSENT);
    ret->handler = arena_strdup(&v->arena, n->name);
    ret->config = n->config;
    ret->standard = str_eq(n->standard, n->name);
}

void host_toolkit_look(struct view *v, const struct runtimes *runtimes, struct host_toolkit *ret)
{
    struct named n = { 0 };
    *ret = (struct host_toolkit){ 0 };
    if (runtimes->len)
        look_at_config(v, &runtimes->items[0], &n);
    if (strstr(n.program, OF_OPERATORS))
        return;
    if (*n.name)
        take_named(v, &n, ret);
    else
        ret->installed = (ret->program = in_path(v, PROGRAM));
    for (size_t i = 0; ret->installed && !ret->version && i < ARRAY_LEN(libraries); i++)
        ret->version = host_driver_version_of(v, libraries[i], LIBRARY ".");
}
