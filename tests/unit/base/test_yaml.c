#include "base/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

/* What one text becomes: compact JSON of all documents, or a part of the error. */
static const struct parse_case {
    const char *name;
    const char *text;
    const char *json;
    const char *error;
} parse_cases[] = {
    { "empty text has no documents", "", "[]", NULL },
    { "empty documents are left out", "---\n---\na: 1\n---\nnull\n", "[{\"a\":1}]", NULL },
    { "several documents", "a: 1\n---\nb: 2\n...\n", "[{\"a\":1},{\"b\":2}]", NULL },
    { "keys keep their order", "z: 1\na: 2\n", "[{\"z\":1,\"a\":2}]", NULL },
    { "booleans", "[true, True, y, Y, yes, on, ON, false, n, No, off]",
      "[[true,true,true,true,true,true,true,false,false,false,false]]", NULL },
    { "not booleans", "[yEs, tRUE, \"true\", 'off', oN]",
      "[[\"yEs\",\"tRUE\",\"true\",\"off\",\"oN\"]]", NULL },
    { "nulls", "[~, null, Null, NULL, '', nUll]", "[[null,null,null,null,\"\",\"nUll\"]]", NULL },
    { "an empty value is null", "a:\n", "[{\"a\":null}]", NULL },
    { "integers",
      "[0, -0, 12, +12, -12, 1_000, 010, 0o17, 0b11, 0x1F, -0x10, 9223372036854775807, "
      "-9223372036854775808]",
      "[[0,0,12,12,-12,1000,8,15,3,31,-16,9223372036854775807,-9223372036854775808]]", NULL },
    { "floats without a fraction are integers", "[1.0, 1e3, 08, 1., 0.0]", "[[1,1000,8,1,0]]",
      NULL },
    { "floats", "[1.5, .5, -2.5e-3, +1.25]", "[[1.5,0.5,-0.0025,1.25]]", NULL },
    { "a negative integer below 64 bits is a float",
      "[-9223372036854775809, 18446744073709551616.5]",
      "[[-9.2233720368547758e18,1.8446744073709552e19]]", NULL },
    { "not numbers",
      "[1:30, 2001-01-02, 0x, 0b2, 1e, e1, 1.2.3, 1e400, '7', -, +, ., 0xfg, 580.178.04]",
      "[[\"1:30\",\"2001-01-02\",\"0x\",\"0b2\",\"1e\",\"e1\",\"1.2.3\",\"1e400\",\"7\",\"-\",\"+"
      "\",\".\",\"0xfg\","
      "\"580.178.04\"]]",
      NULL },
    { "keys that are no strings", "y: 1\n2: 2\n0x10: 3\n1.5: 4\n",
      "[{\"true\":1,\"2\":2,\"16\":3,\"1.5\":4}]", NULL },
    { "core tags", "[!!str 1, !!int \"5\", !!float 2, !!bool \"yes\", !!null \"\"]",
      "[[\"1\",5,2,true,null]]", NULL },
    { "local tags make strings", "!mine 12", "[\"12\"]", NULL },
    { "anchors and aliases", "a: &x {b: [1, 2]}\nc: *x\n",
      "[{\"a\":{\"b\":[1,2]},\"c\":{\"b\":[1,2]}}]", NULL },
    { "an anchor can be given anew", "[&x 1, *x, &x 2, *x]", "[[1,1,2,2]]", NULL },
    { "merge keys give way to what is written", "b: &b {x: 1, y1: 1}\na:\n  x: 2\n  <<: *b\n",
      "[{\"b\":{\"x\":1,\"y1\":1},\"a\":{\"x\":2,\"y1\":1}}]", NULL },
    { "the first of several merged maps wins", "a: {<<: [{x: 1}, {x: 2, z: 3}]}",
      "[{\"a\":{\"x\":1,\"z\":3}}]", NULL },
    { "block texts", "a: |\n  one\n  two\nb: >-\n  one\n  two\n",
      "[{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\"}]", NULL },
    { "unicode and escapes", "[\"\\u00e4\", \xc3\xa4, \"\\x41\"]",
      "[[\"\xc3\xa4\",\"\xc3\xa4\",\"A\"]]", NULL },
    { "a version directive", "%YAML 1.1\n---\na: 1\n", "[{\"a\":1}]", NULL },
    { "JSON is YAML", "{\"a\": [1, \"x\", {\"b\": null}]}", "[{\"a\":[1,\"x\",{\"b\":null}]}]",
      NULL },

    { "twice the same key", "a: 1\nb:\n  c: 1\n  c: 2\n", NULL,
      "line 4: the key \"c\" is set twice" },
    { "twice the same key in two spellings", "true: 1\ny: 2\n", NULL, "line 2: the key \"true\"" },
    { "no closing bracket", "a: [1, 2\nb: 3\n", NULL,
      "line 2, column 2: did not find expected ',' or ']', while parsing a flow sequence; a list "
      "in brackets is not closed" },
    { "a tab as indentation", "a:\n\tb: 1\n", NULL,
      "line 2, column 1: found character that cannot start any token, while scanning for the next "
      "token; indent with spaces, not "
      "with tabs" },
    { "a colon in plain text", "a: b: c\n", NULL,
      "line 1, column 5: mapping values are not allowed in this context; put text that holds \": "
      "\" in quotes" },
    { "an indentation that fits nowhere", "a:\n    b: 1\n  c: 2\n", NULL,
      "look at the indentation" },
    { "no closing quote", "a: \"b\n", NULL, "a quote is not closed" },
    { "unknown alias", "a: *nope\n", NULL, "line 1: the alias *nope has no complete anchor" },
    { "an alias inside of its own anchor", "a: &a [*a]\n", NULL,
      "the alias *a has no complete anchor" },
    { "anchors end with their document", "a: &a 1\n---\nb: *a\n", NULL, "line 3: the alias" },
    { "a list as a key", "? [a]\n: 1\n", NULL, "line 1: a key must be a word" },
    { "a null key", "~: 1\n", NULL, "line 1: a key is missing" },
    { "a NUL", "a: \"x\\0y\"\n", NULL, "line 1: a NUL character" },
    { "unsigned beyond 63 bits", "a: 18446744073709551615\n", NULL, "out of range" },
    { "infinity", "a: 1\nb: -.inf\n", NULL, "line 2: the number -.inf is out of range" },
    { "a wrong tag", "!!int abc", NULL, "\"abc\" does not match its tag" },
    { "binary", "!!binary aGk=", NULL, "line 1: !!binary is not supported" },
    { "merging a number", "<<: 1\n", NULL, "line 1: << must name a map" },
    { "merging a list of numbers", "<<: [1]\n", NULL, "line 1: << must name maps" },
    { "not UTF-8", "a: \xff\xfe\n", NULL, "UTF-8" },
    { "a surrogate", "a: \"\\ud800\"\n", NULL, "line 1, column " },
};

