/* Labels of GPUs, held against what GPU feature discovery documents. */
#include "reconcilers/model/gpu_features.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/plugin_settings.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define GPUS(name, n) .product = name, .gpus = n

static const struct gpu_features nothing = {
    .driver = "",
    .cuda = "",
    .product = "",
    .compute = "",
    .machine = "",
    .slice = "",
    .kinds = "",
    .strategy = "none",
};

static const struct feature_row {
    const char *name;
    struct gpu_features f; /* NULL is as in `nothing` */
    const char *settings;  /* YAML of the plugin's configuration; NULL: none */
    const char *labels;
} feature_rows[] = {
    { "nothing is known", { 0 }, NULL, "{}" },
    { "a driver with three parts",
      { .driver = "580.178.04" },
      NULL,
      "{'nvidia.com/cuda.driver-version.major': '580', 'nvidia.com/cuda.driver-version.minor': "
      "'178', "
      "'nvidia.com/cuda.driver-version.revision': '04', 'nvidia.com/cuda.driver-version.full': "
      "'580.178.04', "
      "'nvidia.com/cuda.driver.major': '580', 'nvidia.com/cuda.driver.minor': '178', "
      "'nvidia.com/cuda.driver.rev': '04'}" },
    { "a driver with two parts",
      { .driver = "550.54" },
      NULL,
      "{'nvidia.com/cuda.driver-version.major': '550', 'nvidia.com/cuda.driver-version.minor': "
      "'54', "
      "'nvidia.com/cuda.driver-version.revision': '', 'nvidia.com/cuda.driver-version.full': "
      "'550.54', "
      "'nvidia.com/cuda.driver.major': '550', 'nvidia.com/cuda.driver.minor': '54', "
      "'nvidia.com/cuda.driver.rev': ''}" },
    { "CUDA",
      { .cuda = "13.0" },
      NULL,
      "{'nvidia.com/cuda.runtime-version.major': '13', 'nvidia.com/cuda.runtime-version.minor': "
      "'0', "
      "'nvidia.com/cuda.runtime-version.full': '13.0', 'nvidia.com/cuda.runtime.major': '13', "
      "'nvidia.com/cuda.runtime.minor': '0'}" },
    { "numbers without a product",
      { .gpus = 8,
        .memory_mib = 81559,
        .compute = "9.0",
        .machine = "DGXH100",
        .kinds = "1g.10gb=7" },
      NULL,
      "{}" },
    { "a product, and how many",
      { GPUS("NVIDIA H100 80GB HBM3", 8) },
      NULL,
      "{'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3', 'nvidia.com/gpu.count': '8', "
      "'nvidia.com/gpu.replicas': '1', "
      "'nvidia.com/gpu.sharing-strategy': 'none'}" },
    { "all of it",
      { GPUS("Tesla T4", 4), .memory_mib = 15360, .compute = "7.5", .machine = "NVIDIA DGX-2H" },
      NULL,
      "{'nvidia.com/gpu.product': 'Tesla-T4', 'nvidia.com/gpu.count': '4', "
      "'nvidia.com/gpu.replicas': '1', "
      "'nvidia.com/gpu.sharing-strategy': 'none', 'nvidia.com/gpu.memory': '15360', "
      "'nvidia.com/gpu.family': 'turing', "
      "'nvidia.com/gpu.compute.major': '7', 'nvidia.com/gpu.compute.minor': '5', "
      "'nvidia.com/gpu.machine': 'NVIDIA-DGX-2H', "
      "'nvidia.com/mig.capable': 'false'}" },
    { "what can be no label",
      { GPUS("-x", 1), .machine = "Standard PC (Q35 + ICH9, 2009)" },
      NULL,
      "{'nvidia.com/gpu.count': '1', 'nvidia.com/gpu.replicas': '1', "
      "'nvidia.com/gpu.sharing-strategy': 'none'}" },

    { "time slicing",
      { GPUS("Tesla T4", 1), .compute = "7.5" },
      "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}}",
      "{'nvidia.com/gpu.product': 'Tesla-T4-SHARED', 'nvidia.com/gpu.count': '1', "
      "'nvidia.com/gpu.replicas': '10', "
      "'nvidia.com/gpu.sharing-strategy': 'time-slicing', 'nvidia.com/gpu.family': 'turing', "
      "'nvidia.com/gpu.compute.major': "
      "'7', 'nvidia.com/gpu.compute.minor': '5', 'nvidia.com/mig.capable': 'false'}" },
    { "time slicing under another name",
      { GPUS("Tesla T4", 1) },
      "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: "
      "10}]}}",
      "{'nvidia.com/gpu.product': 'Tesla-T4', 'nvidia.com/gpu.count': '1', "
      "'nvidia.com/gpu.replicas': '10', "
      "'nvidia.com/gpu.sharing-strategy': 'time-slicing'}" },
    { "MPS",
      { GPUS("Tesla T4", 2) },
      "sharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}",
      "{'nvidia.com/gpu.product': 'Tesla-T4-SHARED', 'nvidia.com/gpu.count': '2', "
      "'nvidia.com/gpu.replicas': '4', "
      "'nvidia.com/gpu.sharing-strategy': 'mps'}" },

    { "MIG single: slices are what is called a GPU",
      { GPUS("A100-SXM4-40GB", 8), .divided = true, .all_divided = true, .strategy = "single",
        .slice = "1g.5gb", .slices = 56, .memory_mib = 40960 },
      NULL,
      "{'nvidia.com/mig.strategy': 'single', 'nvidia.com/mig.capable': 'true', "
      "'nvidia.com/gpu.product': "
      "'A100-SXM4-40GB-MIG-1g.5gb', 'nvidia.com/gpu.count': '56', 'nvidia.com/gpu.replicas': '1', "
      "'nvidia.com/gpu.sharing-strategy': 'none'}" },
    { "MIG single, shared: a slice counts once",
      { GPUS("A100-SXM4-40GB", 8), .divided = true, .strategy = "single", .slice = "1g.5gb",
        .slices = 112 },
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}",
      "{'nvidia.com/mig.strategy': 'single', 'nvidia.com/mig.capable': 'true', "
      "'nvidia.com/gpu.product': "
      "'A100-SXM4-40GB-MIG-1g.5gb-SHARED', 'nvidia.com/gpu.count': '56', "
      "'nvidia.com/gpu.replicas': '2', "
      "'nvidia.com/gpu.sharing-strategy': 'time-slicing'}" },
    { "MIG single, and the slices are unknown",
      { GPUS("A100-SXM4-40GB", 8), .divided = true, .strategy = "single", .slices = 56 },
      NULL,
      "{'nvidia.com/mig.strategy': 'single', 'nvidia.com/mig.capable': 'true'}" },
    { "MIG single, and no GPU is divided",
      { GPUS("A100-SXM4-40GB", 8), .strategy = "single", .slices = 8 },
      NULL,
      "{'nvidia.com/mig.strategy': 'single', 'nvidia.com/gpu.product': 'A100-SXM4-40GB', "
      "'nvidia.com/gpu.count': '8', "
      "'nvidia.com/gpu.replicas': '1', 'nvidia.com/gpu.sharing-strategy': 'none'}" },
    { "MIG mixed: GPUs, and each kind of slice",
      { GPUS("A100-SXM4-40GB", 2), .divided = true, .strategy = "mixed",
        .kinds = "1g.5gb=7,3g.20gb=1" },
      NULL,
      "{'nvidia.com/mig.strategy': 'mixed', 'nvidia.com/mig.capable': 'true', "
      "'nvidia.com/gpu.product': 'A100-SXM4-40GB', "
      "'nvidia.com/gpu.count': '2', 'nvidia.com/gpu.replicas': '1', "
      "'nvidia.com/gpu.sharing-strategy': 'none', "
      "'nvidia.com/mig-1g.5gb.product': 'A100-SXM4-40GB-MIG-1g.5gb', "
      "'nvidia.com/mig-1g.5gb.count': '7', "
      "'nvidia.com/mig-1g.5gb.replicas': '1', 'nvidia.com/mig-1g.5gb.sharing-strategy': 'none', "
      "'nvidia.com/mig-3g.20gb.product': 'A100-SXM4-40GB-MIG-3g.20gb', "
      "'nvidia.com/mig-3g.20gb.count': '1', "
      "'nvidia.com/mig-3g.20gb.replicas': '1', 'nvidia.com/mig-3g.20gb.sharing-strategy': "
      "'none'}" },
    { "MIG mixed: a kind that is shared",
      { GPUS("A100-SXM4-40GB", 1), .divided = true, .all_divided = true, .strategy = "mixed",
        .kinds = "1g.5gb=14" },
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/mig-1g.5gb, replicas: 2}, {name: "
      "nvidia.com/gpu, replicas: 2}]}}",
      "{'nvidia.com/mig.strategy': 'mixed', 'nvidia.com/mig.capable': 'true', "
      "'nvidia.com/gpu.product': 'A100-SXM4-40GB', "
      "'nvidia.com/gpu.count': '1', 'nvidia.com/gpu.replicas': '0', "
      "'nvidia.com/gpu.sharing-strategy': 'none', "
      "'nvidia.com/mig-1g.5gb.product': 'A100-SXM4-40GB-MIG-1g.5gb-SHARED', "
      "'nvidia.com/mig-1g.5gb.count': '7', "
      "'nvidia.com/mig-1g.5gb.replicas': '2', 'nvidia.com/mig-1g.5gb.sharing-strategy': "
      "'time-slicing'}" },
    { "MIG mixed: a kind whose labels the API server would not take",
      { GPUS("A100-SXM4-40GB", 1), .strategy = "mixed", .kinds = "a b!\xc3\xa9=7,1g.5gb=7" },
      NULL,
      "{'nvidia.com/mig.strategy': 'mixed', 'nvidia.com/gpu.product': 'A100-SXM4-40GB', "
      "'nvidia.com/gpu.count': '1', "
      "'nvidia.com/gpu.replicas': '1', 'nvidia.com/gpu.sharing-strategy': 'none', "
      "'nvidia.com/mig-1g.5gb.product': 'A100-SXM4-40GB-MIG-1g.5gb', "
      "'nvidia.com/mig-1g.5gb.count': '7', "
      "'nvidia.com/mig-1g.5gb.replicas': '1', 'nvidia.com/mig-1g.5gb.sharing-strategy': 'none'}" },
    { "MIG mixed: kinds that are none",
      { GPUS("A100-SXM4-40GB", 1), .strategy = "mixed", .kinds = "=7,x,,y=,z=-" },
      NULL,
      "{'nvidia.com/mig.strategy': 'mixed', 'nvidia.com/gpu.product': 'A100-SXM4-40GB', "
      "'nvidia.com/gpu.count': '1', "
      "'nvidia.com/gpu.replicas': '1', 'nvidia.com/gpu.sharing-strategy': 'none'}" },
};

