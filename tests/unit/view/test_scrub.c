#include "reconcilers/view/scrub.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

static const struct text_row {
    const char *name, *text, *want;
} texts[] = {
    { "nothing secret stays", "driver 580 is up: 8 GPUs", "driver 580 is up: 8 GPUs" },
    { "a password in a URL", "via http://bob:hunter2@proxy:3128/x",
      "via http://(masked)@proxy:3128/x" },
    { "a URL without one stays", "GET https://nvcr.io/v2/ failed",
      "GET https://nvcr.io/v2/ failed" },
    { "an address behind a URL's path stays", "http://a/b@c", "http://a/b@c" },
    { "a bearer token", "Authorization: Bearer abc.def.ghi, so", "Authorization: (masked), so" },
    { "a bearer token alone", "sent Bearer abcdefgh, refused", "sent Bearer (masked), refused" },
    { "a JSON web token", "got eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.x and went on",
      "got (masked) and went on" },
    { "a pair", "--password=hunter2 --verbose=3", "--password=(masked) --verbose=3" },
    { "a pair of JSON", "{\"apiKey\": \"k-1\", \"count\": 3}",
      "{\"apiKey\": \"(masked)\", \"count\": 3}" },
    { "a variable", "NGC_API_KEY=nvapi-123 FOO=bar", "NGC_API_KEY=(masked) FOO=bar" },
    { "a sentence about secrets stays", "secret \"regcred\" not found",
      "secret \"regcred\" not found" },
    { "another one", "secrets: forbidden", "secrets: forbidden" },
    { "a private key", "x -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- y",
      "x (masked) RSA PRIVATE KEY----- y" },
    { "a private key without its end", "-----BEGIN PRIVATE KEY-----\nMIIE", "(masked)" },
    { "a certificate stays", "-----BEGIN CERTIFICATE-----\nMIIE",
      "-----BEGIN CERTIFICATE-----\nMIIE" },
    { "a password in a URL with an at sign", "http://u:p@ss@h:3128/x", "http://(masked)@h:3128/x" },
    { "a password in a URL with a slash", "http://u:p/s@h/x \"b\"", "http://(masked)@h/x \"b\"" },
    { "a port is no password", "http://h:8080/a@b", "http://h:8080/a@b" },
    { "a token as the user of a URL", "https://abc@git.example.com/x",
      "https://(masked)@git.example.com/x" },
    { "two URLs", "http://u:p@h http://a:b@c", "http://(masked)@h http://(masked)@c" },
    { "quotes around a secret", "{\"client_secret\": \"x y\", \"n\": 1}",
      "{\"client_secret\": \"(masked)\", \"n\": 1}" },
    { "a quote within it", "{\"password\": \"x\\\"y\", \"n\": 1}",
      "{\"password\": \"(masked)\", \"n\": 1}" },
    { "JSON within JSON", "{\\\"client_secret\\\": \\\"x y\\\", \\\"n\\\": 1}",
      "{\\\"client_secret\\\": \\\"(masked)\\\", \\\"n\\\": 1}" },
    { "a private key as a member", "'privateKey':'x'", "'privateKey':'(masked)'" },
    { "what Docker calls auth", "{\"auth\": \"dTpw\"}", "{\"auth\": \"(masked)\"}" },
    { "auth in a sentence stays", "auth: failed", "auth: failed" },
    { "a list of secrets", "\"Authorization\": [\"Bearer x\"]",
      "\"Authorization\": [\"(masked)\"]" },
    { "a variable before a colon", "AWS_SECRET_ACCESS_KEY: x y",
      "AWS_SECRET_ACCESS_KEY: (masked) y" },
    { "one in capitals", "JWTSECRET: x", "JWTSECRET: (masked)" },
    { "a name of a configuration", "client_secret: x", "client_secret: (masked)" },
    { "a name in a sentence stays", "\"ngc-secret\": not found", "\"ngc-secret\": not found" },
    { "a Secret's name stays", "secret: \"regcred\" not found", "secret: \"regcred\" not found" },
    { "a quote without its end", "PASSWORD=\"x\nnext", "PASSWORD=\"(masked)\nnext" },
    { "TOML", "password = \"x\"", "password = \"(masked)\"" },
    { "an empty value", "PASSWORD= FOO=bar", "PASSWORD= FOO=bar" },
    { "an argument and its value", "run --token x -v", "run --token (masked) -v" },
    { "the same as a list", "[\"--password\",\"x\", \"-v\"]",
      "[\"--password\",\"(masked)\", \"-v\"]" },
    { "an argument without a value", "run --token -v", "run --token -v" },
    { "an argument in a sentence stays", "without --token, it fails", "without --token, it fails" },
    { "a token in a sentence stays", "the token expired", "the token expired" },
    { "another scheme", "Authorization: token ab", "Authorization: (masked)" },
    { "a key of NVIDIA's", "sent nvapi-abcdefghijklmn_op, so", "sent (masked), so" },
    { "a token of GitHub's", "ghp_abcdefghijklmnop1234", "(masked)" },
    { "a key of AWS's", "id AKIAIOSFODNN7EXAMPLE", "id (masked)" },
    { "a word that begins like a key", "nvapi-x and AKIA", "nvapi-x and AKIA" },
    { "a proxy without a scheme", "HTTPS_PROXY=user:pw@proxy:3128 x",
      "HTTPS_PROXY=(masked)@proxy:3128 x" },
    { "the same alone", "user:p@w@10.0.0.1:3128", "(masked)@10.0.0.1:3128" },
    { "one of a domain of Windows", "via corp\\bob:x@proxy", "via (masked)@proxy" },
    { "an image with its digest stays", "nvcr.io/nvidia/driver:580@sha256:ab driver:580@sha256:cd",
      "nvcr.io/nvidia/driver:580@sha256:ab driver:580@sha256:cd" },
    { "an address of mail stays", "by ann@example.com, note: ann@example.com",
      "by ann@example.com, note: ann@example.com" },
    { "a name that ends with what it is", "DB_PASS=a db-pwd=b REDIS_AUTH=c PASS=d",
      "DB_PASS=(masked) db-pwd=(masked) "
      "REDIS_AUTH=(masked) PASS=(masked)" },
    { "a folder stays", "PWD=/root BYPASS=1 AUTHOR=x", "PWD=/root BYPASS=1 AUTHOR=x" },
    { "a cookie", "Set-Cookie: a=b; c=d\nSESSION_COOKIE=x y",
      "Set-Cookie: (masked)\nSESSION_COOKIE=(masked) y" },
    { "a password with signs", "--password=hunter,2secret -v", "--password=(masked) -v" },
    { "one with all of them", "DB_PASSWORD=ab&cd;ef}gh FOO=x", "DB_PASSWORD=(masked) FOO=x" },
    { "one with an apostrophe", "password=it's-me, so", "password=(masked), so" },
    { "signs behind a password stay", "{'--password=x', (token=y)}",
      "{'--password=(masked)', (token=(masked))}" },
    { "a quote in YAML", "password: 'it''s x' y", "password: '(masked)' y" },
    { "an empty value in quotes", "password: '', x", "password: '', x" },
    { "an argument that begins with a dash", "run --token -abc123 -v", "run --token (masked) -v" },
    { "an argument before another one", "run --token --verbose=3", "run --token --verbose=3" },
    { "a login with an apostrophe", "via http://user:pa'ss@proxy:3128, so",
      "via http://(masked)@proxy:3128, so" },
    { "a login with a comma", "HTTP_PROXY=user:pa,ss@proxy:3128",
      "HTTP_PROXY=(masked)@proxy:3128" },
    { "a login with a semicolon", "via bob:p;w@proxy:3128", "via (masked)@proxy:3128" },
    { "URLs in quotes stay", "'http://a/x' and 'ann@b'", "'http://a/x' and 'ann@b'" },
    { "a token of GitLab's", "glpat-abcdefghijklmnopqrst", "(masked)" },
    { "a scheme with parameters", "Authorization: Digest user=\"x\", response=\"ab\"\nb",
      "Authorization: (masked)\nb" },
    { "a URL that is signed",
      "GET https://x/a?sv=1&sig=abc%3D and https://x/?X-Amz-Signature=fe5f, so",
      "GET https://x/a?sv=1&sig=(masked) and https://x/?X-Amz-Signature=(masked), so" },
    { "a sentence about a signature stays", "signature: not valid", "signature: not valid" },
    { "other keys", "ENCRYPTION_KEY=abc client-key-data: LS0t",
      "ENCRYPTION_KEY=(masked) client-key-data: (masked)" },
    { "a token of Docker's", "login dckr_pat_AbCdEfGhIjKlMnOpQrStUvWxYz0 ok", "login (masked) ok" },
    { "a token of Vault's", "X hvs.CAESIAbcdefghijklmnop0123 y", "X (masked) y" },
    { "a key of OpenAI's", "key sk-proj-AbCdEfGhIjKlMnOpQrSt, so", "key (masked), so" },
    { "a key of SendGrid's", "SG.abcdefghijklmnop.qrstuvwxyz", "(masked)" },
    { "a header without a colon", "sent X-Auth-Token abc to it",
      "sent X-Auth-Token (masked) to it" },
    { "a short name", "host=db pw=hunter2 db_pw=x", "host=db pw=(masked) db_pw=(masked)" },
    { "a password behind its option", "mysql -uroot -phunter2 -h db",
      "mysql -uroot -p(masked) -h db" },
    { "options that begin so stay", "find . -print -path /a1 -port=8080 -p 8080 -p8080:80 -p x",
      "find . -print -path /a1 -port=8080 -p 8080 -p8080:80 -p x" },
    { "uids, digests and names stay",
      "pod 8f1c2a34-5b6d-4e7f-8a90-1b2c3d4e5f60 on sk-seoul-gpu-worker-000001 runs "
      "a@sha256:0123456789abcdef0123456789abcdef, task-0123456789abcdefgh",
      "pod 8f1c2a34-5b6d-4e7f-8a90-1b2c3d4e5f60 on sk-seoul-gpu-worker-000001 runs "
      "a@sha256:0123456789abcdef0123456789abcdef, task-0123456789abcdefgh" },
    { "settings of npm stay", "npm_config_registry_timeout is unset",
      "npm_config_registry_timeout is unset" },
    { "hosts stay", "hvs.example.internal.cluster.local and hf.example.com",
      "hvs.example.internal.cluster.local and hf.example.com" },
    { "nothing", "", "" },
};