static void check_parse(void **state)
{
    const struct parse_case *c = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse(c->text, strlen(c->text), NULL, &e);
    if (c->json) {
        assert_string_equal(err_msg(&e), "");
        CLEANUP_FREE char *json = json_compact(documents);
        CLEANUP_JSON json_t *want = json_parse(c->json, strlen(c->json), &e);
        CLEANUP_FREE char *want_json = json_compact(want);
        assert_string_equal(json, want_json);
    } else {
        assert_null(documents);
        assert_int_equal(e.kind, ERR_INVALID);
        if (!strstr(err_msg(&e), c->error))
            fail_msg("got: %s", err_msg(&e));
    }
}

/* A value, and the text that it is written as; reading the text must give the value again. */
static const struct dump_case {
    const char *name;
    const char *json;
    const char *text;
} dump_cases[] = {
    { "scalars", "{\"a\":1,\"b\":true,\"c\":null,\"d\":\"x y\",\"e\":1.5}",
      "a: 1\nb: true\nc: null\nd: x y\ne: 1.5\n" },
    { "nested", "{\"a\":{\"b\":[{\"c\":1,\"d\":[2,[3,4]]},5]}}",
      "a:\n  b:\n  - c: 1\n    d:\n    - 2\n    - - 3\n      - 4\n  - 5\n" },
    { "empty ones", "{\"a\":{},\"b\":[],\"c\":\"\"}", "a: {}\nb: []\nc: \"\"\n" },
    { "texts that look like something else",
      "[\"true\",\"1\",\"null\",\"1.0\",\"0x1\",\"y\",\"2001-01-02\",\"1:30\",\"<<\"]",
      "- \"true\"\n- \"1\"\n- \"null\"\n- \"1.0\"\n- \"0x1\"\n- \"y\"\n- \"2001-01-02\"\n- "
      "\"1:30\"\n- \"<<\"\n" },
    { "texts with indicators",
      "[\"--a=b\",\"- a\",\"a: b\",\"a:b\",\"a #b\",\"*a\",\"{a}\",\"---\",\"a:\",\" a\",\"a "
      "\",\"-\"]",
      "- --a=b\n- \"- a\"\n- \"a: b\"\n- a:b\n- \"a #b\"\n- \"*a\"\n- \"{a}\"\n- \"---\"\n- "
      "\"a:\"\n- \" a\"\n- \"a \"\n- "
      "\"-\"\n" },
    { "lines", "{\"a\":\"x\\n  y\\n\",\"b\":\"x\\n\\ny\",\"c\":\"x\\n\\n\",\"d\":\"\\nx\"}",
      "a: |\n  x\n    y\nb: |-\n  x\n\n  y\nc: \"x\\n\\n\"\nd: \"\\nx\"\n" },
    { "escapes", "[\"a\\u0001\\\"\\\\\",\"\\u2028\",\"\xc3\xa4\",\"a\\tb\"]",
      "- \"a\\u0001\\\"\\\\\"\n- \"\\u2028\"\n- \xc3\xa4\n- \"a\\tb\"\n" },
    { "what a terminal obeys",
      "[\"a\\u061cb\",\"\\u200e\",\"\\u202e\",\"\\u2066\",\"x\\ny\\u009b\"]",
      "- \"a\\u061Cb\"\n- \"\\u200E\"\n- \"\\u202E\"\n- \"\\u2066\"\n- \"x\\ny\\u009B\"\n" },
    { "keys", "{\"nvidia.com/gpu\":1,\"true\":2,\"a b\":3,\"\":4}",
      "nvidia.com/gpu: 1\n\"true\": 2\na b: 3\n\"\": 4\n" },
    { "a scalar alone", "\"x\"", "x\n" },
};