static const char *known(const char *text, const char *unknown)
{
    return text ? text : unknown;
}

static struct gpu_features features_of(const struct feature_row *row)
{
    struct gpu_features f = row->f;
    f.driver = known(f.driver, nothing.driver);
    f.cuda = known(f.cuda, nothing.cuda);
    f.product = known(f.product, nothing.product);
    f.compute = known(f.compute, nothing.compute);
    f.machine = known(f.machine, nothing.machine);
    f.slice = known(f.slice, nothing.slice);
    f.kinds = known(f.kinds, nothing.kinds);
    f.strategy = known(f.strategy, nothing.strategy);
    return f;
}

static void check_features(void **state)
{
    const struct feature_row *row = *state;
    struct gpu_features f = features_of(row);
    CLEANUP_JSON json_t *inputs = row->settings ? json_pack("{s:{s:{s:s}}}", "devicePlugin",
                                                            "config", "text", row->settings)
                                                : json_object();
    CLEANUP_JSON json_t *settings = plugin_settings_of(inputs);
    CLEANUP_JSON json_t *labels = json_object();
    CLEANUP_JSON json_t *want = tree(row->labels);
    f.settings = settings;
    gpu_feature_labels(&f, labels);
    CLEANUP_FREE char *got_text = json_canonical(labels);
    CLEANUP_FREE char *want_text = json_canonical(want);
    assert_string_equal(got_text, want_text);
    const char *key;
    json_t *value;
    json_object_foreach (labels, key, value)
        if (!gpu_feature_is(key))
            fail_msg("%s is not known as one of these labels", key);
}

