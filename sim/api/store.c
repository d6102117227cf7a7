#include "sim/api/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/share.h"

/* The version before the first commit; "0" has another meaning for clients. */
enum { FIRST_RV = 1 };

/* The alphabet and length of the suffix for generateName, and how much of generateName is kept. */
static const char suffix_letters[] = "bcdfghjklmnpqrstvwxz2456789";
enum { SUFFIX_LEN = 5, GENERATED_BASE_MAX = 58 };

struct incarnation {
    uint64_t count;
    char key[];
};

void store_init(struct store *s)
{
    *s = (struct store){ .tables = xcalloc(kind_count(), sizeof *s->tables),
                         .rv = FIRST_RV,
                         .first = FIRST_RV + 1 };
}

static bool is_event(const struct kind *k)
{
    return str_eq(k->kind, "Event");
}

/* The key of a counter of a kind, a purpose and an object. Owned by the caller. */
static char *counter_key(const struct kind *k, const char *what, const char *key)
{
    return xasprintf("%s %s/%s %s", what, k->group, k->plural, key);
}

static void commit_clear(struct api_commit *c)
{
    json_decref(c->before);
    json_decref(c->after);
    *c = (struct api_commit){ 0 };
}

static struct entry *record_new(const char *key)
{
    struct entry *r = xcalloc(1, sizeof *r + strlen(key) + 1);
    strcpy(r->key, key);
    return r;
}

static void record_free(struct entry *r)
{
    json_decref(r->object);
    free(r);
}

static void table_clear(struct kind_store *t)
{
    for (size_t i = 0; i < t->len; i++)
        record_free(t->entries[i]);
    free(t->entries);
}

static void forget_view(struct store *s)
{
    if (s->seen.table)
        table_clear(s->seen.table);
    free(s->seen.table);
    s->seen = (struct store_view){ 0 };
}

void store_clear(struct store *s)
{
    forget_view(s);
    for (size_t k = 0; k < kind_count(); k++)
        table_clear(&s->tables[k]);
    free(s->tables);
    for (size_t i = 0; i < s->cap; i++)
        commit_clear(&s->commits[i]);
    free(s->commits);
    share_clear(&s->parts);
    map_clear_with(&s->users, free);
    map_clear_with(&s->incarnations, free);
    *s = (struct store){ 0 };
}

bool store_key(const char *ns, const char *name, char ret[static STORE_KEY_MAX])
{
    size_t ns_len = ns ? strlen(ns) : 0, name_len = strlen(name);
    if (ns_len + name_len + 2 > STORE_KEY_MAX)
        return false;
    if (ns_len) {
        memcpy(ret, ns, ns_len);
        ret[ns_len++] = '/';
    }
    memcpy(ret + ns_len, name, name_len + 1);
    return true;
}

const struct kind_store *store_of_kind(const struct store *s, const struct kind *k)
{
    return &s->tables[kind_index(k)];
}

