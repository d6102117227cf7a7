#include "reconcilers/view/scrub.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "reconcilers/model/names.h"

enum {
    TEXT_ROOM = 64 << 20,
    TOKEN_MIN = 20,
    SHORT_MIN = 6,
    WORD_MAX = 256,
    LOGIN_MAX = 512,
    PEM_LINE = 64
};

#define URL_SAFE "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."

/* ---- names of secrets */

/* The name in the style of a variable. */
static void to_upper(const char *name, size_t len, char upper[static WORD_MAX + 1])
{
    size_t n = len < WORD_MAX ? len : WORD_MAX;
    for (size_t i = 0; i < n; i++)
        upper[i] = name[i] == '-' ? '_' : (char) toupper((unsigned char) name[i]);
    upper[n] = '\0';
}

static bool has_word(const char *name, size_t len, const char *const *words, size_t count)
{
    char upper[WORD_MAX + 1];
    to_upper(name, len, upper);
    for (size_t i = 0; i < count; i++)
        if (strstr(upper, words[i]))
            return true;
    return false;
}

static bool has_end(const char *name, size_t len, const char *const *ends, size_t count)
{
    char upper[WORD_MAX + 1];
    to_upper(name, len, upper);
    for (size_t i = 0; i < count; i++)
        if (str_has_suffix(upper, ends[i]))
            return true;
    return false;
}

/* Short words count only at the end of a name, as in "DB_PASS"; "PWD" alone is a directory. */
static bool ends_in_secret(const char *name, size_t len)
{
    static const char *const ends[] = { "_PASS", "_PWD", "_PW", "_AUTH" };
    return has_end(name, len, ends, ARRAY_LEN(ends)) ||
           (len == 4 && strncasecmp(name, "pass", len) == 0) ||
           (len == 2 && strncasecmp(name, "pw", len) == 0);
}

/* Names that occur only before a value. */
static bool is_sure_name(const char *name, size_t len)
{
    static const char *const words[] = { "PASSWORD",      "PASSWD",      "PASSPHRASE",
                                         "TOKEN",         "APIKEY",      "API_KEY",
                                         "ACCESSKEY",     "ACCESS_KEY",  "PRIVATE_KEY",
                                         "PRIVATEKEY",    "LICENSE_KEY", "ENCRYPTION_KEY",
                                         "ACCOUNTKEY",    "ACCOUNT_KEY", "CLIENT_KEY",
                                         "AUTHORIZATION", "COOKIE" };
    return has_word(name, len, words, ARRAY_LEN(words));
}

/* Also names that are normal words: "secret: not found". */
static bool is_secret_name(const char *name, size_t len)
{
    static const char *const words[] = { "SECRET", "CREDENTIAL", "SIGNATURE" };
    bool auth = len == 4 && strncasecmp(name, "auth", len) == 0; /* in Docker's configuration */
    bool sig = len == 3 && strncasecmp(name, "sig", len) == 0;   /* in signed URLs */
    return auth || sig || is_sure_name(name, len) || ends_in_secret(name, len) ||
           has_word(name, len, words, ARRAY_LEN(words));
}

/* Whether the name is not a normal word: it has an underscore or is in capitals. */
static bool is_identifier(const char *name, size_t len)
{
    size_t i = 0;
    while (i < len && !islower((unsigned char) name[i]))
        i++;
    return i == len || memchr(name, '_', len);
}

/* ---- texts */

/* At s, `stays` bytes to keep and then `masked` bytes of a secret. */
struct find {
    size_t stays, masked;
};

/* The "@" after a user and a password, which may contain anything but blanks and double quotes;
 * NULL: none. If the "@" is in a path, at most a port precedes the path. */
static const char *login_end(const char *s, size_t len)
{
    const char *at = memrchr(s, '@', len), *path = memchr(s, '/', len);
    if (!at || !path || memchr(s, '@', (size_t) (path - s)))
        return at;
    const char *colon = memrchr(s, ':', (size_t) (path - s));
    bool port = !colon || colon + 1 + strspn(colon + 1, "0123456789") == path;
    return port ? NULL : at;
}

