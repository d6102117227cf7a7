#include "commands/plan_file.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "commands/offline.h"
#include "reconcilers/model/names.h"

enum { PATHS_TOLD = 8, TEXT_ROOM = 4 << 10 };

json_t *plan_file_load(const struct options *o)
{
    struct policy policy = { 0 };
    CLEANUP_JSON json_t *object = NULL;
    bool ok = offline_policy(o, &policy, &object);
    policy_clear(&policy);
    bool whole = json_object_get(object, "apiVersion") && json_object_get(object, "kind") &&
                 json_object_get(object, "metadata");
    if (!ok && object && !whole)
        fprintf(stderr,
                "%s: -f takes a whole " POLICY_KIND
                ", not only the fields that change: omitted fields get their defaults; "
                "`kubectl get gpuclusterpolicy " POLICY_NAME
                " -o yaml` prints the cluster's: edit that for -f\n",
                o->called);
    return ok ? json_incref(object) : NULL;
}

/* ---- fields that the file omits */

/* A spec as written, and with its defaults. */
struct spec {
    const json_t *given, *effective;
};

static struct spec plan_file_member(const struct spec *s, const char *key)
{
    return (struct spec){ json_object_get(s->given, key), json_object_get(s->effective, key) };
}

/* Adds the paths of fields that `server` sets and `file` omits, with different effective values. */
static void find_left_out(const struct spec *server, const struct spec *file, const char *path,
                          json_t *out)
{
    JSON_EACH_MEMBER (key, value, server->given) {
        struct spec theirs = plan_file_member(server, key), ours = plan_file_member(file, key);
        CLEANUP_FREE char *at = xasprintf("%s.%s", path, key);
        if (json_is_object(value) && json_is_object(ours.effective))
            find_left_out(&theirs, &ours, at, out);
        else if (!ours.given && !json_equal(theirs.effective, ours.effective))
            json_array_append_new(out, json_string(at));
    }
}

static char *listed(const json_t *paths)
{
    struct buf text = BUF_INIT(TEXT_ROOM);
    size_t n = json_array_size(paths);
    JSON_EACH_AT (i, path, paths)
        if (i < PATHS_TOLD)
            buf_printf(&text, "%s%s", i ? ", " : "", json_string_value(path));
    if (n > PATHS_TOLD)
        buf_printf(&text, " and %zu more", n - PATHS_TOLD);
    return buf_take(&text);
}

void plan_file_compare(const struct options *o, const json_t *server, const json_t *file)
{
    struct policy was = { 0 }, is = { 0 };
    struct policy_problems problems = { 0 };
    CLEANUP_JSON json_t *paths = json_array();
    bool valid = policy_decode(server, &o->limits, &was, &problems) == 0;
    policy_problems_clear(&problems);
    valid = valid && policy_decode(file, &o->limits, &is, &problems) == 0;
    policy_problems_clear(&problems);
    if (valid)
        find_left_out(&(struct spec){ json_object_get(server, "spec"), was.spec },
                      &(struct spec){ json_object_get(file, "spec"), is.spec }, "spec", paths);
    policy_clear(&was);
    policy_clear(&is);
    CLEANUP_FREE char *text = listed(paths);
    if (json_array_size(paths))
        fprintf(stderr,
                "%s: note: %s leaves out what the cluster's policy sets: %s; -f takes a whole "
                "policy, not a patch, so the plan ignores them\n",
                o->called, yaml_file_name(o->file), text);
}