/* As gitleaks has them (config/gitleaks.toml at 009e025ad410), and those that the comment in
 * scrub.c names. */
static const char *const prefixes[] = {
    "eyJ",           "ops_eyJ",     "nvapi-",       "dckr_pat_",
    "ghp_",          "gho_",        "ghs_",         "ghu_",
    "ghr_",          "github_pat_", "glpat-",       "glptt-",
    "glrt-",         "gldt-",       "glcbt-",       "glft-",
    "glimt-",        "glffct-",     "glagent-",     "gloas-",
    "glsoat-",       "GR1348941",   "AKIA",         "ASIA",
    "ABIA",          "ACCA",        "AIza",         "LTAI",
    "hf_",           "api_org_",    "xoxb-",        "xoxp-",
    "xoxa-",         "xoxe-",       "xoxe.",        "xoxo-",
    "xoxr-",         "xoxs-",       "xapp-",        "npm_",
    "pypi-",         "rubygems_",   "SG.",          "xkeysib-",
    "PMAK-",         "dop_v1_",     "doo_v1_",      "dor_v1_",
    "dt0c01.",       "glc_",        "glsa_",        "pscale_tkn_",
    "pscale_oauth_", "pscale_pw_",  "sntrys_",      "sntryu_",
    "shpat_",        "shpca_",      "shppa_",       "shpss_",
    "shippo_",       "sk_live_",    "sk_test_",     "sk_prod_",
    "rk_live_",      "rk_test_",    "rk_prod_",     "AGE-SECRET-KEY-1",
    "ATATT3",        "AKCp",        "HRKU-AA",      "NRAK-",
    "NRII-",         "NRJS-",       "pnu_",         "rdme_",
    "sgp_",          "sq0atp-",     "sm_aat_",      "sm_pat_",
    "sm_sat_",       "tfp_",        "lin_api_",     "ntn_",
    "pplx-",         "sha256~",     "duffel_live_", "duffel_test_",
    "CLOJARS_",      "sk-",         "hvs.",         "hvb.",
    "dp.pt.",
};

