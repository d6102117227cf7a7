/* The variables of the manifests and those that a policy cannot set side by side. */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/manifests/embedded.h"
#include "reconcilers/model/operand.h"
#include "tests/unit/support/suite.h"

/* Which containers take the `env` of an operand. */
static const struct row {
    const char *name;
    enum operand operand;
    const char *folder;
    const char *containers[2];
    /* what no manifest sets, and would win over what one does; NULL: nothing */
    const char *others[2];
    const char *open[2]; /* what a policy may set otherwise than the manifest; NULL: nothing */
} rows[] = {
    { "driver",
      OPERAND_DRIVER,
      "driver/",
      { "driver", "install" },
      { NULL },
      { "GPU_DIRECT_RDMA_ENABLED", "USE_HOST_MOFED" } },
    { "toolkit", OPERAND_TOOLKIT, "toolkit/", { "install" }, { "TOOLKIT_INSTALL_DIR" }, { NULL } },
    { "devicePlugin",
      OPERAND_DEVICE_PLUGIN,
      "device-plugin/",
      { "device-plugin" },
      { NULL },
      { "GDRCOPY_ENABLED" } },
    { "exporter",
      OPERAND_EXPORTER,
      "exporter/",
      { "exporter" },
      { NULL },
      { "KUBERNETES_VIRTUAL_GPUS", "NVIDIA_RESOURCE_NAMES" } },
};

/* Puts the names of the container's variables into a set. */
static void collect(const struct row *row, const json_t *container, json_t *set)
{
    size_t i;
    json_t *variable;
    const char *name = json_key(container, "name");
    if (!str_eq(name, row->containers[0]) && !str_eq(name, row->containers[1]))
        return;
    json_array_foreach (json_object_get(container, "env"), i, variable)
        json_object_set_new(set, json_key(variable, "name"), json_true());
}

static void collect_file(const struct row *row, const struct embedded *file, json_t *set)
{
    static const char *const lists[] = { "initContainers", "containers" };
    CLEANUP_JSON json_t *documents = yaml_parse(file->text, strlen(file->text), NULL, NULL);
    const json_t *pod = json_at(json_array_get(documents, 0), "spec.template.spec");
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        size_t i;
        json_t *container;
        json_array_foreach (json_object_get(pod, lists[l]), i, container)
            collect(row, container, set);
    }
}

static void check_variables(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *set = json_object();
    CLEANUP_JSON json_t *listed = json_object();
    for (size_t i = 0; i < embedded_files_len; i++)
        if (str_has_prefix(embedded_files[i].name, row->folder))
            collect_file(row, &embedded_files[i], set);
    for (size_t i = 0; i < ARRAY_LEN(row->others) && row->others[i]; i++)
        json_object_set_new(set, row->others[i], json_true());
    for (size_t i = 0; i < ARRAY_LEN(row->open) && row->open[i]; i++)
        assert_int_equal(json_object_del(set, row->open[i]), 0);
    for (const char *const *v = operand_get(row->operand)->variables; *v; v++)
        json_object_set_new(listed, *v, json_true());
    CLEANUP_FREE char *got = json_canonical(set);
    CLEANUP_FREE char *want = json_canonical(listed);
    assert_string_equal(got, want);
}

static void check_no_variables(void **state)
{
    (void) state;
    assert_null(operand_get(OPERAND_VALIDATION)->variables);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_variables, rows);
    suite_add(&s, "validation has none", check_no_variables, NULL);
    return suite_run(&s, "variables that Ostler sets");
}
