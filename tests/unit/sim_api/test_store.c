#include "sim/api/store.h"

#include <string.h>

#include "base/buf.h"
#include "kube/object.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct kind *pods(void)
{
    return kind_named("pods");
}

/* Commits an object with this label, or (label NULL) its end; returns its version. */
static uint64_t put(struct store *s, const struct kind *k, const char *ns, const char *name,
                    const char *label)
{
    struct store_write w = { .kind = k,
                             .ns = ns,
                             .name = name,
                             .user = "tester",
                             .subresource = "",
                             .verb = label ? API_UPDATE : API_DELETE };
    json_t *object = label ? json_pack("{s:{s:s, s:s, s:{s:s}}}", "metadata", "namespace", ns,
                                       "name", name, "labels", "v", label)
                           : NULL;
    return store_commit(s, &w, object)->rv;
}

/* The keys of a table with what they hold: "ns/name=label …". Owned by the caller. */
static char *text_of(const struct kind_store *t)
{
    struct buf text = BUF_INIT(1 << 20);
    for (size_t i = 0; i < t->len; i++)
        buf_printf(&text, "%s%s=%s", i ? " " : "", t->entries[i]->key,
                   object_label(t->entries[i]->object, "v"));
    return buf_take(&text);
}

static void check_order(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    put(&s, pods(), "b", "a", "1");
    put(&s, pods(), "a", "z", "2");
    put(&s, pods(), "a", "b", "3");
    put(&s, pods(), "a-b", "a", "4");
    put(&s, pods(), "a", "b.c", "5");
    CLEANUP_FREE char *text = text_of(store_of_kind(&s, pods()));
    /* etcd compares whole keys, and "-" comes before "/". */
    assert_string_equal(text, "a-b/a=4 a/b=3 a/b.c=5 a/z=2 b/a=1");
    assert_null(store_get(&s, pods(), "a", "a"));
    assert_null(store_get(&s, kind_named("configmaps"), "a", "b"));
    assert_string_equal(object_label(store_get(&s, pods(), "a", "b.c")->object, "v"), "5");
}

static void check_versions(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    uint64_t first = s.rv;
    assert_int_equal(put(&s, pods(), "a", "p", "1"), first + 1);
    assert_int_equal(put(&s, kind_named("nodes"), "", "n", "1"), first + 2);
    assert_int_equal(put(&s, pods(), "a", "p", "2"), first + 3);
    assert_int_equal(object_rv(store_get(&s, pods(), "a", "p")->object), first + 3);
    assert_int_equal(put(&s, pods(), "a", "p", NULL), first + 4);
    assert_null(store_get(&s, pods(), "a", "p"));

    const struct api_commit *made = store_commit_at(&s, first + 1),
                            *changed = store_commit_at(&s, first + 3),
                            *gone = store_commit_at(&s, first + 4);
    assert_null(made->before);
    assert_string_equal(object_label(changed->before, "v"), "1");
    assert_string_equal(object_label(changed->after, "v"), "2");
    assert_ptr_equal(gone->before, changed->after);
    assert_null(gone->after);
    assert_ptr_equal(made->user, gone->user);
    assert_null(store_commit_at(&s, first));
    assert_null(store_commit_at(&s, first + 5));
}

static void check_uids(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store one, other;
    store_init(&one);
    store_init(&other);
    char a[STORE_UID_MAX], b[STORE_UID_MAX], c[STORE_UID_MAX], d[STORE_UID_MAX];
    store_new_uid(&one, pods(), "a/p", a);
    store_new_uid(&one, pods(), "a/p", b);
    store_new_uid(&one, pods(), "a/q", c);
    assert_string_not_equal(a, b);
    assert_string_not_equal(a, c);
    /* The same incarnation has the same one in every life, whatever else there was. */
    store_new_uid(&other, pods(), "a/q", d);
    assert_string_equal(c, d);
    store_new_uid(&other, pods(), "a/p", d);
    assert_string_equal(a, d);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
}

