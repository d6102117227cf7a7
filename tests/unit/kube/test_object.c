#include "kube/object.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static void metadata_is_read(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree(
        "{'metadata':{'name':'a','namespace':'ns','uid':'u','generation':3,'resourceVersion':'17',"
        "'labels':{'ostler.dev/driver':'abc'},'annotations':{'ostler.dev/marks':'[]'}}}");
    assert_string_equal(object_name(o), "a");
    assert_string_equal(object_namespace(o), "ns");
    assert_string_equal(object_uid(o), "u");
    assert_int_equal(object_generation(o), 3);
    assert_int_equal(object_rv(o), 17);
    assert_string_equal(object_label(o, "ostler.dev/driver"), "abc");
    assert_string_equal(object_annotation(o, "ostler.dev/marks"), "[]");
}

static const struct empty_row {
    const char *name;
    const char *text;
} empties[] = {
    { "an empty object has nothing", "{}" },
    { "metadata that is no object has nothing", "{'metadata':[]}" },
    { "members of the wrong type are nothing",
      "{'metadata':{'name':1,'namespace':{},'uid':null,'generation':'3','resourceVersion':17,'"
      "labels':[],'annotations':'x',"
      "'finalizers':'x','ownerReferences':{},'managedFields':[1,{}],'deletionTimestamp':null}}" },
    { "an object that is no object has nothing", "[]" },
};

static void check_empty(void **state)
{
    const struct empty_row *row = *state;
    CLEANUP_JSON json_t *o = tree(row->text);
    assert_string_equal(object_name(o), "");
    assert_string_equal(object_namespace(o), "");
    assert_string_equal(object_uid(o), "");
    assert_int_equal(object_generation(o), 0);
    assert_int_equal(object_rv(o), 0);
    assert_null(object_label(o, "x"));
    assert_null(object_annotation(o, "x"));
    assert_false(object_is_deleting(o));
    assert_false(object_has_finalizer(o, "x"));
    assert_null(object_controller(o));
    assert_null(object_managers_without_foreign_spec(o, "ostler"));
}

static const struct rv_row {
    const char *name;
    const char *text;
    uint64_t want;
} versions[] = {
    { "a version of digits is a number", "123456789", 123456789 },
    { "the largest number", "18446744073709551615", UINT64_MAX },
    { "a version beyond 64 bits has no order", "18446744073709551616", 0 },
    { "zero has no order", "0", 0 },
    { "a leading zero has no order", "012", 0 },
    { "letters have no order", "12a", 0 },
    { "a sign has no order", "-12", 0 },
    { "a space has no order", " 12", 0 },
    { "an empty version has no order", "", 0 },
    { "an absent version has no order", NULL, 0 },
};

static void check_version(void **state)
{
    const struct rv_row *row = *state;
    assert_true(object_rv_parse(row->text) == row->want);
}

static void deletion_and_finalizers(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree("{'metadata':{'deletionTimestamp':'2026-11-20T10:00:00Z','"
                                  "finalizers':['x','ostler.dev/cleanup']}}");
    assert_true(object_is_deleting(o));
    assert_true(object_has_finalizer(o, "ostler.dev/cleanup"));
    assert_false(object_has_finalizer(o, "ostler.dev"));
}

static void controller_is_the_owner_that_says_so(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *o = tree(
        "{'metadata':{'ownerReferences':[{'name':'a'},{'name':'b','controller':false},"
        "{'name':'c','controller':true}]}}");
    assert_string_equal(json_str(object_controller(o), "name"), "c");
}

static const struct foreign_row {
    const char *name;
    const char *entry; /* of managedFields, beside our own */
    bool foreign;
} managers[] = {
    { "only we set the spec", "{}", false },
    { "a user edited the spec",
      "{'manager':'kubectl-edit','operation':'Update','fieldsV1':{'f:spec':{}}}", true },
    { "another controller applied the spec",
      "{'manager':'argocd','operation':'Apply','fieldsV1':{'f:spec':{}}}", true },
    { "another client updated under our name",
      "{'manager':'ostler','operation':'Update','fieldsV1':{'f:spec':{}}}", true },
    { "a controller wrote the status",
      "{'manager':'kube-controller-manager','operation':'Update','subresource':'status',"
      "'fieldsV1':{'f:status':{}}}",
      false },
    { "a user scaled it through a subresource",
      "{'manager':'kubectl','operation':'Update','subresource':'scale','fieldsV1':{'f:spec':{'f:"
      "replicas':{}}}}",
      false },
    { "a user set a label",
      "{'manager':'kubectl-label','operation':'Update','fieldsV1':{'f:metadata':{'f:labels':{}}}}",
      false },
};

static void check_foreign(void **state)
{
    const struct foreign_row *row = *state;
    CLEANUP_JSON json_t *o = tree("{'metadata':{'managedFields':[{'manager':'ostler','operation':'"
                                  "Apply','fieldsV1':{'f:spec':{}}}]}}");
    json_array_append_new(json_at(o, "metadata.managedFields"), tree(row->entry));
    CLEANUP_JSON json_t *kept = object_managers_without_foreign_spec(o, "ostler");
    assert_int_equal(kept != NULL, row->foreign);
    /* What is kept is all but the foreign entry. */
    if (kept) {
        assert_int_equal(json_array_size(kept), 1);
        assert_string_equal(json_str(json_array_get(kept, 0), "operation"), "Apply");
        assert_string_equal(json_str(json_array_get(kept, 0), "manager"), "ostler");
    }
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "metadata is read", metadata_is_read, NULL);
    SUITE_ROWS(&s, check_empty, empties);
    SUITE_ROWS(&s, check_version, versions);
    suite_add(&s, "deletion and finalizers", deletion_and_finalizers, NULL);
    suite_add(&s, "the controller is the owner that says so", controller_is_the_owner_that_says_so,
              NULL);
    SUITE_ROWS(&s, check_foreign, managers);
    return suite_run(&s, "object");
}
