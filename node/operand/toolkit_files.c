#include "node/operand/toolkit_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/inventory/handlers.h"

/* File names of the copies. */
#define BEFORE "before"
#define MADE "made"

/* The three states of the files: before the toolkit, as the toolkit made them, and now. */
struct states {
    struct kept before, made, now;
};

static void states_clear(struct states *s)
{
    kept_clear(&s->before);
    kept_clear(&s->made);
    kept_clear(&s->now);
}

#define CLEANUP_STATES CLEANUP(states_clear)

/* Loads the copies of one name; unusable ones count as missing. */
static void load(const struct toolkit_files *f, const char *name, struct kept *ret)
{
    CLEANUP_ERR struct err why = { 0 };
    CLEANUP_FREE char *file = f->copies ? xasprintf("%s/%s", f->copies, name) : NULL;
    if (!file || kept_load(ret, file, &why) >= 0)
        return;
    fprintf(stderr, "%s\n", err_msg(&why));
    kept_clear(ret);
}

static int read_now(const struct toolkit_files *f, struct kept *ret, struct err *e)
{
    if (f->config && kept_add(ret, f->config, e) < 0)
        return -1;
    return f->drop_in ? kept_add(ret, f->drop_in, e) : 0;
}

static int toolkit_files_read_all(const struct toolkit_files *f, struct states *s, struct err *e)
{
    load(f, BEFORE, &s->before);
    load(f, MADE, &s->made);
    return read_now(f, &s->now, e);
}

static int save(const struct toolkit_files *f, const char *name, const struct kept *k,
                struct err *e)
{
    CLEANUP_FREE char *file = xasprintf("%s/%s", f->copies, name);
    return kept_save(k, file, e);
}

static const struct kept_file *toolkit_files_find(const struct kept *k, const char *path)
{
    for (size_t i = 0; i < k->len; i++)
        if (str_eq(k->files[i].path, path))
            return &k->files[i];
    return NULL;
}

static struct part toolkit_files_text_of(const struct kept_file *file)
{
    return file && file->is_there ? (struct part){ buf_text(&file->bytes), file->bytes.len }
                                  : (struct part){ "", 0 };
}

/* NULL is equal to nothing. */
static bool toolkit_files_same(const struct kept_file *a, const struct kept_file *b)
{
    return a && b && a->is_there == b->is_there &&
           part_same(toolkit_files_text_of(a), toolkit_files_text_of(b));
}

static bool is_drop_in(const struct toolkit_files *f, const struct kept_file *file)
{
    const char *name = f->drop_in ? strrchr(f->drop_in, '/') : NULL;
    return name && str_has_suffix(file->path, name);
}

/* Adds the file's state from before the toolkit: the current file, unless the toolkit made it.
 * There are no copies if an older Ostler installed the toolkit. Then the drop-in did not exist
 * before. A configuration without the toolkit's programs is unchanged except for an import of the
 * drop-in. The earlier state of one with its programs is not known. */
static void add_before(const struct toolkit_files *f, const struct states *s,
                       const struct kept_file *now, struct kept *ret)
{
    const struct kept_file *before = toolkit_files_find(&s->before, now->path);
    bool ours = part_find(toolkit_files_text_of(now), f->programs) != NULL;
    if (before && (ours || toolkit_files_same(now, toolkit_files_find(&s->made, now->path))))
        kept_copy(ret, before);
    else if (!ours)
        kept_copy(ret, now);
    else if (is_drop_in(f, now))
        kept_copy(ret, &(struct kept_file){ .path = now->path });
}

int toolkit_files_keep(const struct toolkit_files *f, struct err *e)
{
    CLEANUP_STATES struct states s = { 0 };
    CLEANUP_KEPT struct kept before = { 0 };
    if (!f->copies)
        return 0;
    if (toolkit_files_read_all(f, &s, e) < 0)
        return -1;
    for (size_t i = 0; i < s.now.len; i++)
        add_before(f, &s, &s.now.files[i], &before);
    return save(f, BEFORE, &before, e);
}

int toolkit_files_made(const struct toolkit_files *f, struct err *e)
{
    CLEANUP_KEPT struct kept now = { 0 };
    if (!f->copies)
        return 0;
    return read_now(f, &now, e) < 0 ? -1 : save(f, MADE, &now, e);
}

/* ---- removal of the toolkit's settings */

static bool toolkit_files_is_ours(const struct handlers *h, struct part name, const char *programs)
{
    for (size_t i = 0; name.len && i < h->len; i++)
        if (part_same(h->items[i].name, name))
            return part_begins(h->items[i].program, programs);
    return false;
}

/* Copies a TOML configuration without the runtimes whose programs are in a directory; if one of
 * them is the default, `standard` (empty: none) becomes the default. False: it has none of them, or
 * does not fit. */
static bool toolkit_files_without(struct part text, const char *programs, struct part standard,
                                  struct buf *ret)
{
    struct handlers h;
    struct handlers_lines lines = { .rest = text };
    struct handlers_line line;
    struct part whole;
    bool changed = false, fits = true;
    handlers_read(text, &h);
    while (handlers_next(&lines, &line, &whole)) {
        bool names_ours = handlers_names_default(&line) &&
                          toolkit_files_is_ours(&h, line.value, programs);
        if (names_ours && standard.len)
            buf_printf(ret, "%.*s = \"%.*s\"\n", (int) line.name.len, line.name.at,
                       (int) standard.len, standard.at);
        else if (!names_ours && !toolkit_files_is_ours(&h, line.runtime, programs))
            fits &= buf_add(ret, whole.at, whole.len) && buf_add(ret, "\n", 1);
        changed |= names_ours || toolkit_files_is_ours(&h, line.runtime, programs);
    }
    return changed && fits;
}