/* The most bytes of a login that has so many known ones. The bound keeps hostile texts fast. */
static size_t login_room(const char *s, size_t len)
{
    while (len < LOGIN_MAX && s[len] && !strchr(" \t\r\n\"", s[len]))
        len++;
    return len;
}

/* "://user:password@" */
static struct find in_url(const char *s)
{
    if (!str_has_prefix(s, "://"))
        return (struct find){ 0 };
    s += 3;
    const char *at = login_end(s, login_room(s, 0));
    return (struct find){ 3, at ? (size_t) (at - s) : 0 };
}

/* "user:password@host", as in proxies without a scheme. An image with a digest looks the same. */
static struct find in_login(const char *s)
{
    /* Checked first, to keep hostile texts fast. */
    if (!memchr(s, ':', strnlen(s, LOGIN_MAX)))
        return (struct find){ 0 };
    size_t user = strspn(s, URL_SAFE "%+\\");
    if (user == 0 || s[user] != ':' || s[user + 1] == '/')
        return (struct find){ 0 };
    const char *at = login_end(s, login_room(s, user));
    bool host = at && at > s + user + 1 && isalnum((unsigned char) at[1]);
    bool digest = host && (str_has_prefix(at + 1, "sha256:") || str_has_prefix(at + 1, "sha512:"));
    return (struct find){ 0, host && !digest ? (size_t) (at - s) : 0 };
}

/* Length of a word that names the kind of the following secret, with its blanks; 0: none. */
static size_t scheme_at(const char *s, bool alone)
{
    static const struct scheme {
        const char *word;
        bool alone; /* also without "Authorization" before it, since no sentence has it */
    } schemes[] = { { "Bearer", true },
                    { "Basic", true },
                    { "Token", false },
                    { "ApiKey", false },
                    { "Negotiate", false } };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t n = strlen(schemes[i].word);
        if ((schemes[i].alone || !alone) && strncasecmp(s, schemes[i].word, n) == 0 && s[n] == ' ')
            return n + strspn(s + n, " ");
    }
    return 0;
}