static void check_dump(void **state)
{
    const struct dump_case *c = *state;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *value = json_parse(c->json, strlen(c->json), &e);
    CLEANUP_FREE char *text = yaml_dump(value);
    assert_string_equal(text, c->text);
    CLEANUP_JSON json_t *again = yaml_parse(text, strlen(text), NULL, &e);
    assert_string_equal(err_msg(&e), "");
    assert_true(json_equal(json_array_get(again, 0), value));
}

static void long_key_is_read_again(void **state)
{
    (void) state;
    char key[3000];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    CLEANUP_JSON json_t *value = json_pack("{s: {s: [i], s: i}}", key, "a", 1, "b", 2);
    CLEANUP_FREE char *text = yaml_dump(value);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *again = yaml_parse(text, strlen(text), NULL, &e);
    assert_string_equal(err_msg(&e), "");
    assert_true(json_equal(json_array_get(again, 0), value));
}

static void lines_are_known(void **state)
{
    (void) state;
    static const char text[] = "# head\n"
                               "kind: X\n"
                               "spec:\n"
                               "  driver:\n"
                               "    version: 1\n"
                               "  pools:\n"
                               "  - name: a\n"
                               "  - name: b\n"
                               "    size: 3\n"
                               "---\n"
                               "kind: Y\n"
                               "other: 1\n";
    static const struct {
        const char *path;
        int line;
    } cases[] = {
        { "kind", 2 },
        { "spec", 3 },
        { "spec.driver.version", 5 },
        { "spec.pools[1]", 8 },
        { "spec.pools[1].size", 9 },
        { "spec.pools[1].nope", 8 },
        { "spec.pools[7].nope", 6 },
        { "spec.driver.nope.deeper", 4 },
        { "other", 2 },
        { "", 2 },
    };
    struct yaml_lines *lines = NULL;
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse(text, sizeof text - 1, &lines, &e);
    assert_int_equal(json_array_size(documents), 2);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (yaml_line_of(lines, cases[i].path) != cases[i].line)
            fail_msg("%s: line %d", cases[i].path, yaml_line_of(lines, cases[i].path));
    assert_int_equal(yaml_line_of(NULL, "kind"), 0);
    yaml_lines_free(lines);
}

