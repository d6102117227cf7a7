#include "kube/resource.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kube/url.h"
#include "tests/unit/support/suite.h"

static const struct path_row {
    const char *name;
    enum resource_id id;
    const char *ns, *object, *subresource;
    const char *want;
} paths[] = {
    { "a collection of the core group", RESOURCE_NODE, NULL, NULL, NULL, "/api/v1/nodes" },
    { "an object of the core group", RESOURCE_NODE, NULL, "gpu-1", NULL, "/api/v1/nodes/gpu-1" },
    { "a namespace is left out of a cluster-scoped path", RESOURCE_NODE, "ns", "gpu-1", NULL,
      "/api/v1/nodes/gpu-1" },
    { "all namespaces of a namespaced resource", RESOURCE_POD, NULL, NULL, NULL, "/api/v1/pods" },
    { "one namespace", RESOURCE_POD, "ostler-operands", NULL, NULL,
      "/api/v1/namespaces/ostler-operands/pods" },
    { "an object of a named group", RESOURCE_DAEMONSET, "ns", "driver-abc", NULL,
      "/apis/apps/v1/namespaces/ns/daemonsets/driver-abc" },
    { "the status of a custom resource", RESOURCE_POLICY, NULL, "default", "status",
      "/apis/ostler.dev/v1alpha1/gpuclusterpolicies/default/status" },
    { "a name with a dot", RESOURCE_NODE, NULL, "gpu-1.example.com", NULL,
      "/api/v1/nodes/gpu-1.example.com" },
    { "a hostile name stays within its segment", RESOURCE_NODE, NULL, "../../x?y#z", NULL,
      "/api/v1/nodes/..%2F..%2Fx%3Fy%23z" },
    { "a hostile namespace stays within its segment", RESOURCE_POD, "a/b", "c", NULL,
      "/api/v1/namespaces/a%2Fb/pods/c" },
};

static void check_path(void **state)
{
    const struct path_row *row = *state;
    CLEANUP_FREE char *path = resource_path(row->id, row->ns, row->object, row->subresource);
    assert_string_equal(path, row->want);
}

static void endless_names_make_endless_paths(void **state)
{
    (void) state;
    static char name[200001];
    memset(name, '/', sizeof name - 1);
    CLEANUP_FREE char *path = resource_path(RESOURCE_NODE, NULL, name, NULL);
    assert_int_equal(strlen(path), strlen("/api/v1/nodes/") + 3 * strlen(name));
}

static void api_versions_are_as_objects_write_them(void **state)
{
    (void) state;
    assert_string_equal(resource_api_version(RESOURCE_NODE), "v1");
    assert_string_equal(resource_api_version(RESOURCE_DAEMONSET), "apps/v1");
    assert_string_equal(resource_api_version(RESOURCE_POLICY), "ostler.dev/v1alpha1");
}

static void secrets_are_never_read(void **state)
{
    (void) state;
    for (int i = 0; i < RESOURCE_COUNT; i++)
        assert_string_not_equal(resource_get((enum resource_id) i)->plural, "secrets");
}

static void only_unreserved_characters_stand_bare_in_a_url(void **state)
{
    (void) state;
    for (int c = 1; c < 256; c++) {
        CLEANUP_BUF struct buf b = BUF_INIT(8);
        url_escape(&b, (const char[]){ (char) c, '\0' });
        bool bare = c < 0x80 &&
                    strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c);
        if (bare) {
            assert_int_equal(b.len, 1);
        } else {
            assert_int_equal(b.len, 3);
            assert_int_equal(strtol(b.data + 1, NULL, 16), c);
        }
    }
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_path, paths);
    suite_add(&s, "a name without end makes a path without end, not a crash",
              endless_names_make_endless_paths, NULL);
    suite_add(&s, "apiVersions are as objects write them", api_versions_are_as_objects_write_them,
              NULL);
    suite_add(&s, "there is no row for secrets", secrets_are_never_read, NULL);
    suite_add(&s, "only unreserved characters stand bare in a URL",
              only_unreserved_characters_stand_bare_in_a_url, NULL);
    return suite_run(&s, "resource");
}