static void check_prefixes(void **state)
{
    (void) state;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        CLEANUP_FREE char *text = xasprintf("got %sAbCd0123efGh4567ijKl, so", prefixes[i]);
        CLEANUP_FREE char *got = scrub_text(text);
        assert_string_equal(got, "got (masked), so");
    }
}

static void check_text(void **state)
{
    const struct text_row *row = *state;
    CLEANUP_FREE char *got = scrub_text(row->text);
    assert_string_equal(got, row->want);
}

static const struct object_row {
    const char *name, *object, *want;
} objects[] = {
    { "a variable with the name of a secret",
      "{'env': [{'name': 'NGC_API_KEY', 'value': 'x'}, {'name': 'MODE', 'value': 'x'}]}",
      "{'env': [{'name': 'NGC_API_KEY', 'value': '(masked)'}, {'name': 'MODE', 'value': 'x'}]}" },
    { "a proxy's password", "{'env': [{'name': 'HTTPS_PROXY', 'value': 'http://u:p@h'}]}",
      "{'env': [{'name': 'HTTPS_PROXY', 'value': 'http://(masked)@h'}]}" },
    { "a proxy's password without a scheme",
      "{'env': [{'name': 'HTTPS_PROXY', 'value': 'u:p@h:3128'}]}",
      "{'env': [{'name': 'HTTPS_PROXY', 'value': '(masked)@h:3128'}]}" },
    { "a variable that ends with what it is", "{'env': [{'name': 'DB_PASS', 'value': 'x'}]}",
      "{'env': [{'name': 'DB_PASS', 'value': '(masked)'}]}" },
    { "an argument", "{'args': ['--token=abc', '-v']}", "{'args': ['--token=(masked)', '-v']}" },
    { "an argument and its value", "{'args': ['--password', 'x', '--token', '-v', 'x']}",
      "{'args': ['--password', '(masked)', '--token', '-v', 'x']}" },
    { "a value that begins with a dash",
      "{'args': ['--token', '-abc123', '--password', '--Xy z', '--token', '--verbose=3']}",
      "{'args': ['--token', '(masked)', '--password', '(masked)', '--token', '--verbose=3']}" },
    { "an argument has its own end",
      "{'args': ['--password=hunter,2 secret', 'DB_PASSWORD=ab&cd;ef}gh \\u0022x\\u0022', '-v']}",
      "{'args': ['--password=(masked)', 'DB_PASSWORD=(masked)', '-v']}" },
    { "and so has a setting",
      "{'env': [{'name': 'DSN', 'value': 'host=db password=a b,c'}, {'name': 'A', 'value': 'x=1 "
      "y=2'}]}",
      "{'env': [{'name': 'DSN', 'value': 'host=db password=(masked)'}, {'name': 'A', 'value': 'x=1 "
      "y=2'}]}" },
    { "a script goes on behind a secret",
      "{'args': ['export PASSWORD=\\u0022a b\\u0022; run --api-key=k,1 --fast']}",
      "{'args': ['export PASSWORD=\\u0022(masked)\\u0022; run --api-key=(masked) --fast']}" },
    { "a login with any sign",
      "{'a': ['http://user:pa\\u0027ss@proxy:3128', 'http://u:p,w;x@h', 'bob:p;w@proxy:3128']}",
      "{'a': ['http://(masked)@proxy:3128', 'http://(masked)@h', '(masked)@proxy:3128']}" },
    { "an annotation that is called so",
      "{'annotations': {'example.com/password': 'a', 'example.com/api-token': 'b', 'c': 'd'}}",
      "{'annotations': {'example.com/password': '(masked)', 'example.com/api-token': '(masked)', "
      "'c': 'd'}}" },
    { "attributes of a volume",
      "{'volumeAttributes': {'accessKey': 'a', 'clientSecret': 'b', 'apiKey': 'c', 'size': '1'}}",
      "{'volumeAttributes': {'accessKey': '(masked)', 'clientSecret': '(masked)', 'apiKey': "
      "'(masked)', 'size': '1'}}" },
    { "ordinary labels stay",
      "{'labels': {'app': 'token-server', 'secrets-store.csi.k8s.io/managed': 'true', "
      "'nvidia.com/gpu.product': 'A=B'}}",
      "{'labels': {'app': 'token-server', 'secrets-store.csi.k8s.io/managed': 'true', "
      "'nvidia.com/gpu.product': 'A=B'}}" },
    { "where secrets are stays",
      "{'secretKeyRef': {'name': 'ngc', 'key': 'token'}, 'tokenPath': '/a', 'serviceAccountToken': "
      "{'path': 'a', 'n': 3607}}",
      "{'secretKeyRef': {'name': 'ngc', 'key': 'token'}, 'tokenPath': '/a', 'serviceAccountToken': "
      "{'path': 'a', 'n': 3607}}" },
    { "sentences stay",
      "{'message': '2 of 3 pods are up; it waits for a/b (Job), "
      "nvcr.io/nvidia/driver:580@sha256:ab'}",
      "{'message': '2 of 3 pods are up; it waits for a/b (Job), "
      "nvcr.io/nvidia/driver:580@sha256:ab'}" },
    { "other arguments stay", "{'args': ['token', 'x', '--token=x', 'y']}",
      "{'args': ['token', 'x', '--token=(masked)', 'y']}" },
    { "names of Secrets stay", "{'imagePullSecrets': [{'name': 'regcred'}], 'secretName': 'a'}",
      "{'imagePullSecrets': [{'name': 'regcred'}], 'secretName': 'a'}" },
    { "a password anywhere", "{'a': {'password': 'x', 'token': 'y', 'n': 1}}",
      "{'a': {'password': '(masked)', 'token': '(masked)', 'n': 1}}" },
    { "managedFields and what was last applied go",
      "{'metadata': {'managedFields': [1], 'annotations': "
      "{'kubectl.kubernetes.io/last-applied-configuration': 'x', 'a': 'b'}}}",
      "{'metadata': {'annotations': {'a': 'b'}}}" },
};

static void check_object(void **state)
{
    const struct object_row *row = *state;
    CLEANUP_JSON json_t *object = tree(row->object), *got = scrub_object(object);
    assert_tree(got, row->want);
}

static void check_node(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *node = tree(
        "{'metadata': {'annotations': {'ostler.dev/claim': 'c', 'csi.example.com/id': 'x'}}}");
    CLEANUP_JSON json_t *got = scrub_node(node);
    assert_tree(got, "{'metadata': {'annotations': {'ostler.dev/claim': 'c'}}}");
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "each prefix of a scanner's list", check_prefixes, NULL);
    SUITE_ROWS(&s, check_text, texts);
    SUITE_ROWS(&s, check_object, objects);
    suite_add(&s, "of a node's annotations only Ostler's and NVIDIA's stay", check_node, NULL);
    return suite_run(&s, "scrub");
}