size_t kind_store_find(const struct kind_store *t, const char *key)
{
    size_t low = 0, high = t->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(t->entries[middle]->key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct kind_store *t, size_t place, const char *key)
{
    return place < t->len && str_eq(t->entries[place]->key, key);
}

const struct entry *store_get(const struct store *s, const struct kind *k, const char *ns,
                              const char *name)
{
    char key[STORE_KEY_MAX];
    if (!store_key(ns, name, key))
        return NULL;
    const struct kind_store *t = store_of_kind(s, k);
    size_t place = kind_store_find(t, key);
    return is_at(t, place, key) ? t->entries[place] : NULL;
}

/* ---- names that are made here */

/* Increments and returns the counter of a kind, a purpose and a key. */
static uint64_t count_one(struct store *s, const struct kind *k, const char *what, const char *key)
{
    CLEANUP_FREE char *full = counter_key(k, what, key);
    return ++MAP_MAKE(struct incarnation, key, &s->incarnations, full)->count;
}

/* FNV hashes of short texts have similar high bits; this mixes them. */
static uint64_t spread(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_of(const struct kind *k, const char *key, uint64_t count)
{
    CLEANUP_FREE char *text = xasprintf("%s/%s/%s/%" PRIu64, k->group, k->plural, key, count);
    return spread(str_hash(text, strlen(text)));
}

void store_new_uid(struct store *s, const struct kind *k, const char *key,
                   char ret[static STORE_UID_MAX])
{
    /* Each Event has another name, so that counts of theirs would only gather. */
    uint64_t count = is_event(k) ? s->rv : count_one(s, k, "uid", key);
    uint64_t a = hash_of(k, key, count), b = spread(a);
    snprintf(ret, STORE_UID_MAX, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned) (a >> 32),
             (unsigned) (a >> 16 & 0xffff), (unsigned) (a & 0xfff),
             (unsigned) (b >> 48 & 0x3fff) | 0x8000, b & UINT64_C(0xffffffffffff));
}

char *store_generate_name(struct store *s, const struct kind *k, const char *ns, const char *base)
{
    CLEANUP_FREE char *cut = xstrndup(base, GENERATED_BASE_MAX);
    char key[STORE_KEY_MAX];
    store_key(ns, cut, key);
    for (;;) {
        uint64_t h = hash_of(k, key, count_one(s, k, "name", key));
        char suffix[SUFFIX_LEN + 1] = "";
        for (size_t i = 0; i < SUFFIX_LEN; i++, h /= sizeof suffix_letters - 1)
            suffix[i] = suffix_letters[h % (sizeof suffix_letters - 1)];
        char *name = xasprintf("%s%s", cut, suffix);
        if (!store_get(s, k, ns, name))
            return name;
        free(name);
    }
}

static const char *intern_user(struct store *s, const char *user)
{
    return map_make(&s->users, user, 0, 0);
}

/* ---- tables */

static void table_insert(struct kind_store *t, size_t place, struct entry *r)
{
    if (t->len == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->entries = xreallocarray(t->entries, t->cap, sizeof *t->entries);
    }
    memmove(&t->entries[place + 1], &t->entries[place], (t->len - place) * sizeof *t->entries);
    t->entries[place] = r;
    t->len++;
}

static void table_remove(struct kind_store *t, size_t place)
{
    record_free(t->entries[place]);
    t->len--;
    memmove(&t->entries[place], &t->entries[place + 1], (t->len - place) * sizeof *t->entries);
}

/* Sets the object of a key (NULL: removes it) and returns the previous one: a new reference or
 * NULL. */
static json_t *table_set(struct kind_store *t, const char *key, json_t *object)
{
    size_t place = kind_store_find(t, key);
    bool there = is_at(t, place, key);
    json_t *before = there ? json_incref(t->entries[place]->object) : NULL;
    if (there && !object)
        table_remove(t, place);
    if (!object)
        return before;
    if (!there)
        table_insert(t, place, record_new(key));
    json_decref(t->entries[place]->object);
    t->entries[place]->object = json_incref(object);
    return before;
}

/* ---- history */

/* How many commits may be kept: enough for a list of all objects, however slow, also while they
 * become more. Clients list few Events, of which a small cluster has the most. */
static size_t history_max(const struct store *s)
{
    return 2 * s->objects > API_HISTORY ? 2 * s->objects : API_HISTORY;
}

/* The slot of the next commit. The ring doubles as needed; what is more than may be kept goes. */
static struct api_commit *next_slot(struct store *s)
{
    size_t kept = s->rv + 1 - s->first, most = history_max(s);
    if (kept >= most) {
        store_compact(s, s->first + kept - most);
    } else if (kept == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 256;
        struct api_commit *grown = xcalloc(cap, sizeof *grown);
        for (uint64_t rv = s->first; rv <= s->rv; rv++)
            /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): without room there is no commit. */
            grown[rv % cap] = s->commits[rv % s->cap];
        free(s->commits);
        s->commits = grown;
        s->cap = cap;
    }
    return &s->commits[(s->rv + 1) % s->cap];
}

