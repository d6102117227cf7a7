/* How the values of the API merge, by their place in the object: x-kubernetes-list-type,
 * x-kubernetes-map-type and patchStrategy of the schemas. scripts/embed-types generates the tables
 * of Kubernetes' own kinds from sim/api/kubernetes.json; merge_schema_new() makes those of custom
 * kinds. */
#ifndef OSTLER_SIM_API_MERGE_TYPE_H
#define OSTLER_SIM_API_MERGE_TYPE_H

#include <jansson.h>
#include <stdbool.h>

struct kind;

enum merge_how {
    /* an object with named fields, merged field by field; a scalar or list without a row of its own
     * is replaced as a whole */
    MERGE_FIELDS,
    MERGE_MAP,    /* an object with free keys, merged key by key; it can be owned beside its keys */
    MERGE_ATOMIC, /* an object or list that is replaced as a whole */
    MERGE_SET,    /* a list of scalars, merged by value */
    MERGE_LIST,   /* a list of objects, merged by their keys */
    /* without a schema: objects merge key by key, lists are replaced, all the way down */
    MERGE_FREE,
    /* a scalar; rows are needed only for those that the server's own type always has */
    MERGE_SCALAR,
    /* replaced as a whole and never owned: identity of the object, and fields of the server */
    MERGE_UNOWNED,
};

/* One of the fields that tell the items of a list apart. */
struct merge_key {
    const char *name;     /* NULL: no more keys */
    const char *fallback; /* its default; NULL: none */
};

enum { MERGE_KEYS_MAX = 2 };

struct merge_type {
    const char *name; /* of the field; NULL ends an array of fields */
    enum merge_how how;
    /* the server's type always has it: absent means empty */
    bool always;
    struct merge_key keys[MERGE_KEYS_MAX + 1]; /* of MERGE_LIST, in order of their names */
    bool whole_items;                          /* of MERGE_LIST: an item is replaced as a whole */
    /* patchMergeKey of strategic merge; "": merged by value; NULL: replaced */
    const char *patch_key;
    /* special fields of the object or of the list's items; NULL: none */
    const struct merge_type *fields;
};

/* A kind as a whole. */
struct merge_root {
    const char *kind;  /* NULL: of a custom kind */
    const char *group; /* "": core */
    struct merge_type type;
    /* fields that a write of the object itself neither sets nor owns; NULL-terminated */
    const char *reset[2];
    /* the same for a write of its status subresource: "spec" or "metadata.labels" */
    const char *status_reset[4];
};

/* The generated tables, and the rows of an object's own metadata, which are the same for all kinds.
 */
extern const struct merge_root merge_roots[];
extern const size_t merge_roots_len;
extern const struct merge_type merge_root_metadata[];

/* Of one of Kubernetes' own kinds; NULL for others. */
const struct merge_root *merge_root_of(const struct kind *k);
/* The type of an object's field. Never NULL. */
const struct merge_type *merge_type_field(const struct merge_type *t, const char *name);
/* The type of a list's items. */
struct merge_type merge_type_item(const struct merge_type *t);
/* Whether a value at this place is owned and replaced as a whole. */
bool merge_type_is_leaf(const struct merge_type *t, const json_t *value);

/* From one version of a definition: its schema, and whether it has the subresource status. Borrows
 * texts of `version`. Owned by the caller. */
struct merge_root *merge_schema_new(const json_t *version);
/* Frees it. NULL has no effect. */
void merge_schema_free(struct merge_root *root);

#endif
