#include "kube/frame.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* A part of the text. */
struct part {
    const char *at, *end;
};

/* Takes a literal from the front. */
static bool takes(struct part *p, const char *literal)
{
    size_t len = strlen(literal);
    if ((size_t) (p->end - p->at) < len || memcmp(p->at, literal, len) != 0)
        return false;
    p->at += len;
    return true;
}

/* Takes a string with its quotes; `ret`: what is between them. An escape is given up. */
static bool takes_string(struct part *p, struct part *ret)
{
    if (!takes(p, "\""))
        return false;
    const char *quote = memchr(p->at, '"', (size_t) (p->end - p->at));
    if (!quote || memchr(p->at, '\\', (size_t) (quote - p->at)))
        return false;
    *ret = (struct part){ p->at, quote };
    p->at = quote + 1;
    return true;
}

/* Takes a string, whatever is in it. */
static bool skips_string(struct part *p)
{
    for (p->at++; p->at < p->end && *p->at != '"'; p->at++)
        p->at += *p->at == '\\';
    return p->at < p->end && *p->at++ == '"';
}

/* Takes a value of any kind. It ends before the comma or bracket that follows it. */
static bool skips_value(struct part *p)
{
    for (int depth = 0; p->at < p->end;) {
        char c = *p->at;
        bool closes = c == '}' || c == ']';
        if (depth == 0 && (closes || c == ','))
            return true;
        depth += c == '{' || c == '[' ? 1 : closes ? -1 : 0;
        if (c != '"')
            p->at++;
        else if (!skips_string(p))
            return false;
    }
    return false;
}

/* The members of an object's metadata that are read, each at most once. */
struct identity {
    struct part name, ns, rv, labels;
};

static struct part *member_of(struct identity *id, const struct part *key)
{
    const struct {
        const char *name;
        struct part *part;
    } rows[] = { { "name", &id->name },
                 { "namespace", &id->ns },
                 { "resourceVersion", &id->rv },
                 { "labels", &id->labels } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((size_t) (key->end - key->at) == strlen(rows[i].name) &&
            memcmp(key->at, rows[i].name, strlen(rows[i].name)) == 0)
            return rows[i].part;
    return NULL;
}

/* Takes a member's value; `member` (NULL: it is not read) must not have one yet. */
static bool takes_member(struct part *p, const struct identity *id, struct part *member)
{
    const char *from = p->at;
    if (member && member->at)
        return false;
    if (member && member != &id->labels)
        return takes_string(p, member);
    if (!skips_value(p))
        return false;
    if (member)
        *member = (struct part){ from, p->at };
    return true;
}

/* Takes the metadata's members. The names come before the version. */
static bool takes_identity(struct part *p, struct identity *id)
{
    do {
        struct part key;
        bool named = id->name.at, versioned = id->rv.at;
        if (!takes_string(p, &key) || !takes(p, ":") || !takes_member(p, id, member_of(id, &key)) ||
            (!versioned && id->rv.at && !named))
            return false;
    } while (takes(p, ","));
    return id->rv.at && takes(p, "}");
}

static size_t length(const struct part *p)
{
    return (size_t) (p->end - p->at);
}

/* Copies a part and ends it with a NUL; false: it is too long. */
static bool copy(const struct part *p, char *to, size_t max)
{
    if (length(p) >= max)
        return false;
    memcpy(to, p->at, length(p));
    to[length(p)] = '\0';
    return true;
}

static bool frame_key(const struct identity *id, char to[static FRAME_KEY_MAX])
{
    if (!id->ns.at)
        return copy(&id->name, to, FRAME_KEY_MAX);
    if (!copy(&id->ns, to, FRAME_KEY_MAX - 1))
        return false;
    size_t len = length(&id->ns);
    to[len] = '/';
    return copy(&id->name, to + len + 1, FRAME_KEY_MAX - len - 1);
}

static uint64_t hash_part(const char *at, const char *end)
{
    uint64_t hash = hash_bytes(at, (size_t) (end - at));
    return hash ? hash : 1;
}

/* Of all bytes of the object but those of two parts, of which the second may be empty, and of how
 * many come before each. */
static uint64_t hash_around(const char *object, const char *end, const struct part *first,
                            const struct part *second)
{
    const uint64_t parts[] = { hash_part(object, first->at), hash_part(first->end, second->at),
                               hash_part(second->end, end) };
    return hash_part((const char *) parts, (const char *) (parts + ARRAY_LEN(parts)));
}

static void take_hashes(const char *object, const char *end, const struct identity *id,
                        struct frame *ret)
{
    const struct part none = { end, end }, *labels = id->labels.at ? &id->labels : &none;
    bool labels_first = labels->at < id->rv.at;
    ret->hash.rest = hash_around(object, end, labels_first ? labels : &id->rv,
                                 labels_first ? &id->rv : labels);
    ret->hash.labels = id->labels.at ? hash_part(labels->at, labels->end) : 0;
    ret->labels = id->labels.at;
    ret->labels_len = length(labels);
}

/* Takes an object up to the end of its metadata. */
static bool takes_names(struct part *p, struct identity *id, struct frame *ret)
{
    struct part key;
    *id = (struct identity){ 0 };
    if (!takes(p, "{"))
        return false;
    while (!takes(p, "\"metadata\":{"))
        if (!takes_string(p, &key) || !takes(p, ":") || !skips_value(p) || !takes(p, ","))
            return false;
    return takes_identity(p, id) && frame_key(id, ret->key) && copy(&id->rv, ret->rv, FRAME_RV_MAX);
}

static bool takes_type(struct part *p)
{
    return takes(p, "{\"type\":\"MODIFIED\",\"object\":") ||
           takes(p, "{\"type\":\"ADDED\",\"object\":");
}

bool frame_read(const char *text, size_t len, struct frame *ret)
{
    struct part p = { text, text + len };
    struct identity id;
    if (!takes_type(&p))
        return false;
    const char *object = p.at;
    if (!takes_names(&p, &id, ret))
        return false;
    take_hashes(object, text + len, &id, ret);
    return true;
}

bool frame_name(const char *text, size_t len, struct frame *ret)
{
    struct part p = { text, text + len };
    struct identity id;
    return takes_type(&p) && takes_names(&p, &id, ret);
}

bool frame_name_object(const char *text, size_t len, struct frame *ret)
{
    struct part p = { text, text + len };
    struct identity id;
    return takes_names(&p, &id, ret);
}
