#include "reconcilers/model/policy_formats.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "reconcilers/model/schedule.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ALNUM LOWER UPPER DIGITS

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Whether [s, s+n) consists of characters of `inner`, with one of `edge` first and last. */
static bool policy_formats_is_word(const char *s, size_t n, const char *edge, const char *inner)
{
    if (n == 0 || !is_one_of(s[0], edge) || !is_one_of(s[n - 1], edge))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_one_of(s[i], inner))
            return false;
    return true;
}

static bool is_all_of(const char *s, const char *set)
{
    return *s && s[strspn(s, set)] == '\0';
}

/* Whether [s, s+n) is such words, joined by single separators. */
static bool is_joined(const char *s, size_t n, char separator, const char *edge, const char *inner)
{
    for (const char *end = s + n, *stop;; s = stop + 1) {
        stop = memchr(s, separator, (size_t) (end - s));
        if (!policy_formats_is_word(s, (size_t) ((stop ? stop : end) - s), edge, inner))
            return false;
        if (!stop)
            return true;
    }
}

static bool is_dns_name(const char *s, size_t n)
{
    return is_joined(s, n, '.', LOWER DIGITS, LOWER DIGITS "-");
}

static bool matches_subdomain(const char *s)
{
    return is_dns_name(s, strlen(s));
}

static bool matches_name_part(const char *s)
{
    size_t n = strlen(s);
    return n <= 63 && policy_formats_is_word(s, n, ALNUM, ALNUM "._-");
}

static bool matches_label_key(const char *s)
{
    const char *slash = strchr(s, '/');
    if (!slash)
        return matches_name_part(s);
    size_t n = (size_t) (slash - s);
    return n <= 253 && is_dns_name(s, n) && matches_name_part(slash + 1);
}

static bool matches_label_value(const char *s)
{
    return *s == '\0' || matches_name_part(s);
}

static bool matches_pool(const char *s)
{
    return policy_formats_is_word(s, strlen(s), LOWER DIGITS, LOWER DIGITS "-");
}

static bool matches_version(const char *s)
{
    static const char digest[] = "sha256:";
    if (str_has_prefix(s, digest)) {
        const char *hex = s + strlen(digest);
        return strlen(hex) == 64 && is_all_of(hex, DIGITS "abcdef");
    }
    return is_one_of(s[0], ALNUM "_") && is_all_of(s, ALNUM "._-");
}

/* Path components: words of lower case letters and digits, joined by any number of . _ - */
static bool matches_path(const char *s)
{
    return is_joined(s, strlen(s), '/', LOWER DIGITS, LOWER DIGITS "._-");
}

static bool matches_repository(const char *s)
{
    size_t host = strcspn(s, ":/");
    if (!policy_formats_is_word(s, host, LOWER DIGITS, LOWER DIGITS ".-"))
        return false;
    s += host;
    if (*s == ':') {
        size_t digits = strspn(++s, DIGITS);
        if (digits < 1 || digits > 5)
            return false;
        s += digits;
    }
    return *s == '\0' || (*s == '/' && matches_path(s + 1));
}

static bool matches_variable(const char *s)
{
    return is_one_of(s[0], LOWER UPPER "_") && is_all_of(s, ALNUM "_");
}

static bool matches_data_key(const char *s)
{
    return is_all_of(s, ALNUM "._-");
}

static bool matches_duration(const char *s)
{
    if (str_eq(s, "0"))
        return true;
    do {
        size_t digits = strspn(s, DIGITS);
        s += digits;
        size_t unit = str_has_prefix(s, "ms") ? 2 : is_one_of(*s, "hms");
        if (digits < 1 || digits > 6 || unit == 0)
            return false;
        s += unit;
    } while (*s);
    return true;
}

static bool matches_percent(const char *s)
{
    int64_t value;
    size_t n = strlen(s);
    if (n < 2 || n > 4 || s[0] == '0' || s[n - 1] != '%')
        return false;
    char digits[4] = { 0 };
    memcpy(digits, s, n - 1);
    return str_parse_int(digits, 1, 100, &value);
}

/* The suffix of a number: none, a decimal or binary suffix, or a decimal exponent. */
static bool matches_quantity_suffix(const char *s)
{
    static const char *const suffixes[] = { "",  "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n",
                                            "u", "m",  "k",  "M",  "G",  "T",  "P",  "E" };
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_eq(s, suffixes[i]))
            return true;
    if (!is_one_of(*s, "eE"))
        return false;
    s += 1 + is_one_of(s[1], "+-");
    return strlen(s) <= 2 && is_all_of(s, DIGITS);
}

static bool matches_quantity(const char *s)
{
    size_t whole = strspn(s, DIGITS);
    size_t part = 0;
    s += whole;
    if (*s == '.') {
        part = strspn(++s, DIGITS);
        s += part;
    }
    return whole + part > 0 && matches_quantity_suffix(s);
}

/* No component starts with a dot, so none leads upwards. */
static bool matches_relative_path(const char *s)
{
    do {
        size_t n = strcspn(s, "/");
        if (n == 0 || *s == '.' || strspn(s, ALNUM "._-") < n)
            return false;
        s += n;
    } while (*s++);
    return true;
}

/* An absolute path that ends in /nvidia, because the directory below it is emptied. */
static bool matches_install_dir(const char *s)
{
    return str_has_suffix(s, "/nvidia") && s[0] == '/' && matches_relative_path(s + 1);
}

static bool matches_schedule(const char *s)
{
    struct schedule schedule;
    return schedule_parse(s, &schedule);
}

