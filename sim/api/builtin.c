#include "sim/api/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "sim/api/api.h"

enum { ROLES_MAX = 1 << 20 };

#define OSTLER_GROUP "ostler.dev"

/* Built-in documents; the program aborts if they are invalid. New reference. */
static json_t *builtin_parse(const char *text)
{
    CLEANUP_ERR struct err e = { 0 };
    json_t *documents = yaml_parse(text, strlen(text), NULL, &e);
    if (documents)
        return documents;
    fprintf(stderr, "sim: built-in YAML: %s\n", err_msg(&e));
    abort();
}

json_t *builtin_crds(void)
{
    CLEANUP_JSON json_t *all = builtin_parse(builtin_definitions_text);
    json_t *own = json_array();
    JSON_EACH_AT (i, definition, all)
        if (str_eq(json_str(definition, "spec.group"), OSTLER_GROUP))
            json_array_append(own, definition);
    return own;
}

json_t *builtin_crd_of(const char *plural)
{
    CLEANUP_JSON json_t *all = builtin_parse(builtin_definitions_text);
    return json_incref(json_find(all, "spec.names.plural", plural));
}

/* The text with every `name` replaced by `value`. Owned by the caller. */
static char *replaced(const char *text, const char *name, const char *value)
{
    struct buf b = BUF_INIT(ROLES_MAX);
    for (const char *at; (at = strstr(text, name)); text = at + strlen(name))
        buf_printf(&b, "%.*s%s", (int) (at - text), text, value);
    buf_str(&b, text);
    return buf_take(&b);
}

json_t *builtin_roles(const char *release_namespace, const char *operand_namespace)
{
    CLEANUP_FREE char *half = replaced(builtin_roles_text, "@RELEASE@", release_namespace);
    CLEANUP_FREE char *whole = replaced(half, "@OPERANDS@", operand_namespace);
    return builtin_parse(whole);
}

static int builtin_create(struct api *api, const char *user, const json_t *object, struct err *e)
{
    CLEANUP_REFUSAL struct refusal refusal = { 0 };
    const struct kind *k = kind_of(json_str_or_empty(object, "apiVersion"),
                                   json_str_or_empty(object, "kind"));
    if (k && api_create(api, user, k, object, &refusal) == 0)
        return 0;
    return err_set(e, ERR_INVALID, "cannot create %s %s: %s", json_str_or_empty(object, "kind"),
                   json_str_or_empty(object, "metadata.name"),
                   k ? refusal.message : "there is no such kind here");
}

int builtin_install(struct api *api, const char *user, const char *release_namespace,
                    const char *operand_namespace, struct err *e)
{
    const char *const namespaces[] = { release_namespace, operand_namespace };
    size_t count = str_eq(release_namespace, operand_namespace) ? 1 : ARRAY_LEN(namespaces);
    CLEANUP_JSON json_t *objects = builtin_crds();
    for (size_t i = 0; i < count; i++)
        json_array_insert_new(objects, i,
                              json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind",
                                        "Namespace", "metadata", "name", namespaces[i]));
    JSON_EACH_AT (i, object, objects)
        if (builtin_create(api, user, object, e) < 0)
            return -1;
    return 0;
}
