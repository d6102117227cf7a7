#include "sim/api/access.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "sim/api/builtin.h"

#define ACCOUNT "system:serviceaccount:"

struct access {
    json_t *admins;   /* users */
    json_t *roles;    /* Role and ClusterRole objects */
    json_t *bindings; /* RoleBinding and ClusterRoleBinding objects */
    json_t *denials;  /* {verb, resource} */
};

struct access *access_new(void)
{
    struct access *a = xcalloc(1, sizeof *a);
    *a = (struct access){ .admins = json_array(),
                          .roles = json_array(),
                          .bindings = json_array(),
                          .denials = json_array() };
    return a;
}

void access_free(struct access *a)
{
    if (!a)
        return;
    json_decref(a->admins);
    json_decref(a->roles);
    json_decref(a->bindings);
    json_decref(a->denials);
    free(a);
}

void access_add_admin(struct access *a, const char *user)
{
    json_array_append_new(a->admins, json_string(user));
}

static const char *const role_kinds[] = { "Role", "ClusterRole", NULL };
static const char *const binding_kinds[] = { "RoleBinding", "ClusterRoleBinding", NULL };

int access_add_objects(struct access *a, const json_t *objects, struct err *e)
{
    JSON_EACH_AT (i, object, objects) {
        const char *kind = json_str_or_empty(object, "kind");
        bool is_role = str_is_any_of(kind, role_kinds),
             is_binding = str_is_any_of(kind, binding_kinds);
        if (!is_role && !is_binding)
            continue;
        if (!*object_name(object))
            return err_set(e, ERR_INVALID, "a %s has no name", kind);
        if (is_binding && !*json_str_or_empty(object, "roleRef.name"))
            return err_set(e, ERR_INVALID, "%s %s names no role", kind, object_name(object));
        json_array_append(is_role ? a->roles : a->bindings, object);
    }
    return 0;
}

int access_add_chart(struct access *a, const char *ns, const char *operand_namespace, struct err *e)
{
    CLEANUP_JSON json_t *roles = builtin_roles(ns, operand_namespace);
    return access_add_objects(a, roles, e);
}

void access_deny(struct access *a, const char *verb, const char *resource)
{
    json_array_append_new(a->denials, json_pack("{s:s, s:s}", "verb", verb, "resource", resource));
}

/* ---- who */

/* Whether a user is in one of the groups that the server assigns. */
static bool is_in_group(const char *user, const char *group)
{
    if (str_eq(group, "system:authenticated"))
        return true;
    if (!str_has_prefix(user, ACCOUNT))
        return false;
    if (str_eq(group, "system:serviceaccounts"))
        return true;
    const char *ns = user + strlen(ACCOUNT);
    CLEANUP_FREE char *own = xasprintf("system:serviceaccounts:%.*s", (int) strcspn(ns, ":"), ns);
    return str_eq(group, own);
}

static bool is_subject(const json_t *subject, const json_t *binding, const char *user)
{
    const char *kind = json_str_or_empty(subject, "kind"),
               *name = json_str_or_empty(subject, "name");
    if (str_eq(kind, "User"))
        return str_eq(name, user);
    if (str_eq(kind, "Group"))
        return is_in_group(user, name);
    const char *ns = json_str_or_empty(subject, "namespace");
    CLEANUP_FREE char *account = xasprintf(ACCOUNT "%s:%s", *ns ? ns : object_namespace(binding),
                                           name);
    return str_eq(account, user);
}

static bool binds(const json_t *binding, const char *user)
{
    JSON_EACH_AT (i, subject, json_object_get(binding, "subjects"))
        if (is_subject(subject, binding, user))
            return true;
    return false;
}

/* ---- what */

static bool lists(const json_t *rule, const char *key, const char *word)
{
    const json_t *list = json_object_get(rule, key);
    return json_has_text(list, "*") || json_has_text(list, word);
}

static bool lists_resource(const json_t *rule, const struct access_request *q)
{
    if (!*q->subresource)
        return lists(rule, "resources", q->resource);
    CLEANUP_FREE char *own = xasprintf("%s/%s", q->resource, q->subresource);
    CLEANUP_FREE char *any = xasprintf("*/%s", q->subresource);
    return lists(rule, "resources", own) || json_has_text(json_object_get(rule, "resources"), any);
}

static bool rule_allows(const json_t *rule, const struct access_request *q)
{
    const json_t *names = json_object_get(rule, "resourceNames");
    return lists(rule, "verbs", q->verb) && lists(rule, "apiGroups", q->group) &&
           lists_resource(rule, q) &&
           (json_array_size(names) == 0 || (*q->name && json_has_text(names, q->name)));
}

static bool role_allows(const json_t *role, const struct access_request *q)
{
    JSON_EACH_AT (i, rule, json_object_get(role, "rules"))
        if (rule_allows(rule, q))
            return true;
    return false;
}

/* The role of a binding; NULL if it does not exist. */
static const json_t *role_of(const struct access *a, const json_t *binding)
{
    const json_t *ref = json_object_get(binding, "roleRef");
    bool everywhere = str_eq(json_key(ref, "kind"), "ClusterRole");
    JSON_EACH_AT (i, role, a->roles)
        if (str_eq(json_key(role, "kind"), json_key(ref, "kind")) &&
            str_eq(object_name(role), json_key(ref, "name")) &&
            (everywhere || str_eq(object_namespace(role), object_namespace(binding))))
            return role;
    return NULL;
}

static bool is_denied(const struct access *a, const struct access_request *q)
{
    if (json_array_size(a->denials) == 0)
        return false;
    CLEANUP_FREE char *what = xasprintf("%s/%s%s%s", q->group, q->resource,
                                        *q->subresource ? "/" : "", q->subresource);
    JSON_EACH_AT (i, denial, a->denials)
        if (str_eq(json_key(denial, "verb"), q->verb) && str_eq(json_key(denial, "resource"), what))
            return true;
    return false;
}

bool access_allows(const struct access *a, const struct access_request *q)
{
    if (json_has_text(a->admins, q->user))
        return true;
    if (is_denied(a, q))
        return false;
    JSON_EACH_AT (i, binding, a->bindings) {
        bool everywhere = str_eq(json_key(binding, "kind"), "ClusterRoleBinding");
        if ((!everywhere && !str_eq(object_namespace(binding), q->ns)) || !binds(binding, q->user))
            continue;
        if (role_allows(role_of(a, binding), q))
            return true;
    }
    return false;
}
