/* The fields of the policy as the schema of its definition has them, each with a way to put a value
 * there. */
#ifndef OSTLER_TESTS_SWEEP_SWEEP_ACTO_FIELDS_H
#define OSTLER_TESTS_SWEEP_SWEEP_ACTO_FIELDS_H

#include <jansson.h>
#include <stddef.h>

/* How a field hangs on the one above it. */
enum acto_step { ACTO_ROOT, ACTO_MEMBER, ACTO_ITEM, ACTO_ENTRY };

struct acto_field {
    char *path;                     /* "spec.pools[].driver.env[].name", "spec.nodes.labels{}" */
    const json_t *schema;           /* borrowed from the definition */
    const struct acto_field *above; /* NULL: the spec itself */
    enum acto_step step;
    const char *name; /* of a member */
};

/* All of them: the spec, its members, items of lists and entries of maps, in the order of the
 * schema. */
struct acto_fields {
    struct acto_field **items;
    size_t len;
};

/* `crds`: an array with the definition of the policy in it, which must outlive the fields. */
void acto_fields_read(const json_t *crds, struct acto_fields *ret);
void acto_fields_clear(struct acto_fields *f);

/* A spec like `base` with this value in the field. Around it stands what the schema requires. New
 * reference. */
json_t *acto_spec(const struct acto_field *f, const json_t *base, const json_t *value);
/* A value that the schema accepts at this field; another one for each `n`. New reference. */
json_t *acto_sample(const struct acto_field *f, size_t n);

#endif