bool toolkit_files_without_json(struct part text, const char *programs, const char *standard,
                                struct buf *ret)
{
    CLEANUP_JSON json_t *daemon = json_loadb(text.at, text.len, 0, NULL);
    json_t *runtimes = json_object_get(daemon, "runtimes"), *runtime;
    const char *name;
    void *next;
    bool changed = false;
    json_object_foreach_safe (runtimes, next, name, runtime) {
        if (!str_has_prefix(json_str_or_empty(runtime, "path"), programs))
            continue;
        changed = true;
        bool is_default = str_eq(json_str(daemon, "default-runtime"), name);
        if (is_default && standard)
            json_object_set_new(daemon, "default-runtime", json_text(standard));
        else if (is_default)
            json_object_del(daemon, "default-runtime");
        json_object_del(runtimes, name);
    }
    if (!changed)
        return false;
    if (!json_object_size(runtimes))
        json_object_del(daemon, "runtimes");
    CLEANUP_FREE char *out = json_dumps(daemon, JSON_INDENT(4));
    return out && buf_add(ret, out, strlen(out)) && buf_add(ret, "\n", 1);
}

/* ---- restoring */

/* The toolkit's own file was changed by others: it is removed, and a copy without effect is
 * kept. */
static int put_aside(const struct toolkit_files *f, const struct kept_file *now, struct err *e)
{
    if (!f->copies)
        return 0;
    CLEANUP_FREE char *aside = xasprintf("%s/changed-%s", f->copies, strrchr(now->path, '/') + 1);
    fprintf(stderr,
            "another program changed %s since the toolkit wrote it: moving it to %s on the host\n",
            now->path, aside);
    struct part text = toolkit_files_text_of(now);
    return file_write(aside, 0600, text.at, text.len, e);
}

/* The runtime's configuration was changed by others: only the toolkit's runtimes are removed. */
static int toolkit_files_take_out(const struct toolkit_files *f, const struct kept_file *now,
                                  const struct kept_file *before, struct err *e)
{
    CLEANUP_BUF struct buf out = BUF_INIT(2 * KEPT_BYTES_MAX);
    CLEANUP_JSON json_t *daemon = json_loadb(toolkit_files_text_of(before).at,
                                             toolkit_files_text_of(before).len, 0, NULL);
    struct handlers h;
    handlers_read(toolkit_files_text_of(before), &h);
    bool json = str_has_suffix(now->path, ".json");
    bool changed = json ? toolkit_files_without_json(toolkit_files_text_of(now), f->programs,
                                                     json_str(daemon, "default-runtime"), &out)
                        : toolkit_files_without(toolkit_files_text_of(now), f->programs, h.standard,
                                                &out);
    fprintf(stderr,
            "another program changed %s since the toolkit wrote it, so it is not restored: %s\n",
            now->path,
            changed ? "the toolkit's runtimes are removed from it" : "it stays as it is");
    if (changed && file_write(now->path, now->mode, buf_text(&out), out.len, e) < 0)
        return -1;
    return !changed && part_find(toolkit_files_text_of(now), f->programs)
               ? err_set(e, ERR_INVALID,
                         "%s names the toolkit's programs in a way that Ostler cannot remove",
                         now->path)
               : 0;
}

/* Whether the directory of the toolkit's file has files of others, which the runtime only imports
 * because of the toolkit. */
static bool others_need_imports(const struct toolkit_files *f, const struct kept_file *now,
                                const struct kept_file *before)
{
    struct handlers then, today;
    struct dirent *entry;
    bool found = false;
    handlers_read(toolkit_files_text_of(before), &then);
    handlers_read(toolkit_files_text_of(now), &today);
    if (!f->drop_in || today.imports_len <= then.imports_len)
        return false;
    CLEANUP_FREE char *folder = xasprintf("%.*s", (int) (strrchr(f->drop_in, '/') - f->drop_in),
                                          f->drop_in);
    DIR *dir = opendir(folder);
    while (dir && !found && (entry = readdir(dir)))
        found = str_has_suffix(entry->d_name, ".toml") &&
                !str_has_suffix(f->drop_in, entry->d_name);
    if (dir)
        closedir(dir);
    if (found)
        fprintf(stderr,
                "%s stays as the toolkit wrote it: its imports contain a file of another program\n",
                now->path);
    return found;
}

static int restore_one(const struct toolkit_files *f, const struct states *s,
                       const struct kept_file *now, struct kept *ret, struct err *e)
{
    const struct kept_file none = { .path = now->path };
    const struct kept_file *made = toolkit_files_find(&s->made, now->path),
                           *before = toolkit_files_find(&s->before, now->path);
    bool drop_in = is_drop_in(f, now);
    if (!before && drop_in)
        before = &none;
    if (toolkit_files_same(now, before))
        return 0;
    if (!drop_in && (!before || !toolkit_files_same(now, made)))
        return now->is_there ? toolkit_files_take_out(f, now, before, e) : 0;
    if (!drop_in && others_need_imports(f, now, before))
        return 0;
    if (drop_in && now->is_there && made && !toolkit_files_same(now, made) &&
        put_aside(f, now, e) < 0)
        return -1;
    kept_copy(ret, before);
    return 0;
}

int toolkit_files_restore(const struct toolkit_files *f, struct err *e)
{
    CLEANUP_STATES struct states s = { 0 };
    CLEANUP_KEPT struct kept back = { 0 };
    if (toolkit_files_read_all(f, &s, e) < 0)
        return -1;
    for (size_t i = 0; i < s.now.len; i++)
        if (restore_one(f, &s, &s.now.files[i], &back, e) < 0)
            return -1;
    return kept_put_back(&back, e);
}