static void check_generated_names(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    CLEANUP_FREE char *a = store_generate_name(&s, pods(), "ns", "driver-");
    CLEANUP_FREE char *b = store_generate_name(&s, pods(), "ns", "driver-");
    assert_string_not_equal(a, b);
    assert_int_equal(strlen(a), strlen("driver-") + 5);
    CLEANUP_FREE char *c = store_generate_name(
        &s, pods(), "ns", "a-name-that-is-longer-than-fifty-eight-letters-and-must-be-cut-");
    assert_int_equal(strlen(c), 63);
}

static void check_long_keys(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    char name[600];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    char key[STORE_KEY_MAX];
    assert_false(store_key("ns", name, key));
    assert_null(store_get(&s, pods(), "ns", name));
    name[STORE_KEY_MAX - 4] = '\0';
    assert_true(store_key("ns", name, key));
    assert_int_equal(strlen(key), STORE_KEY_MAX - 1);
}

/* Every version of a small life, taken later, is as it was then. */
static void check_snapshots(void **state)
{
    (void) state;
    enum { WRITES = 60 };
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    char *texts[WRITES];
    uint64_t first = s.rv + 1, seed = 7;
    for (int i = 0; i < WRITES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        CLEANUP_FREE char *name = xasprintf("p%d", (int) (seed >> 33) % 7);
        CLEANUP_FREE char *label = xasprintf("%d", i);
        bool there = store_get(&s, pods(), "a", name), goes = there && seed >> 60 < 6;
        put(&s, pods(), "a", name, goes ? NULL : label);
        texts[i] = text_of(store_of_kind(&s, pods()));
        put(&s, kind_named("configmaps"), "a", "other", "x");
    }
    for (int i = 0; i < WRITES; i++) {
        CLEANUP_FREE char *text = text_of(store_at(&s, pods(), first + 2 * (uint64_t) i));
        assert_string_equal(text, texts[i]);
        mem_cleanup_free(&texts[i]);
    }
}

static void check_compaction(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    for (int i = 0; i < 10; i++)
        put(&s, pods(), "a", "p", "x");
    uint64_t middle = s.rv - 5;
    store_compact(&s, middle);
    assert_null(store_commit_at(&s, middle));
    assert_non_null(store_commit_at(&s, middle + 1));
    assert_true(store_knows_since(&s, middle));
    assert_false(store_knows_since(&s, middle - 1));
    store_compact(&s, s.rv + 100);
    assert_true(store_knows_since(&s, s.rv));
    assert_false(store_knows_since(&s, s.rv - 1));
    uint64_t rv = put(&s, pods(), "a", "p", "y");
    assert_int_equal(store_commit_at(&s, rv)->rv, rv);
}

static void check_history_is_bounded(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    uint64_t first = s.rv;
    for (int i = 0; i < API_HISTORY; i++)
        put(&s, pods(), "a", "p", "x");
    assert_true(store_knows_since(&s, first));
    uint64_t rv = put(&s, pods(), "a", "p", "x");
    assert_false(store_knows_since(&s, first));
    assert_true(store_knows_since(&s, first + 1));
    for (uint64_t at = first + 2; at <= rv; at++)
        assert_int_equal(store_commit_at(&s, at)->rv, at);
}

/* Creates, or (label NULL) deletes, that many objects, each with a name of its own. */
static void put_many(struct store *s, const struct kind *k, int count, const char *label)
{
    for (int i = 0; i < count; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i);
        put(s, k, "a", name, label);
    }
}

