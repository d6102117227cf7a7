#include "reconcilers/model/plugin_settings.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

#define SHARED(section, more)                                                                      \
    "sharing: {" section ": {" more "resources: [{name: nvidia.com/gpu, replicas: 4}]}}"

static const struct share_row {
    const char *name, *text, *resource;
    struct plugin_share want;
} share_rows[] = {
    { "share: no configuration", NULL, "nvidia.com/gpu", { SHARING_NONE, 1, false } },
    { "share: nothing is said", "version: v1", "nvidia.com/gpu", { SHARING_NONE, 1, false } },
    { "share: time slicing",
      SHARED("timeSlicing", ""),
      "nvidia.com/gpu",
      { SHARING_TIME_SLICING, 4, false } },
    { "share: MPS", SHARED("mps", ""), "nvidia.com/gpu", { SHARING_MPS, 4, false } },
    { "share: of another resource",
      SHARED("timeSlicing", ""),
      "nvidia.com/mig-1g.5gb",
      { SHARING_NONE, 1, false } },
    { "share: renamed",
      SHARED("timeSlicing", "renameByDefault: true, "),
      "nvidia.com/gpu",
      { SHARING_TIME_SLICING, 4, true } },
    { "share: a name of one's own, which the plugin ignores",
      "sharing: {mps: {resources: [{name: nvidia.com/gpu, rename: nvidia.com/some, replicas: 2}]}}",
      "nvidia.com/gpu",
      { SHARING_MPS, 2, false } },
    { "share: one for each",
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}",
      "nvidia.com/gpu",
      { SHARING_NONE, 1, false } },
    { "share: too many for each",
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 9999999999}]}}",
      "nvidia.com/gpu",
      { SHARING_NONE, 1, false } },
    { "share: no number",
      "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: many}, 7]}}",
      "nvidia.com/gpu",
      { SHARING_NONE, 1, false } },
    { "share: no YAML", "{", "nvidia.com/gpu", { SHARING_NONE, 1, false } },
    { "share: a list", "[sharing]", "nvidia.com/gpu", { SHARING_NONE, 1, false } },
};

static json_t *inputs_with(const char *text, const char *strategy)
{
    json_t *inputs = json_pack("{s:{s:s*}}", "devicePlugin", "migStrategy", strategy);
    if (text)
        json_set_at(inputs, "devicePlugin.config.text", json_string(text));
    return inputs;
}

static void check_share(void **state)
{
    const struct share_row *row = *state;
    CLEANUP_JSON json_t *inputs = inputs_with(row->text, NULL);
    CLEANUP_JSON json_t *settings = plugin_settings_of(inputs);
    struct plugin_share share = plugin_share_of(settings, row->resource);
    assert_int_equal(share.how, row->want.how);
    assert_int_equal(share.replicas, row->want.replicas);
    assert_int_equal(share.renamed, row->want.renamed);
}

static const struct strategy_row {
    const char *name, *policy, *text, *want;
} strategy_rows[] = {
    { "strategy: of the policy", "mixed", NULL, "mixed" },
    { "strategy: the policy's counts first", "single", "flags: {migStrategy: mixed}", "single" },
    { "strategy: of the configuration", "none", "flags: {migStrategy: single}", "single" },
    { "strategy: of neither", "none", "version: v1", "none" },
    { "strategy: an unknown one", "none", "flags: {migStrategy: odd}", "none" },
    { "strategy: there is no plugin", NULL, NULL, "none" },
};

static void check_strategy(void **state)
{
    const struct strategy_row *row = *state;
    CLEANUP_JSON json_t *inputs = inputs_with(row->text, row->policy);
    CLEANUP_JSON json_t *settings = plugin_settings_of(inputs);
    assert_string_equal(plugin_mig_strategy(inputs, settings), row->want);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_share, share_rows);
    SUITE_ROWS(&s, check_strategy, strategy_rows);
    return suite_run(&s, "plugin_settings");
}