/* Kinds whose secret is one of several parameters, to the end of the line. */
static bool has_parameters(const char *value)
{
    static const char *const schemes[] = { "Digest ", "AWS4-" };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

static struct find in_header(const char *s)
{
    size_t n = scheme_at(s, true), len = n ? strcspn(s + n, " \t\r\n\"',") : 0;
    return (struct find){ n, len >= 6 ? len : 0 };
}

/* Kubernetes names have no capitals. */
static bool has_capital(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (isupper((unsigned char) s[i]))
            return true;
    return false;
}

/* Secrets with a known prefix: those of gitleaks (config/gitleaks.toml of
 * github.com/gitleaks/gitleaks at 009e025ad410), and NVIDIA's, Docker's (dckr_pat_) and Google's
 * (AIza). A log may cut a secret, so any length from TOKEN_MIN counts. is_secret_name() has
 * gitleaks' rules for the name before a secret. */
static const char *const sure_tokens[] = { "eyJ",         "ops_eyJ",      "nvapi-",
                                           "dckr_pat_",   "ghp_",         "gho_",
                                           "ghs_",        "ghu_",         "ghr_",
                                           "github_pat_", "glpat-",       "glptt-",
                                           "glrt-",       "gldt-",        "glcbt-",
                                           "glft-",       "glimt-",       "glffct-",
                                           "glagent-",    "gloas-",       "glsoat-",
                                           "GR1348941",   "AKIA",         "ASIA",
                                           "ABIA",        "ACCA",         "AIza",
                                           "LTAI",        "xoxb-",        "xoxp-",
                                           "xoxa-",       "xoxe-",        "xoxe.",
                                           "xoxo-",       "xoxr-",        "xoxs-",
                                           "xapp-",       "rubygems_",    "SG.",
                                           "xkeysib-",    "PMAK-",        "dop_v1_",
                                           "doo_v1_",     "dor_v1_",      "dt0c01.",
                                           "glsa_",       "pscale_tkn_",  "pscale_oauth_",
                                           "pscale_pw_",  "sntrys_",      "sntryu_",
                                           "shpat_",      "shpca_",       "shppa_",
                                           "shpss_",      "shippo_",      "sk_live_",
                                           "sk_test_",    "sk_prod_",     "rk_live_",
                                           "rk_test_",    "rk_prod_",     "AGE-SECRET-KEY-1",
                                           "ATATT3",      "AKCp",         "HRKU-AA",
                                           "NRAK-",       "NRII-",        "NRJS-",
                                           "rdme_",       "sgp_",         "sq0atp-",
                                           "sm_aat_",     "sm_pat_",      "sm_sat_",
                                           "tfp_",        "lin_api_",     "pplx-",
                                           "sha256~",     "duffel_live_", "duffel_test_",
                                           "CLOJARS_" };
/* These may begin a normal word: they count only at the start of a word with capitals. */
static const char *const plain_tokens[] = { "hf_",  "api_org_", "npm_", "pypi-", "glc_",  "pnu_",
                                            "ntn_", "sk-",      "hvs.", "hvb.",  "dp.pt." };

/* Length of a token at s with one of these prefixes; 0: none. *ret_prefix is the prefix's length.
 */
static size_t token_at(const char *s, const char *const *prefixes, size_t count, size_t *ret_prefix)
{
    for (size_t i = 0; i < count; i++) {
        size_t prefix = strlen(prefixes[i]);
        bool begins = prefixes[i][0] == *s && str_has_prefix(s, prefixes[i]);
        size_t len = begins ? prefix + strspn(s + prefix, URL_SAFE) : 0;
        *ret_prefix = prefix;
        if (len >= TOKEN_MIN)
            return len;
    }
    return 0;
}

static struct find in_token(const char *s, bool begins_word)
{
    size_t prefix, len = token_at(s, sure_tokens, ARRAY_LEN(sure_tokens), &prefix);
    if (len == 0 && begins_word) {
        len = token_at(s, plain_tokens, ARRAY_LEN(plain_tokens), &prefix);
        len = len && has_capital(s + prefix, len - prefix) ? len : 0;
    }
    return (struct find){ 0, len };
}

/* "-phunter2", the password option of database clients: letters and digits, unlike a port and
 * most options. */
static struct find in_short_option(const char *s)
{
    size_t len = str_has_prefix(s, "-p") ? strcspn(s + 2, " \t\r\n\"',") : 0, letters = 0,
           digits = 0, others = 0;
    for (size_t i = 2; i < 2 + len; i++) {
        letters += isalpha((unsigned char) s[i]) != 0;
        digits += isdigit((unsigned char) s[i]) != 0;
        others += strchr("=:/", s[i]) != NULL;
    }
    return (struct find){ 2, len >= SHORT_MIN && letters && digits && !others ? len : 0 };
}

static struct find in_pem(const char *s)
{
    static const char ends[] = "-----END";
    if (!str_has_prefix(s, "-----BEGIN"))
        return (struct find){ 0 };
    const char *private = memmem(s, strnlen(s, PEM_LINE), "PRIVATE KEY", strlen("PRIVATE KEY"));
    if (!private || memchr(s, '\n', (size_t) (private - s)))
        return (struct find){ 0 };
    const char *end = strstr(s, ends);
    return (struct find){ 0, end ? (size_t) (end - s) + sizeof ends - 1 : strlen(s) };
}

/* A name and its value. */
struct pair {
    size_t name;  /* length of the name */
    bool named;   /* the name is in quotes */
    char sign;    /* between them: '=', ':', ',', ' '; or '\0': no value */
    size_t value; /* where the value begins, after its quote */
    size_t quote; /* length of the quote; 0: none */
};

/* Length of a quote; JSON within JSON has a backslash. */
static size_t quote_at(const char *s)
{
    size_t escaped = *s == '\\';
    return s[escaped] == '"' || s[escaped] == '\'' ? escaped + 1 : 0;
}

static struct pair read_pair(const char *s)
{
    struct pair p = { .name = strspn(s, URL_SAFE) };
    if (p.name == 0)
        return p;
    size_t quote = quote_at(s + p.name), at = p.name + quote, gap = strspn(s + at, " \t");
    at += gap;
    bool has_sign = s[at] && strchr("=:,", s[at]);
    p.named = quote > 0;
    p.sign = has_sign ? s[at] : gap ? ' ' : '\0';
    at += has_sign;
    /* "PASSWORD= NEXT=x" has no value. */
    at += p.sign != '=' || gap ? strspn(s + at, " \t") : 0;
    at += p.sign == ':' && s[at] == '[';
    p.quote = quote_at(s + at);
    p.value = at + p.quote;
    return p;
}

/* Whether this is an option ("--verbose", "-v"), not the value of the option before it. Secrets
 * may begin with a dash, too. */
static bool is_other_option(const char *s)
{
    size_t dashes = strspn(s, "-"),
           len = strspn(s + dashes, "abcdefghijklmnopqrstuvwxyz0123456789-");
    bool ends = !s[dashes + len] || strchr("= \t\r\n\"',", s[dashes + len]);
    return (dashes == 1 && len == 1 && ends) ||
           (dashes == 2 && islower((unsigned char) s[2]) && ends);
}

static bool is_secret_pair(const char *s, const struct pair *p)
{
    bool quoted = p->named && p->quote, option = *s == '-' && !is_other_option(s + p->value);
    switch (p->sign) {
    case '=':
        return is_secret_name(s, p->name);
    case ':':
        return is_sure_name(s, p->name) ||
               ((quoted || is_identifier(s, p->name)) && is_secret_name(s, p->name));
    case ',':
        return option && quoted && is_secret_name(s, p->name);
    case ' ':
        return (option && is_secret_name(s, p->name)) ||
               (strncasecmp(s, "X-", 2) == 0 && is_sure_name(s, p->name));
    default:
        return false;
    }
}

/* Up to the closing quote. Without one, a word with any characters, except some at its end. */
static size_t value_len(const char *value, size_t quote)
{
    if (quote == 0) {
        size_t n = scheme_at(value, false), len = n + strcspn(value + n, " \t\r\n\"");
        while (len > n && strchr("',;&})]\\", value[len - 1]))
            len--;
        return len;
    }
    const char mark = value[-1], ends[] = { mark, quote == 1 ? '\\' : '\n', '\n', '\0' };
    size_t n = strcspn(value, ends);
    /* A quote inside has a backslash; YAML doubles single quotes. */
    while (
        quote == 1 && value[n] &&
        ((value[n] == '\\' && value[n + 1]) || (mark == '\'' && str_has_prefix(value + n, "''"))))
        n += 2 + strcspn(value + n + 2, ends);
    return n - (quote == 2 && n > 0 && value[n - 1] == '\\');
}

/* "password=x", "token: x", "\"apiKey\": \"x\"", "--token x": skips the whole name, to check it
 * once. `alone`: the text is a single value, such as a variable's, so the secret reaches its
 * end. */
static struct find in_pair(const char *s, bool alone)
{
    struct pair p = read_pair(s);
    if (p.name == 0 || !is_secret_pair(s, &p))
        return (struct find){ p.name, 0 };
    if (alone && p.sign == '=')
        return (struct find){ p.value, strlen(s + p.value) };
    bool plain = p.quote == 0 && p.sign == ':';
    if (plain && has_parameters(s + p.value))
        return (struct find){ p.value, strcspn(s + p.value, "\r\n") };
    if (plain && has_word(s, p.name, (const char *const[]){ "COOKIE" }, 1))
        return (struct find){ p.value, strcspn(s + p.value, "\r\n\"'") };
    return (struct find){ p.value, value_len(s + p.value, p.quote) };
}

static struct find scrub_look(const char *s, bool begins_word, bool alone)
{
    struct find (*const ways[])(const char *s) = { in_url, in_header, in_pem };
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct find f = ways[i](s);
        if (f.masked)
            return f;
    }
    struct find f = in_token(s, begins_word);
    if (begins_word && !f.masked)
        f = in_pair(s, alone);
    if (begins_word && !f.masked)
        f = in_short_option(s);
    if (begins_word && !f.masked)
        f = in_login(s);
    return f.masked ? f : (struct find){ 1, 0 };
}

