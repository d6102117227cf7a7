/* Formats of strings, held against their patterns: by examples, and by strings made at random from
 * the characters that matter. */
#include "reconcilers/model/policy_formats.h"

#include <regex.h>
#include <string.h>

#include "tests/unit/support/suite.h"

#define SAMPLES 12

static const struct format_case {
    const char *name;
    enum policy_format format;
    const char *alphabet; /* what random strings are made of */
    const char *good[SAMPLES];
    const char *bad[SAMPLES];
} cases[] = {
    { "label keys",
      FORMAT_LABEL_KEY,
      "aB1-._//",
      { "a", "team", "example.com/team", "nvidia.com/gpu.present", "A_b-c.d", "a-b.c/X" },
      { "", "/a", "a/", "a/b/c", "-a", "a-", "Example.com/team", "a b", "a..b/c", "ä" } },
    { "label values",
      FORMAT_LABEL_VALUE,
      "aB1-._",
      { "", "a", "k80", "A.b_c-d", "1" },
      { "-", "a-", ".a", "a b", "a/b",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" } },
    { "object names",
      FORMAT_SUBDOMAIN,
      "ab1-.",
      { "a", "pull-secret", "a.b-c.d", "1" },
      { "", "A", "-a", "a-", "a..b", "a.-b", "a_b", "a/b" } },
    { "pools",
      FORMAT_POOL,
      "a1-",
      { "a", "legacy", "a-1" },
      { "", "-", "a-", "A", "a.b", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddd" } },
    { "versions",
      FORMAT_VERSION,
      "aZ0._-:",
      { "580.178.04", "v1.20.0", "4.6.0-4.8.3-distroless", "_", "580",
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
      { "", "-1", ".1", "a b", "a:b", "sha256:", "sha256:abc",
        "sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef" } },
    { "repositories",
      FORMAT_REPOSITORY,
      "ab1.-:/_",
      { "nvcr.io/nvidia", "localhost:5000", "a:1/b/c", "registry.local:5000/gpu/x_y", "a" },
      { "", "/a", "a/", "a//b", "https://a", "a:", "a:123456", "A/b", "a/-b", "a:1b", "a/b:1" } },
    { "images",
      FORMAT_IMAGE,
      "ab1._-/",
      { "driver", "k8s/container-toolkit", "a__b", "a.b" },
      { "", "/a", "a/", "a//b", "a:1", "A", "-a", "a-", "a@b" } },
    { "names of variables",
      FORMAT_VARIABLE,
      "aB1_-",
      { "A", "_a1", "LD_PRELOAD", "http_proxy" },
      { "", "1a", "a-b", "a=b", "a b" } },
    { "keys of ConfigMaps",
      FORMAT_DATA_KEY,
      "aB1._-/",
      { "a", ".hidden", "config.yaml", "a100-40gb" },
      { "", "a/b", "a b" } },
    { "durations",
      FORMAT_DURATION,
      "01hms.",
      { "0", "0s", "30m", "1h30m", "250ms", "999999h", "1m1m" },
      { "", "30", "1d", "1.5h", "-1s", "m", "1h ", "1234567s", "1sm", "00" } },
    { "percentages",
      FORMAT_PERCENT,
      "019%",
      { "1%", "25%", "100%", "99%" },
      { "", "0%", "101%", "%", "25", "25%%", "-5%", "05%", "2 %" } },
    { "quantities",
      FORMAT_QUANTITY,
      "01.mkKMieE+",
      { "0", "1", "500m", "0.5", ".5", "1.", "128Mi", "1G", "1e3", "1E-2", "12Ei", "2E" },
      { "", ".", "-1", "1K", "1mi", "1 Gi", "1e", "1e123", "Mi", "1KiB", "+1", "1e1.5" } },
    { "install folders",
      FORMAT_INSTALL_DIR,
      "a1./nvidi",
      { "/nvidia", "/usr/local/nvidia", "/home/kubernetes/bin/nvidia", "/a.b/nvidia" },
      { "", "nvidia", "/", "/etc", "/a/../nvidia", "//nvidia", "/./nvidia", "/nvidia/",
        "/a b/nvidia", "/xnvidia" } },
    { "profiles of seccomp",
      FORMAT_PROFILE,
      "aZ1._-/",
      { "ostler-node.json", "profiles/ostler-node.json", "a/b/c", "_" },
      { "", "/a", "a/", "a//b", "../a", "a/../b", ".a", "a/.b", "a b" } },
    { "schedules",
      FORMAT_SCHEDULE,
      "0126*,-/  ",
      { "0 2 * * 6", "*/5 * * * *", "0,30 1-5 1,15 */2 1-5/2", "59 23 31 12 7", "00 02 01 01 0" },
      { "", "0 2 * *", "0 2 * * 6 7", "60 2 * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *",
        "0 0 * * 8", "0 2 * * 6,", "0 0 * * SAT", "*/0 * * * *", "0  2 * * 6" } },
    { "time zones",
      FORMAT_TIME_ZONE,
      "aZ1/_+-",
      { "UTC", "Asia/Tokyo", "America/Argentina/Ushuaia", "Etc/GMT+9" },
      { "", "/", "a/", "/a", "a/b/c/d", "a b", "../x" } },
};

static bool pattern_matches(const regex_t *pattern, const struct policy_format_info *f,
                            const char *s)
{
    size_t n = strlen(s);
    return n >= f->min_length && n <= f->max_length && regexec(pattern, s, 0, NULL, 0) == 0;
}

static void check_string(const struct format_case *c, const regex_t *pattern, const char *s)
{
    bool want = pattern_matches(pattern, policy_format(c->format), s);
    if (policy_format_matches(c->format, s) != want)
        fail_msg("\"%s\": the pattern says %s", s, want ? "yes" : "no");
}

/* The same strings on every run. */
static void check_random(const struct format_case *c, const regex_t *pattern)
{
    uint32_t seed = 1;
    size_t letters = strlen(c->alphabet);
    for (int i = 0; i < 20000; i++) {
        char s[20];
        size_t n = 0;
        seed = seed * 1664525 + 1013904223;
        for (size_t length = (seed >> 16) % sizeof s; n < length; n++) {
            seed = seed * 1664525 + 1013904223;
            s[n] = c->alphabet[(seed >> 16) % letters];
        }
        s[n] = '\0';
        check_string(c, pattern, s);
    }
}

static void check_format(void **state)
{
    const struct format_case *c = *state;
    regex_t pattern;
    assert_int_equal(regcomp(&pattern, policy_format(c->format)->pattern, REG_EXTENDED | REG_NOSUB),
                     0);
    for (size_t i = 0; i < SAMPLES && c->good[i]; i++) {
        if (!policy_format_matches(c->format, c->good[i]))
            fail_msg("\"%s\" is refused", c->good[i]);
        check_string(c, &pattern, c->good[i]);
    }
    for (size_t i = 0; i < SAMPLES && c->bad[i]; i++) {
        if (policy_format_matches(c->format, c->bad[i]))
            fail_msg("\"%s\" is accepted", c->bad[i]);
        check_string(c, &pattern, c->bad[i]);
    }
    check_random(c, &pattern);
    regfree(&pattern);
}

static void check_length(void **state)
{
    (void) state;
    char text[8193];
    memset(text, 'x', sizeof text);
    text[4096] = '\0';
    assert_true(policy_format_matches(FORMAT_TEXT, text));
    text[4096] = 'x';
    text[4097] = '\0';
    assert_false(policy_format_matches(FORMAT_TEXT, text));
    for (size_t i = 0; i < 4096; i++)
        memcpy(text + 2 * i, "ä", 2);
    text[8192] = '\0';
    assert_true(policy_format_matches(FORMAT_TEXT, text));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_format, cases);
    suite_add(&s, "length is counted in characters", check_length, NULL);
    return suite_run(&s, "policy formats");
}
