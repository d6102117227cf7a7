#include "tests/sweep/sweep_acto_formats.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

enum { FORMATS = FORMAT_TIME_ZONE + 1 };

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define X63 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* A pattern for as many different texts as one likes, and some good ones besides. */
static const struct {
    const char *numbered;
    const char *goods[ACTO_GOODS + 1];
} formats[FORMATS] = {
    [FORMAT_TEXT] = { "text %zu", { "", "a b", "ä 日本", "$(NODE_NAME)" } },
    [FORMAT_ARGUMENT] = { "--acto=%zu", { "", "--verbose", "$(NODE_NAME)" } },
    [FORMAT_LABEL_KEY] = { "example.com/k%zu",
                           { "team", "example.com/team", X63, "a.b.example.com/" X63 } },
    [FORMAT_LABEL_VALUE] = { "v%zu", { "", "a", X63, "A.b_c-1" } },
    [FORMAT_SUBDOMAIN] = { "acto-%zu", { "a", "acto.example.com", "0" } },
    [FORMAT_POOL] = { "pool-%zu", { "a", "abcdefghijklmnopqrstuvwxyz0123456789-xyz" } },
    [FORMAT_VERSION] = { "575.57.%zu", { "575.57.08", "sha256:" HEX64, "v1", "_" } },
    [FORMAT_REPOSITORY] = { "nvcr.io/nvidia/r%zu",
                            { "nvcr.io/nvidia", "nvcr.io/nvidia/acto",
                              "registry.example.com:5000/x", "localhost" } },
    [FORMAT_IMAGE] = { "image%zu", { "driver", "cloud-native/acto", "a__b" } },
    [FORMAT_VARIABLE] = { "ACTO_%zu", { "ACTO", "_", "aBc" } },
    [FORMAT_DATA_KEY] = { "key-%zu", { "config.yaml", "A", "..2" } },
    [FORMAT_DURATION] = { "%zum", { NULL } },
    [FORMAT_PERCENT] = { "%zu%%", { "1%", "25%", "99%", "100%" } },
    [FORMAT_QUANTITY] = { "%zuMi", { "0", "100m", "1Gi", "1.5", "1e3" } },
    [FORMAT_INSTALL_DIR] = { "/opt/d%zu/nvidia",
                             { "/nvidia", "/usr/local/nvidia", "/home/kubernetes/bin/nvidia" } },
    [FORMAT_SCHEDULE] = { "%zu 2 * * 6", { "* * * * *", "0 2 * * 6", "*/5 0-6 1,15 * 1-5" } },
    [FORMAT_PROFILE] = { "profiles/p%zu.json", { "ostler-node.json", "a/b/c", "_" } },
    [FORMAT_TIME_ZONE] = { "Etc/GMT+%zu", { "UTC", "Asia/Tokyo", "America/Argentina/Ushuaia" } },
};

static const char *const hostile[] = {
    "",
    " ",
    "a b",
    "-",
    "a-",
    "-a",
    ".",
    "..",
    "../../etc/passwd",
    "/",
    "//",
    "a/b/c",
    "a:b",
    "a=b",
    "a,b",
    X63,
    X63 "x",
    X63 "." X63 "." X63 "." X63,
    X63 "." X63 "." X63 "." X63 ".x/" X63,
    "\xc3\xa9",
    "\xe6\x97\xa5\xe6\x9c\xac",
    "\xf0\x9f\x90\xb4",
    "a\xe2\x80\xae"
    "b",
    "\xef\xbb\xbf"
    "a",
    "\x1b[31mred",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "a\n",
    "\x7f",
    "true",
    "null",
    "~",
    "0",
    "-1",
    "00",
    "0x10",
    "1e309",
    "NaN",
    "18446744073709551616",
    "9223372036854775808",
    "101%",
    "0%",
    "-1%",
    "25%%",
    "%",
    "25 %",
    "1.5%",
    "-1s",
    "1d",
    "1.5h",
    "h",
    "1h-1m",
    "999999h999999h999999h999999h",
    "1000000h",
    "1h ",
    "PT1H",
    "0h",
    "1ms",
    "1.5.2",
    "1GB",
    "-1Gi",
    "1e99",
    "1 Gi",
    "99999999999999999999Ei",
    "kubernetes.io/acto",
    "node.kubernetes.io/acto",
    "ostler.dev/driver",
    "x.ostler.dev/y",
    "nvidia.com/gpu.present",
    "app.kubernetes.io/managed-by",
    "default",
    "LD_PRELOAD",
    "NODE_NAME",
    "PATH",
    "$(rm -rf /)",
    "`id`",
    "; reboot",
    "${x}",
    "{{ .Values }}",
    "%s%n%999999d",
    "<b>",
    "\"",
    "'",
    "\\",
    "https://nvcr.io/nvidia",
    "nvcr.io/nvidia:1",
    "NVCR.io/nvidia",
    "nvcr.io/nvidia/../evil",
    "user@nvcr.io",
    "nvcr.io:99999",
    "evil.example.com",
    "latest",
    "sha256:",
    "sha256:" HEX64 "0",
    "SHA256:" HEX64,
    "60 * * * *",
    "* * * *",
    "@daily",
    "Mars/Olympus",
    "/opt/nvidia/",
    "opt/nvidia",
    "/opt/../nvidia",
    "/proc/nvidia",
    NULL,
};

bool acto_format_of(const json_t *schema, enum policy_format *ret)
{
    const char *pattern = json_str(schema, "pattern");
    const char *rule = json_str(
        json_array_get(json_object_get(schema, "x-kubernetes-validations"), 0), "rule");
    for (int i = 0; i < FORMATS; i++) {
        const struct policy_format_info *f = policy_format((enum policy_format) i);
        CLEANUP_FREE char *matches = f->pattern ? xasprintf("self.matches('%s')", f->pattern)
                                                : NULL;
        bool length = json_int(schema, "maxLength", -1) == (json_int_t) f->max_length;
        if (length && (f->pattern ? str_eq(pattern, f->pattern) || str_eq(rule, matches)
                                  : !pattern && !rule)) {
            *ret = (enum policy_format) i;
            return true;
        }
    }
    return false;
}

const char *const *acto_format_goods(enum policy_format format)
{
    return formats[format].goods;
}

bool acto_format_range(const json_t *schema, long long *ret_min, long long *ret_max)
{
    const char *rule = json_str(
        json_array_get(json_object_get(schema, "x-kubernetes-validations"), 0), "rule");
    return rule &&
           sscanf(rule,
                  "duration(self) >= duration('%llds') && duration(self) <= duration('%llds')",
                  ret_min, ret_max) == 2;
}

char *acto_format_sample(const json_t *schema, size_t n)
{
    enum policy_format format;
    if (!acto_format_of(schema, &format))
        return xstrdup("");
    char number[32];
    snprintf(number, sizeof number, "%zu", n + 1);
    const char *text = formats[format].numbered, *at = strstr(text, "%zu");
    return xasprintf("%.*s%s%s", (int) (at - text), text, number,
                     strcmp(at + 3, "%%") == 0 ? "%" : at + 3);
}

const char *const *acto_hostile_texts(void)
{
    return hostile;
}