static char *scrub_so(const char *text, bool alone)
{
    struct buf out = BUF_INIT(TEXT_ROOM);
    bool begins_word = true;
    for (const char *s = text; *s;) {
        struct find f = scrub_look(s, begins_word, alone);
        if (!buf_add(&out, s, f.stays))
            break;
        if (f.masked)
            buf_str(&out, SCRUB_MASK);
        s += f.stays + f.masked;
        begins_word = !strchr(URL_SAFE, s[-1]);
    }
    return buf_take(&out);
}

char *scrub_text(const char *text)
{
    return scrub_so(text, false);
}

/* ---- objects */

/* "--name=…", "NAME=…": an argument or a setting, a single value to its end. */
static bool is_setting(const char *text)
{
    size_t name = strspn(text, URL_SAFE);
    return name > 0 && text[name] == '=';
}

/* Names of members that locate or name a secret: "secretName", "tokenPath". */
static bool is_of_secret(const char *key)
{
    static const char *const ends[] = { "NAME", "NAMESPACE", "PATH", "FILE", "REF" };
    return has_end(key, strlen(key), ends, ARRAY_LEN(ends));
}

/* A label's value, such as "secrets-store.csi.k8s.io/managed" has. */
static bool is_switch(const char *value)
{
    return !*value || str_eq(value, "true") || str_eq(value, "false");
}