/* So that a list of all objects, page after page, takes less time than history lasts. */
static void check_history_is_twice_as_long_as_there_are_objects(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    uint64_t first = s.rv;
    put_many(&s, pods(), API_HISTORY, "x");
    put_many(&s, pods(), API_HISTORY, "y");
    assert_true(store_knows_since(&s, first));
    put(&s, pods(), "a", "p0", "z");
    assert_false(store_knows_since(&s, first));
    assert_true(store_knows_since(&s, first + 1));
    for (uint64_t at = first + 2; at <= s.rv; at++)
        assert_int_equal(store_commit_at(&s, at)->rv, at);
    put_many(&s, pods(), API_HISTORY, NULL);
    put(&s, pods(), "a", "p0", "z");
    assert_false(store_knows_since(&s, s.rv - API_HISTORY - 1));
    assert_true(store_knows_since(&s, s.rv - API_HISTORY));
}

/* The Events of an hour would make the history of a small cluster long. */
static void check_events_make_no_history(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    uint64_t first = s.rv;
    put_many(&s, kind_of("v1", "Event"), API_HISTORY + 1, "x");
    assert_false(store_knows_since(&s, first));
    assert_int_equal(s.objects, 0);
}

/* A pod with a new name comes and goes; it has a generateName, or its name was given. */
static void come_and_go(struct store *s, bool made)
{
    CLEANUP_FREE char *name = store_generate_name(s, pods(), "a", "job-");
    CLEANUP_FREE char *key = xasprintf("a/%s", name);
    char uid[STORE_UID_MAX];
    store_new_uid(s, pods(), key, uid);
    struct store_write w = {
        .kind = pods(), .ns = "a", .name = name, .user = "u", .subresource = ""
    };
    store_commit(s, &w,
                 json_pack("{s:{s:s, s:s, s:s*}}", "metadata", "namespace", "a", "name", name,
                           "generateName", made ? "job-" : NULL));
    w.verb = API_DELETE;
    store_commit(s, &w, NULL);
}

static void check_made_names_are_forgotten(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    for (int i = 0; i < 10; i++)
        come_and_go(&s, true);
    assert_int_equal(s.incarnations.len, 1 + 10); /* of names that begin with job-; and of each */
    store_compact(&s, s.rv - 2);
    assert_int_equal(s.incarnations.len, 1 + 1);
    come_and_go(&s, false);
    store_compact(&s, s.rv);
    assert_int_equal(s.incarnations.len, 1 + 1); /* of the name that was given */
}

static void check_pages_share_an_older_version(void **state)
{
    (void) state;
    CLEANUP(store_clear) struct store s;
    store_init(&s);
    uint64_t first = put(&s, pods(), "a", "p", "x"), second = put(&s, pods(), "a", "p", "y");
    const struct kind_store *page = store_at(&s, pods(), first);
    assert_ptr_equal(store_at(&s, pods(), first), page);
    put(&s, pods(), "a", "p", "z");
    assert_ptr_equal(store_at(&s, pods(), first), page);
    store_compact(&s, second);
    assert_null(s.seen.table);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "objects stand in the order of etcd's keys", check_order, NULL);
    suite_add(&s, "one counter of versions, and history without gaps", check_versions, NULL);
    suite_add(&s, "a uid belongs to an incarnation", check_uids, NULL);
    suite_add(&s, "generated names differ and are short enough", check_generated_names, NULL);
    suite_add(&s, "a key that is too long names nothing", check_long_keys, NULL);
    suite_add(&s, "every older version can be seen again", check_snapshots, NULL);
    suite_add(&s, "what is compacted is forgotten", check_compaction, NULL);
    suite_add(&s, "history is bounded", check_history_is_bounded, NULL);
    suite_add(&s, "history is twice as long as there are objects",
              check_history_is_twice_as_long_as_there_are_objects, NULL);
    suite_add(&s, "Events make no history", check_events_make_no_history, NULL);
    suite_add(&s, "names that are made are forgotten with history", check_made_names_are_forgotten,
              NULL);
    suite_add(&s, "pages share an older version", check_pages_share_an_older_version, NULL);
    return suite_run(&s, "sim_api/store");
}