static bool matches_time_zone(const char *s)
{
    size_t slashes = 0;
    for (const char *c = s; *c; c++)
        slashes += *c == '/';
    return slashes <= 2 && is_joined(s, strlen(s), '/', ALNUM "_+-", ALNUM "_+-");
}

#define PATTERN_WORD "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
#define PATTERN_DNS PATTERN_WORD "([.]" PATTERN_WORD ")*"
#define PATTERN_NAME "[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
#define PATTERN_PATH "[a-z0-9]+([._-]+[a-z0-9]+)*"
#define PATTERN_FILE "[A-Za-z0-9_-][A-Za-z0-9._-]*"
/* One field of a schedule; its numbers match n. */
#define PATTERN_ITEM(n) "([*]|" n "(-" n ")?)(/[1-9][0-9]?)?"
#define PATTERN_FIELD(n) PATTERN_ITEM(n) "(," PATTERN_ITEM(n) ")*"
#define PATTERN_SCHEDULE                                                                           \
    PATTERN_FIELD("[0-5]?[0-9]")                                                                   \
    " " PATTERN_FIELD("([01]?[0-9]|2[0-3])") " " PATTERN_FIELD(                                    \
        "(0?[1-9]|[12][0-9]|3[01])") " " PATTERN_FIELD("(0?[1-9]|1[0-2])") " " PATTERN_FIELD("[0-" \
                                                                                             "7]")

static const struct policy_format_info formats[] = {
    [FORMAT_TEXT] = { NULL, 0, 4096, NULL, "must have at most 4096 characters" },
    [FORMAT_ARGUMENT] = { NULL, 0, 1024, NULL, "must have at most 1024 characters" },
    [FORMAT_LABEL_KEY] = { "^(" PATTERN_DNS "/)?" PATTERN_NAME "$", 1, 317, matches_label_key,
                           "must be a label key, such as \"team\" or \"example.com/team\"" },
    [FORMAT_LABEL_VALUE] = { "^(" PATTERN_NAME ")?$", 0, 63, matches_label_value,
                             "must be a label value: at most 63 letters, digits, \"-\", \"_\" and "
                             "\".\", with a letter or digit at both ends" },
    [FORMAT_SUBDOMAIN] = { "^" PATTERN_DNS "$", 1, 253, matches_subdomain,
                           "must be the name of an object: lower case letters, digits, \"-\" and "
                           "\".\", with a letter or digit at both ends" },
    [FORMAT_POOL] = { "^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$", 1, 40, matches_pool,
                      "must have at most 40 lower case letters, digits and \"-\", with a letter or "
                      "digit at both ends" },
    [FORMAT_VERSION] = { "^([A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[a-f0-9]{64})$", 1, 128,
                         matches_version,
                         "must be the tag of an image, or sha256: and 64 hexadecimal digits" },
    [FORMAT_REPOSITORY] = { "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/" PATTERN_PATH ")*$", 1,
                            255, matches_repository,
                            "must be a registry and path without scheme or tag, such as "
                            "\"nvcr.io/nvidia\"" },
    [FORMAT_IMAGE] = { "^" PATTERN_PATH "(/" PATTERN_PATH ")*$", 1, 255, matches_path,
                       "must be the name of an image without registry or tag, such as "
                       "\"driver\"" },
    [FORMAT_VARIABLE] = { "^[A-Za-z_][A-Za-z0-9_]{0,127}$", 1, 128, matches_variable,
                          "must be the name of a variable: letters, digits and \"_\", not "
                          "beginning with a digit" },
    [FORMAT_DATA_KEY] = { "^[A-Za-z0-9._-]{1,253}$", 1, 253, matches_data_key,
                          "must be a key of a ConfigMap: letters, digits, \"-\", \"_\" and \".\"" },
    [FORMAT_DURATION] = { "^(0|([0-9]{1,6}(h|m|s|ms))+)$", 0, 32, matches_duration,
                          "must be a duration, such as \"30m\" or \"1h30m\"" },
    [FORMAT_PERCENT] = { "^([1-9][0-9]?|100)%$", 0, 4, matches_percent,
                         "must be a percentage from 1% to 100%" },
    [FORMAT_QUANTITY] = { "^([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,"
                          "2})?$",
                          0, 32, matches_quantity,
                          "must be a quantity, such as \"500m\" or \"128Mi\"" },
    [FORMAT_INSTALL_DIR] = { "^(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/nvidia$", 1, 255,
                             matches_install_dir, "must be an absolute path that ends in /nvidia" },
    [FORMAT_PROFILE] = { "^" PATTERN_FILE "(/" PATTERN_FILE ")*$", 1, 255, matches_relative_path,
                         "must be the path of a file below the kubelet's folder seccomp, such as "
                         "\"profiles/ostler-node.json\"" },
    [FORMAT_SCHEDULE] = { "^" PATTERN_SCHEDULE "$", 1, 100, matches_schedule,
                          "must be a cron schedule of five fields in numbers, such as "
                          "\"0 2 * * 6\"" },
    [FORMAT_TIME_ZONE] = { "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$", 1, 64, matches_time_zone,
                           "must be the IANA name of a time zone, such as \"Asia/Tokyo\"" },
};

const struct policy_format_info *policy_format(enum policy_format format)
{
    return &formats[format];
}

/* Characters as the API server counts them: without continuation bytes. */
static size_t count_characters(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char) *s & 0xC0) != 0x80;
    return n;
}

bool policy_format_matches(enum policy_format format, const char *s)
{
    const struct policy_format_info *f = policy_format(format);
    size_t n = count_characters(s);
    return n >= f->min_length && n <= f->max_length && (!f->matches || f->matches(s));
}
