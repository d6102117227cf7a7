#include "sim/api/path.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

enum { SEGMENTS_MAX = 12 };

static const struct subresource_name {
    const char *name;
    enum subresource sub;
} subresources[] = {
    { "", SUB_NONE },       { "status", SUB_STATUS },   { "eviction", SUB_EVICTION },
    { "scale", SUB_SCALE }, { "binding", SUB_BINDING }, { "log", SUB_LOG },
};

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = memchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c, sizeof digits - 1);
    return at ? (int) (at - digits) : -1;
}

/* Decodes in place; `plus` where "+" stands for a space. False for a broken escape or an encoded
 * NUL. */
static bool path_decode(char *s, bool plus)
{
    char *to = s;
    for (const char *from = s; *from; from++) {
        if (*from != '%') {
            *to++ = plus && *from == '+' ? ' ' : *from;
            continue;
        }
        int high = hex_value(from[1]), low = high < 0 ? -1 : hex_value(from[2]);
        if (low < 0 || (high == 0 && low == 0))
            return false;
        *to++ = (char) (high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return true;
}

/* Skips pairs that cannot be decoded, as the API server does. */
static void parse_query(const char *query, struct path *p)
{
    CLEANUP_FREE char *text = xstrdup(query);
    char *rest = text;
    for (char *pair; (pair = strsep(&rest, "&"));) {
        char *value = pair, *name = strsep(&value, "=");
        if (!*name || !path_decode(name, true) || (value && !path_decode(value, true)))
            continue;
        p->parameters = xreallocarray(p->parameters, p->parameter_count + 1, sizeof *p->parameters);
        p->parameters[p->parameter_count++] = (struct path_parameter){
            xstrdup(name), xstrdup(str_or_empty(value))
        };
    }
}

/* Cuts at each "/"; the number of pieces, or -1. One "/" at the end counts for nothing. */
static int split(char *text, const char *parts[static SEGMENTS_MAX])
{
    size_t n = strlen(text);
    if (n > 1 && text[n - 1] == '/')
        text[n - 1] = '\0';
    int count = 0;
    for (char *rest = text + 1, *part; (part = strsep(&rest, "/"));) {
        if (count == SEGMENTS_MAX)
            return -1;
        parts[count++] = part;
    }
    return count;
}

static bool has_group(const char *group)
{
    for (size_t i = 0; i < kind_count(); i++)
        if (str_eq(kind_at(i)->group, group) && !(kind_at(i)->flags & KIND_CUSTOM))
            return true;
    return false;
}

/* Whether a kind has the subresource that the path names. */
static bool settle_subresource(struct path *p, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(subresources); i++) {
        if (!str_eq(subresources[i].name, name) ||
            (subresources[i].sub & p->kind->subresources) != subresources[i].sub)
            continue;
        p->sub = subresources[i].sub;
        p->subresource = subresources[i].name;
        return true;
    }
    return false;
}

/* PLURAL[/NAME[/SUB]]; false when no kind, or not this one, is named so. */
static bool settle_object(struct path *p, const char *group, const char *version,
                          const char *const *parts, int count)
{
    bool in_namespace = p->ns;
    if (count < 1 || count > 3)
        return false;
    p->kind = kind_of_path(group, version, parts[0]);
    p->name = count > 1 ? parts[1] : "";
    if (!p->kind || (count > 1 && !*p->name) || (in_namespace && !*p->ns))
        return false;
    /* All objects of a kind may be seen at once; one of them is in a namespace where its kind is.
     */
    if (p->kind->namespaced ? count > 1 && !in_namespace : in_namespace)
        return false;
    return settle_subresource(p, count > 2 ? parts[2] : "");
}

/* What the path names after group and version, in a namespace or not. */
static enum path_end settle(struct path *p, const char *group, const char *version,
                            const char *const *parts, int count)
{
    if (count >= 3 && str_eq(parts[0], "namespaces") && kind_of_path(group, version, parts[2])) {
        p->ns = parts[1];
        parts += 2;
        count -= 2;
    }
    if (!settle_object(p, group, version, parts, count))
        return has_group(group) ? PATH_NO_KIND : PATH_NO_GROUP;
    return count > 1 ? PATH_OBJECT : PATH_COLLECTION;
}

void path_parse(const char *target, struct path *ret)
{
    *ret = (struct path){ .name = "", .subresource = "" };
    const char *query = strchr(target, '?');
    size_t n = query ? (size_t) (query - target) : strlen(target);
    ret->text = xstrndup(target, n);
    if (query)
        parse_query(query + 1, ret);
    const char *parts[SEGMENTS_MAX];
    bool whole = *target == '/' && path_decode(ret->text, false);
    ret->segments = xstrdup(ret->text);
    int count = whole ? split(ret->segments, parts) : -1;
    ret->end = count < 0 ? PATH_BROKEN : PATH_ELSEWHERE;
    if (count > 1 && str_eq(parts[0], "api"))
        ret->end = settle(ret, "", parts[1], parts + 2, count - 2);
    else if (count > 2 && str_eq(parts[0], "apis") && *parts[1])
        ret->end = settle(ret, parts[1], parts[2], parts + 3, count - 3);
    ret->ns = str_or_empty(ret->ns);
}

void path_clear(struct path *p)
{
    for (size_t i = 0; i < p->parameter_count; i++) {
        free(p->parameters[i].name);
        free(p->parameters[i].value);
    }
    free(p->parameters);
    free(p->segments);
    free(p->text);
    *p = (struct path){ 0 };
}

const char *path_parameter(const struct path *p, const char *name)
{
    for (size_t i = 0; i < p->parameter_count; i++)
        if (str_eq(p->parameters[i].name, name))
            return p->parameters[i].value;
    return NULL;
}

bool path_flag(const struct path *p, const char *name)
{
    const char *value = path_parameter(p, name);
    return value && strcasecmp(value, "false") != 0 && !str_eq(value, "0");
}

static bool is_number(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

int path_number(const struct path *p, const char *name, int64_t fallback, int64_t *ret,
                struct refusal *r)
{
    const char *value = path_parameter(p, name);
    if (!value) {
        *ret = fallback;
        return 0;
    }
    if (!str_parse_int(value, INT64_MIN, INT64_MAX, ret))
        return refuse(r, 400, "strconv.ParseInt: parsing \"%s\": %s", value,
                      is_number(value) ? "value out of range" : "invalid syntax");
    return 0;
}