const struct api_commit *store_commit(struct store *s, const struct store_write *w,
                                      json_t *after_steal)
{
    struct api_commit *c = next_slot(s);
    s->rv++;
    if (after_steal) {
        char rv[24];
        snprintf(rv, sizeof rv, "%" PRIu64, s->rv);
        json_object_set_new(json_object_get(after_steal, "metadata"), "resourceVersion",
                            json_string(rv));
    }
    char key[STORE_KEY_MAX];
    store_key(w->ns, w->name, key);
    const struct entry *held = s->shares ? store_get(s, w->kind, w->ns, w->name) : NULL;
    if (s->shares && after_steal)
        share_parts(&s->parts, held ? held->object : NULL, after_steal);
    json_t *before = table_set(&s->tables[kind_index(w->kind)], key, after_steal);
    if (!is_event(w->kind))
        s->objects = s->objects + (after_steal != NULL) - (before != NULL);
    *c = (struct api_commit){ .rv = s->rv,
                              .kind = w->kind,
                              .before = before,
                              .after = after_steal,
                              .user = intern_user(s, w->user),
                              .verb = w->verb,
                              .subresource = w->subresource };
    return c;
}

const struct api_commit *store_commit_at(const struct store *s, uint64_t rv)
{
    return rv >= s->first && rv <= s->rv ? &s->commits[rv % s->cap] : NULL;
}

bool store_knows_since(const struct store *s, uint64_t rv)
{
    return rv + 1 >= s->first;
}

/* Forgets how often an object was created whose name was made here, if it is gone: another one
 * hardly ever gets the name. */
static void forget_made_name(struct store *s, const struct api_commit *c)
{
    if (c->after || !json_at(c->before, "metadata.generateName"))
        return;
    char key[STORE_KEY_MAX];
    const char *ns = object_namespace(c->before), *name = object_name(c->before);
    store_key(ns, name, key);
    CLEANUP_FREE char *full = counter_key(c->kind, "uid", key);
    if (!store_get(s, c->kind, ns, name))
        free(map_remove(&s->incarnations, full));
}

void store_compact(struct store *s, uint64_t rv)
{
    for (; s->first <= rv && s->first <= s->rv; s->first++) {
        struct api_commit *c = &s->commits[s->first % s->cap];
        forget_made_name(s, c);
        commit_clear(c);
    }
    if (s->seen.table && !store_knows_since(s, s->seen.rv))
        forget_view(s);
}

bool store_changed_since(const struct store *s, const struct kind *k, uint64_t rv)
{
    uint64_t at = s->rv;
    while (at > rv && store_commit_at(s, at)->kind != k)
        at--;
    return at > rv;
}

const struct kind_store *store_at(struct store *s, const struct kind *k, uint64_t rv)
{
    if (s->seen.table && s->seen.kind == k && s->seen.rv == rv)
        return s->seen.table;
    forget_view(s);
    const struct kind_store *now = store_of_kind(s, k);
    struct kind_store *t = xcalloc(1, sizeof *t);
    *t = (struct kind_store){ .entries = xcalloc(now->len + 1, sizeof *t->entries),
                              .cap = now->len + 1 };
    for (size_t i = 0; i < now->len; i++) {
        struct entry *r = t->entries[t->len++] = record_new(now->entries[i]->key);
        r->object = json_incref(now->entries[i]->object);
    }
    for (uint64_t at = s->rv; at > rv; at--) {
        const struct api_commit *c = store_commit_at(s, at);
        if (c->kind != k)
            continue;
        const json_t *object = c->before ? c->before : c->after;
        char key[STORE_KEY_MAX];
        store_key(object_namespace(object), object_name(object), key);
        json_decref(table_set(t, key, c->before));
    }
    s->seen = (struct store_view){ .table = t, .kind = k, .rv = rv };
    return t;
}
