/* Fields of the policy, and parts that fit some hosts alone, put into a manifest's object. */
#include "reconcilers/manifests/overlay.h"

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

struct overlay_row {
    const char *name;
    const char *container;
    const char *path;
    overlay_put_fn *put;
    const char *value;
    const char *want; /* the manifest, or NULL: error */
    const char *message;
};

static const char base[] =
    "{'spec':{'template':{'spec':{'initContainers':[{'name':'i','image':'x'}],"
    "'containers':[{'name':'c','image':'x','env':[{'name':'A','value':'1'}]}]}},'l':[{'p':1}]}}";

static void check_overlay(void **state)
{
    const struct overlay_row *row = *state;
    CLEANUP_JSON json_t *object = tree(base);
    CLEANUP_JSON json_t *values = json_pack("{s:o}", "v", tree(row->value));
    struct overlay overlay = { NULL, row->container, row->path, row->put, "v" };
    CLEANUP_ERR struct err e = { 0 };
    int rc = overlay_apply(&overlay, object, values, &e);
    assert_int_equal(rc, row->want ? 0 : -1);
    if (row->want)
        assert_tree(object, row->want);
    else
        assert_string_equal(err_msg(&e), row->message);
}

#define POD(init, main)                                                                            \
    "{'spec':{'template':{'spec':{'initContainers':[" init "],'containers':[" main                 \
    "]}},'l':[{'p':1}]}}"
#define INIT "{'name':'i','image':'x'}"
#define MAIN "{'name':'c','image':'x','env':[{'name':'A','value':'1'}]}"
static const struct overlay_row overlay_rows[] = {
    { "in one container", "c", "image", overlay_put, "'y'",
      POD(INIT, "{'name':'c','image':'y','env':[{'name':'A','value':'1'}]}"), NULL },
    { "in an init container", "i", "image", overlay_put, "'y'",
      POD("{'name':'i','image':'y'}", MAIN), NULL },
    { "in all", OVERLAY_ALL_CONTAINERS, "image", overlay_put, "'y'",
      POD("{'name':'i','image':'y'}", "{'name':'c','image':'y','env':[{'name':'A','value':'1'}]}"),
      NULL },
    { "in those of an image of others", OVERLAY_OPERAND_CONTAINERS, "p", overlay_put, "'y'",
      POD("{'name':'i','image':'x','p':'y'}",
          "{'name':'c','image':'x','env':[{'name':'A','value':'1'}],'p':'y'}"),
      NULL },
    { "in those of our image, of which there are none", OVERLAY_OWN_CONTAINERS, "p", overlay_put,
      "'y'", base, NULL },
    { "by the name of an element", "c", "env[A].value", overlay_put, "'2'",
      POD(INIT, "{'name':'c','image':'x','env':[{'name':'A','value':'2'}]}"), NULL },
    { "by the number of an element", NULL, "spec.l[0].p", overlay_put, "2",
      "{'spec':{'template':{'spec':{'initContainers':[" INIT "],'containers':[" MAIN
      "]}},'l':[{'p':2}]}}",
      NULL },
    { "merged by name", "c", "env", overlay_merge,
      "[{'name':'A','value':'2'},{'name':'B','value':'3'}]",
      POD(INIT,
          "{'name':'c','image':'x','env':[{'name':'A','value':'2'},{'name':'B','value':'3'}]}"),
      NULL },
    { "appended to a list that is not there yet", "i", "args", overlay_append, "['a']",
      POD("{'name':'i','image':'x','args':['a']}", MAIN), NULL },
    { "names as objects", "i", "s", overlay_append_names, "['a']",
      POD("{'name':'i','image':'x','s':[{'name':'a'}]}", MAIN), NULL },
    { "an empty value changes nothing", "absent", "env[Z].value", overlay_put, "{}", base, NULL },
    { "no such container", "d", "image", overlay_put, "'y'", NULL,
      "overlay image: there is no container d" },
    { "no such element", "c", "env[B].value", overlay_put, "'y'", NULL,
      "container c: overlay env[B].value: there is no env[B]" },
    { "no such object", NULL, "spec.m.n.o", overlay_put, "'y'", NULL,
      "overlay spec.m.n.o: there is no spec.m" },
};

struct part_row {
    const char *name;
    const char *part;
    const char *want;
    const char *message;
};

static void check_part(void **state)
{
    const struct part_row *row = *state;
    CLEANUP_JSON json_t *object = tree(base);
    CLEANUP_JSON json_t *part = tree(row->part);
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(overlay_merge_part(object, part, &e), row->want ? 0 : -1);
    if (row->want)
        assert_tree(object, row->want);
    else
        assert_string_equal(err_msg(&e), row->message);
}

#define PART(main) "{'spec':{'template':{'spec':{'containers':[" main "]}}}}"
static const struct part_row part_rows[] = {
    { "part: a variable is replaced", PART("{'name':'c','env':[{'name':'A','value':'2'}]}"),
      POD(INIT, "{'name':'c','image':'x','env':[{'name':'A','value':'2'}]}"), NULL },
    { "part: a variable is removed", PART("{'name':'c','env':[{'name':'A','$patch':'delete'}]}"),
      POD(INIT, "{'name':'c','image':'x','env':[]}"), NULL },
    { "part: a container of its own", PART("{'name':'d','image':'z'}"),
      POD(INIT, MAIN ",{'name':'d','image':'z'}"), NULL },
    { "part: null removes", "{'spec':{'l':null}}",
      "{'spec':{'template':{'spec':{'initContainers':[" INIT "],'containers':[" MAIN "]}}}}",
      NULL },
    { "part: a container that is not there", PART("{'name':'d','env':[]}"), NULL,
      "containers[d] is to be changed and is not there" },
    { "part: a variable that is not there",
      PART("{'name':'c','env':[{'name':'B','$patch':'delete'}]}"), NULL,
      "env[B] is to be removed and is not there" },
};

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_overlay, overlay_rows);
    SUITE_ROWS(&s, check_part, part_rows);
    return suite_run(&s, "overlay");
}
