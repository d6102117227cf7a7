#include "sim/api/options.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

enum { MANAGER_MAX = 128 };

static int options_finish(struct refusal *r, const char *kind)
{
    const struct kind options = { .group = "meta.k8s.io", .kind = kind };
    return refuse_finish_invalid(r, &options, "");
}

static void forbid_match(struct refusal *r, const char *why)
{
    refuse_cause(r, "FieldValueForbidden", "resourceVersionMatch", "Forbidden: %s", why);
}

static void check_watch_match(const struct list_options *o, const char *match, struct refusal *r)
{
    if (*match && !o->asks_initial)
        forbid_match(
            r, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (o->asks_initial && !str_eq(match, "NotOlderThan"))
        forbid_match(r, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (*match && o->match != MATCH_NOT_OLDER)
        refuse_cause(r, "FieldValueNotSupported", "resourceVersionMatch",
                     "Unsupported value: \"%s\": supported values: \"NotOlderThan\"", match);
}

static void check_list_match(const struct list_options *o, const char *match, struct refusal *r)
{
    if (o->asks_initial)
        refuse_cause(r, "FieldValueForbidden", "sendInitialEvents",
                     "Forbidden: sendInitialEvents is forbidden for list");
    if (!*match)
        return;
    if (!*o->rv)
        forbid_match(r, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (*o->continuation)
        forbid_match(r, "resourceVersionMatch is forbidden when continue is provided");
    if (o->match == MATCH_UNSET)
        refuse_cause(
            r, "FieldValueNotSupported", "resourceVersionMatch",
            "Unsupported value: \"%s\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            match);
    if (o->match == MATCH_EXACT && str_eq(o->rv, "0"))
        forbid_match(r, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

int list_options_parse(const struct path *p, struct list_options *ret, struct refusal *r)
{
    struct list_options o = { .rv = str_or_empty(path_parameter(p, "resourceVersion")),
                              .watch = path_flag(p, "watch"),
                              .continuation = str_or_empty(path_parameter(p, "continue")),
                              .bookmarks = path_flag(p, "allowWatchBookmarks"),
                              .asks_initial = path_parameter(p, "sendInitialEvents"),
                              .initial_events = path_flag(p, "sendInitialEvents") };
    const char *match = str_or_empty(path_parameter(p, "resourceVersionMatch"));
    if (path_number(p, "limit", 0, &o.limit, r) < 0 ||
        path_number(p, "timeoutSeconds", 0, &o.timeout_s, r) < 0)
        return -1;
    if (o.limit < 0)
        o.limit = 0;
    o.match = str_eq(match, "Exact")          ? MATCH_EXACT
              : str_eq(match, "NotOlderThan") ? MATCH_NOT_OLDER
                                              : MATCH_UNSET;
    if (o.watch)
        check_watch_match(&o, match, r);
    else
        check_list_match(&o, match, r);
    *ret = o;
    return options_finish(r, "ListOptions");
}

static void check_manager(const char *manager, struct refusal *r)
{
    if (strlen(manager) > MANAGER_MAX)
        refuse_cause(r, "FieldValueTooLong", "fieldManager",
                     "Too long: may not be more than %d bytes", MANAGER_MAX);
    for (const char *c = manager; *c; c++) {
        if ((unsigned char) *c >= ' ' && *c != 0x7f)
            continue;
        CLEANUP_JSON json_t *shown = json_text(manager);
        CLEANUP_FREE char *text = json_dumps(shown, JSON_ENCODE_ANY);
        refuse_cause(r, "FieldValueInvalid", "fieldManager",
                     "Invalid value: %s: invalid character U+%04X (at position %zu)", text,
                     (unsigned) (unsigned char) *c, (size_t) (c - manager));
        return;
    }
}

int write_options_parse(const struct path *p, const char *kind, struct write_options *ret,
                        struct refusal *r)
{
    const char *dry_run = path_parameter(p, "dryRun"),
               *validation = str_or_empty(path_parameter(p, "fieldValidation"));
    struct write_options o = { .field_manager = str_or_empty(path_parameter(p, "fieldManager")),
                               .dry_run = str_eq(dry_run, "All"),
                               .strict = str_eq(validation, "Strict"),
                               .warn = !*validation || str_eq(validation, "Warn"),
                               .force = path_flag(p, "force") };
    check_manager(o.field_manager, r);
    if (dry_run && !o.dry_run)
        refuse_cause(r, "FieldValueNotSupported", "dryRun",
                     "Unsupported value: [\"%s\"]: supported values: \"All\"", dry_run);
    if (!o.strict && !o.warn && !str_eq(validation, "Ignore"))
        refuse_cause(
            r, "FieldValueNotSupported", "fieldValidation",
            "Unsupported value: \"%s\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
            validation);
    *ret = o;
    return options_finish(r, kind);
}

int write_options_check_patch(const struct path *p, const struct write_options *o, bool apply,
                              struct refusal *r)
{
    if (apply && !*o->field_manager)
        refuse_cause(r, "FieldValueRequired", "fieldManager",
                     "Required value: is required for apply patch");
    if (!apply && path_parameter(p, "force"))
        refuse_cause(r, "FieldValueForbidden", "force",
                     "Forbidden: may not be specified for non-apply patch");
    return options_finish(r, "PatchOptions");
}