/* A variable {name, value} of a container or the policy, or a member with such a name. */
static bool is_secret_member(const json_t *object, const char *key, const json_t *member)
{
    const char *name = json_str(object, "name"), *value = json_string_value(member);
    if (!value)
        return false;
    if (str_eq(key, "value") && name)
        return is_secret_name(name, strlen(name));
    return is_secret_name(key, strlen(key)) && !is_of_secret(key) && !is_switch(value);
}

static json_t *scrub_members(const json_t *object)
{
    static const char *const dropped[] = { "managedFields",
                                           "kubectl.kubernetes.io/last-applied-configuration" };
    json_t *copy = json_object();
    JSON_EACH_MEMBER (key, value, object) {
        bool gone = str_eq(key, dropped[0]) || str_eq(key, dropped[1]);
        if (!gone)
            json_object_set_new(copy, key,
                                is_secret_member(object, key, value) ? json_string(SCRUB_MASK)
                                                                     : scrub_object(value));
    }
    return copy;
}

/* "--password", whose value is the next item. */
static bool is_option(const json_t *item)
{
    const char *name = str_or_empty(json_string_value(item));
    return *name == '-' && !strchr(name, '=') && is_secret_name(name, strlen(name));
}

static json_t *scrub_items(const json_t *array)
{
    json_t *copy = json_array();
    JSON_EACH_AT (i, item, array) {
        const char *text = json_string_value(item);
        bool secret = i > 0 && text && is_option(json_array_get(array, i - 1)) &&
                      !is_other_option(text);
        json_array_append_new(copy, secret ? json_string(SCRUB_MASK) : scrub_object(item));
    }
    return copy;
}

json_t *scrub_object(const json_t *value)
{
    if (json_is_object(value))
        return scrub_members(value);
    if (json_is_array(value))
        return scrub_items(value);
    if (!json_is_string(value))
        return json_deep_copy(value);
    const char *whole = json_string_value(value);
    CLEANUP_FREE char *text = scrub_so(whole, is_setting(whole));
    return json_text(text);
}

json_t *scrub_node(const json_t *node)
{
    json_t *copy = scrub_object(node);
    CLEANUP_JSON json_t *kept = json_object();
    JSON_EACH_MEMBER (key, value, json_at(copy, "metadata.annotations"))
        if (str_has_prefix(key, MARK_PREFIX) || vendor_of_key(key))
            json_object_set(kept, key, value);
    json_set_at(copy, "metadata.annotations", json_incref(kept));
    return copy;
}