static void expect_refusal(const char *text, const char *part)
{
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse(text, strlen(text), NULL, &e);
    assert_null(documents);
    if (!strstr(err_msg(&e), part))
        fail_msg("got: %s", err_msg(&e));
}

static char *repeated(const char *part, size_t times)
{
    struct buf b = BUF_INIT(64 << 20);
    for (size_t i = 0; i < times; i++)
        buf_str(&b, part);
    return buf_take(&b);
}

static void nesting_is_limited(void **state)
{
    (void) state;
    CLEANUP_FREE char *fits = repeated("[", 100);
    CLEANUP_FREE char *close = repeated("]", 100);
    CLEANUP_FREE char *text = xasprintf("%s%s", fits, close);
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_JSON json_t *documents = yaml_parse(text, strlen(text), NULL, &e);
    assert_non_null(documents);

    CLEANUP_FREE char *deep = repeated("[", 50000);
    expect_refusal(deep, "nested deeper than 100 levels");
    CLEANUP_FREE char *blocks = repeated("- ", 50000);
    expect_refusal(blocks, "nested deeper than 100 levels");
    CLEANUP_FREE char *half = repeated("[", 60);
    CLEANUP_FREE char *half_close = repeated("]", 60);
    CLEANUP_FREE char *by_alias = xasprintf("[&a %s%s, %s*a%s]", half, half_close, half,
                                            half_close);
    expect_refusal(by_alias, "the alias *a nests deeper");
}

static void alias_bomb_is_refused(void **state)
{
    (void) state;
    struct buf b = BUF_INIT(1 << 20);
    buf_str(&b, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) {
        buf_printf(&b, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            buf_printf(&b, "%s*a%d", j ? ", " : "", i - 1);
        buf_str(&b, "]\n");
    }
    CLEANUP_FREE char *text = buf_take(&b);
    expect_refusal(text, "too much content, aliases included (limit 8 MiB)");
}

static void anchors_are_limited(void **state)
{
    (void) state;
    struct buf b = BUF_INIT(1 << 20);
    for (int i = 0; i < 257; i++)
        buf_printf(&b, "- &a%d x\n", i);
    CLEANUP_FREE char *text = buf_take(&b);
    expect_refusal(text, "line 257: more than 256 anchors");
}

static void size_is_limited(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = repeated(
        "# comment of sixty-four bytes, to fill up a document quickly --\n", 65537);
    expect_refusal(text, "larger than 4 MiB");
    CLEANUP_FREE char *nodes = repeated("- 1\n", 600000);
    expect_refusal(nodes, "too much content");
}

static void files_are_named_in_errors(void **state)
{
    (void) state;
    CLEANUP_ERR struct err e = { 0 };
    assert_null(yaml_parse_file("/nonexistent/policy.yaml", NULL, &e));
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    assert_string_equal(err_msg(&e),
                        "cannot read /nonexistent/policy.yaml: No such file or directory");
    assert_null(yaml_parse_file("/", NULL, &e));
    assert_int_equal(e.kind, ERR_SYSTEM);

    char path[] = "/tmp/ostler-yaml-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: [\n", 5), 5);
    close(fd);
    assert_null(yaml_parse_file(path, NULL, &e));
    assert_true(str_has_prefix(err_msg(&e), path));
    unlink(path);
}

int main(void)
{
    mem_hook_jansson();
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(long_key_is_read_again),    cmocka_unit_test(lines_are_known),
        cmocka_unit_test(nesting_is_limited),        cmocka_unit_test(alias_bomb_is_refused),
        cmocka_unit_test(anchors_are_limited),       cmocka_unit_test(size_is_limited),
        cmocka_unit_test(files_are_named_in_errors),
    };
    struct CMUnitTest tests[ARRAY_LEN(parse_cases) + ARRAY_LEN(dump_cases) + ARRAY_LEN(plain)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(parse_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = parse_cases[i].name,
                                          .test_func = check_parse,
                                          .initial_state = (void *) &parse_cases[i] };
    for (size_t i = 0; i < ARRAY_LEN(dump_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = dump_cases[i].name,
                                          .test_func = check_dump,
                                          .initial_state = (void *) &dump_cases[i] };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[n++] = plain[i];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