/* ---- architectures, by compute capability */

static const struct family_row {
    const char *name, *family, *mig_capable;
} family_rows[] = {
    { "3.7", "kepler", "false" },       { "5.2", "maxwell", "false" },
    { "6.1", "pascal", "false" },       { "7.0", "volta", "false" },
    { "7.5", "turing", "false" },       { "8.0", "ampere", "true" },
    { "8.6", "ampere", "false" },       { "8.7", "ampere", "false" },
    { "8.9", "ada-lovelace", "false" }, { "9.0", "hopper", "true" },
    { "10.0", "blackwell", "true" },    { "10.3", "blackwell", "true" },
    { "12.0", "blackwell", NULL },      { "15.0", "undefined", NULL },
    { "2.0", "undefined", NULL },       { "nine", NULL, NULL },
};

static void check_family(void **state)
{
    const struct family_row *row = *state;
    struct gpu_features f = nothing;
    CLEANUP_JSON json_t *labels = json_object();
    f.product = "X";
    f.compute = row->name;
    gpu_feature_labels(&f, labels);
    assert_true(str_eq(json_key(labels, "nvidia.com/gpu.family"), row->family));
    assert_true(str_eq(json_key(labels, "nvidia.com/mig.capable"), row->mig_capable));
}

/* ---- which labels are of these */

static void check_keys(void **state)
{
    (void) state;
    static const char *const others[] = { "nvidia.com/gpu.present",
                                          "nvidia.com/gfd.timestamp",
                                          "nvidia.com/mig.config",
                                          "nvidia.com/mig-1g.5gb",
                                          "nvidia.com/gpu.deploy.operands",
                                          "ostler.dev/driver",
                                          "nvidia.com/device-plugin.config",
                                          "example.com/gpu.count",
                                          "" };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(gpu_feature_is(others[i]));
}

/* A value that is too long for a label is left out, not cut. */
static void check_long(void **state)
{
    (void) state;
    struct gpu_features f = nothing;
    CLEANUP_JSON json_t *labels = json_object();
    f.product = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition";
    f.kinds = "1g.24gb+me.all=4";
    f.strategy = "mixed";
    gpu_feature_labels(&f, labels);
    assert_string_equal(json_key(labels, "nvidia.com/gpu.product"),
                        "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition");
    assert_null(json_key(labels, "nvidia.com/mig-1g.24gb+me.all.product"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_features, feature_rows);
    SUITE_ROWS(&s, check_family, family_rows);
    suite_add(&s, "other labels are none of these", check_keys, NULL);
    suite_add(&s, "what is too long is left out", check_long, NULL);
    return suite_run(&s, "gpu_features");
}
