#include "reconcilers/model/proof.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* ---- last words: what is read of them, as the annotation has it */

#define TEXT(facts) "{'by':'Pod','driver':'d','gpus':8," facts "'stack':'s','v':1}"

static const struct words_row {
    const char *name, *said, *text;
} words_rows[] = {
    { "words: none", "", TEXT("") },
    { "words: of a driver", "driver=580.178.04\n", TEXT("'version':'580.178.04',") },
    { "words: without a line's end", "driver=550.54", TEXT("'version':'550.54',") },
    { "words: CUDA", "cuda=13.0\n", TEXT("'cuda':'13.0',") },
    { "words: a product, whose blanks become dashes", "product=NVIDIA H100 80GB HBM3\n",
      TEXT("'product':'NVIDIA-H100-80GB-HBM3',") },
    { "words: lines as another system ends them",
      "product=Tesla T4\r\nmemory=15360\r\ncompute=7.5\r\n",
      TEXT("'compute':'7.5','memory':15360,'product':'Tesla-T4',") },
    { "words: a slice", "slice=1g.10gb\nslice=\n", TEXT("'slice':'1g.10gb',") },
    { "words: what is no version",
      "driver=580.x\ncuda=\ncompute=9.\nproduct=-x\nmemory=[N/A]\nslice=1g 5gb\n", TEXT("") },
    { "words: too long",
      "driver=1.1111111111111111111111111111111\nslice=1111111111111111111111111111111111111\n",
      TEXT("") },
    { "words: too much memory", "memory=99999999999\n", TEXT("") },
    { "words: of others", "hello\nDRIVER=580.1\n driver=580.1\nproduct NVIDIA\n", TEXT("") },
    { "words: the last counts", "product=A\nproduct=B\n", TEXT("'product':'B',") },
};

static void check_words(void **state)
{
    const struct words_row *row = *state;
    struct proof p = { .way = PROOF_BY_POD, .gpus = 8, .of = { { "d", "s" } } }, back;
    CLEANUP_JSON json_t *want = tree(row->text);
    proof_read(row->said, &p.facts);
    CLEANUP_FREE char *text = proof_text(&p);
    CLEANUP_JSON json_t *got = json_parse(text, strlen(text), NULL);
    CLEANUP_FREE char *got_text = json_canonical(got);
    CLEANUP_FREE char *want_text = json_canonical(want);
    assert_string_equal(got_text, want_text);
    assert_true(proof_parse(text, &back));
    assert_int_equal(memcmp(&p, &back, sizeof p), 0);
}

/* ---- annotations that are none */

static const struct bad_row {
    const char *name, *text;
} bad_rows[] = {
    { "no proof: nothing", "" },
    { "no proof: not JSON", "x" },
    { "no proof: a list", "[]" },
    { "no proof: no version", "{\"by\":\"Pod\",\"gpus\":1}" },
    { "no proof: a newer version", "{\"v\":2,\"by\":\"Pod\",\"gpus\":1}" },
    { "no proof: an unknown way", "{\"v\":1,\"by\":\"Magic\",\"gpus\":1}" },
    { "no proof: a negative number", "{\"v\":1,\"by\":\"Pod\",\"gpus\":-1}" },
    { "no proof: a revision that is none",
      "{\"v\":1,\"by\":\"Pod\",\"gpus\":1,\"driver\":\"a/b\"}" },
    { "no proof: a revision that is no text", "{\"v\":1,\"by\":\"Pod\",\"gpus\":1,\"stack\":7}" },
    { "no proof: a product that is no label",
      "{\"v\":1,\"by\":\"Pod\",\"gpus\":1,\"product\":\"a b\"}" },
};

static void check_bad(void **state)
{
    const struct bad_row *row = *state;
    struct proof p;
    assert_false(proof_parse(row->text, &p));
}

static void check_long(void **state)
{
    (void) state;
    struct proof p;
    static const char good[] = "{\"v\":1,\"by\":\"Pod\",\"gpus\":1}";
    CLEANUP_FREE char *text = xasprintf("%-*s", (int) PROOF_TEXT_MAX, good);
    assert_true(proof_parse(good, &p));
    assert_false(proof_parse(text, &p));
    assert_false(proof_parse(NULL, &p));
}

/* ---- versions */

static const struct version_row {
    const char *name, *wanted, *said;
    bool fits;
} version_rows[] = {
    { "version: the same", "580.178.04", "580.178.04", true },
    { "version: another", "580.178.04", "580.82.07", false },
    { "version: of the branch that was asked for", "580", "580.178.04", true },
    { "version: of another branch", "580", "570.1", false },
    { "version: of a branch that begins alike", "58", "580.178.04", false },
    { "version: more of it than was asked for", "580.178", "580.178.04", false },
    { "version: a digest is not compared", "sha256:abc", "580.178.04", true },
    { "version: a tag that is no number is not compared", "latest", "580.178.04", true },
    { "version: none was asked for", NULL, "580.178.04", true },
    { "version: none was reported", "580.178.04", "", true },
};

static void check_version(void **state)
{
    const struct version_row *row = *state;
    assert_int_equal(proof_version_fits(row->wanted, row->said), row->fits);
}

static void check_is_of(void **state)
{
    (void) state;
    struct proof p = { .of = { { "d", "s" } } };
    assert_true(proof_is_of(&p, (struct assignment_ref){ { "d", "s" } }));
    assert_false(proof_is_of(&p, (struct assignment_ref){ { "d", "t" } }));
    assert_false(proof_is_of(&p, (struct assignment_ref){ { "", "s" } }));
    struct proof outdated = { 0 };
    assert_false(proof_is_of(&outdated, (struct assignment_ref){ { "", "" } }));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_words, words_rows);
    SUITE_ROWS(&s, check_bad, bad_rows);
    suite_add(&s, "no proof: too long, or none", check_long, NULL);
    SUITE_ROWS(&s, check_version, version_rows);
    suite_add(&s, "it is of two revisions, and an outdated one of none", check_is_of, NULL);
    return suite_run(&s, "proof");
}
