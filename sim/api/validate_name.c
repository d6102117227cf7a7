/* Validation of names, and of keys and values of labels. */
#include "sim/api/validate.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { SUBDOMAIN_MAX = 253, LABEL_MAX = 63, PORT_NAME_MAX = 15 };

#define SUBDOMAIN_RULE                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end "                                                                 \
    "with an "                                                                                     \
    "alphanumeric character (e.g. 'example.com', regex used for validation is "                    \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL_RULE                                                                                 \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "   \
    "must start and end with an "                                                                  \
    "alphanumeric "                                                                                \
    "character (e.g. 'my-name',  or '123-abc', regex used for validation is "                      \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define QUALIFIED_RULE                                                                             \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "    \
    "alphanumeric character (e.g. "                                                                \
    "'MyName',  "                                                                                  \
    "or 'my.name',  or '123-abc', regex used for validation is "                                   \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE                                                                                 \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with "                                                            \
    "an "                                                                                          \
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "         \
    "validation is "                                                                               \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* n characters of a kind or in `inner`, with one of the kind at both ends. */
static bool is_made_of(const char *s, size_t n, bool (*is_kind)(char), const char *inner)
{
    if (n == 0 || !is_kind(s[0]) || !is_kind(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_kind(s[i]) && !strchr(inner, s[i]))
            return false;
    return true;
}

/* n characters that may be one part between dots. */
static bool is_label_part(const char *s, size_t n)
{
    return is_made_of(s, n, is_lower_alnum, "-");
}

static bool is_subdomain(const char *s, size_t n)
{
    for (const char *end = s + n;; s++) {
        const char *dot = memchr(s, '.', (size_t) (end - s));
        size_t part = (size_t) ((dot ? dot : end) - s);
        if (!is_label_part(s, part))
            return false;
        if (!dot)
            return true;
        s = dot;
    }
}

bool validate_is_word(const char *s, size_t n)
{
    return is_made_of(s, n, is_alnum, "-_.");
}

void validate_subdomain(const char *name, const struct spot *at, struct refusal *r)
{
    size_t n = strlen(name);
    if (n > SUBDOMAIN_MAX)
        spot_invalid_text(r, at, name, "must be no more than %d characters", SUBDOMAIN_MAX);
    if (!is_subdomain(name, n))
        spot_invalid_text(r, at, name, "%s", SUBDOMAIN_RULE);
}

void validate_dns_label(const char *name, bool undotted, const struct spot *at, struct refusal *r)
{
    size_t n = strlen(name);
    if (n > LABEL_MAX)
        spot_invalid_text(r, at, name, "must be no more than %d bytes", LABEL_MAX);
    if (undotted && strchr(name, '.') && is_subdomain(name, n))
        spot_invalid_text(r, at, name, "must not contain dots");
    else if (!is_label_part(name, n))
        spot_invalid_text(r, at, name, "%s", LABEL_RULE);
}

void validate_qualified_name(const char *name, const struct spot *at, struct refusal *r)
{
    const char *slash = strchr(name, '/');
    if (slash && strchr(slash + 1, '/')) {
        spot_invalid_text(r, at, name,
                          "a valid label key %s with an optional DNS subdomain prefix and '/' "
                          "(e.g. 'example.com/MyName')",
                          QUALIFIED_RULE);
        return;
    }
    size_t prefix = slash ? (size_t) (slash - name) : 0;
    if (slash && prefix == 0)
        spot_invalid_text(r, at, name, "prefix part must be non-empty");
    else if (slash && prefix > SUBDOMAIN_MAX)
        spot_invalid_text(r, at, name, "prefix part must be no more than %d bytes", SUBDOMAIN_MAX);
    else if (slash && !is_subdomain(name, prefix))
        spot_invalid_text(r, at, name, "prefix part %s", SUBDOMAIN_RULE);
    const char *own = slash ? slash + 1 : name;
    size_t n = strlen(own);
    if (n == 0)
        spot_invalid_text(r, at, name, "name part must be non-empty");
    else if (n > LABEL_MAX)
        spot_invalid_text(r, at, name, "name part must be no more than %d bytes", LABEL_MAX);
    if (!validate_is_word(own, n))
        spot_invalid_text(r, at, name, "name part %s", QUALIFIED_RULE);
}

void validate_label_value(const char *value, const struct spot *at, struct refusal *r)
{
    size_t n = strlen(value);
    if (n > LABEL_MAX)
        spot_invalid_text(r, at, value, "must be no more than %d bytes", LABEL_MAX);
    if (n > 0 && !validate_is_word(value, n))
        spot_invalid_text(r, at, value, "%s", VALUE_RULE);
}

void validate_port_name(const char *name, const struct spot *at, struct refusal *r)
{
    size_t n = strlen(name);
    bool letter = false, known = true;
    for (size_t i = 0; i < n; i++) {
        letter = letter || (name[i] >= 'a' && name[i] <= 'z');
        known = known && (is_lower_alnum(name[i]) || name[i] == '-');
    }
    if (n > PORT_NAME_MAX)
        spot_invalid_text(r, at, name, "must be no more than %d characters", PORT_NAME_MAX);
    if (!known)
        spot_invalid_text(r, at, name,
                          "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!letter)
        spot_invalid_text(r, at, name, "must contain at least one letter (a-z)");
    if (strstr(name, "--"))
        spot_invalid_text(r, at, name, "must not contain consecutive hyphens");
    if (n > 0 && (name[0] == '-' || name[n - 1] == '-'))
        spot_invalid_text(r, at, name, "must not begin or end with a hyphen");
}
