#include "client/config_load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "client/base64.h"
#include "client/limits.h"
#include "client/plugin.h"

#define PEM_CERT "-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----"
#define PEM_KEY "-----BEGIN EC PRIVATE KEY-----\nQQ==\n-----END EC PRIVATE KEY-----"
/* base64 of "-----BEGIN CERTIFICATE-----\nother" and of "-----BEGIN PRIVATE KEY-----\n" */
#define BASE64_CERT "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCm90aGVy"
#define BASE64_KEY "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg=="

/* and of PEM_CERT */
#define BASE64_FILE                                                                                \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tClFRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQ=="

static char dir[] = "/tmp/ostler-config-XXXXXX";

static const char *in_dir(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A credential program: what it prints depends on its argument. */
static const char plugin[] =
    "#!/bin/sh\n"
    "token=${TOKEN:-$1} certificate=\n"
    "case $1 in\n"
    "fail) exit 3 ;;\n"
    "told) token=$(echo \"$KUBERNETES_EXEC_INFO\" | sed 's/.*\"server\":\"\\([^\"]*\\)\".*/\\1/') "
    ";;\n"
    "authority) token=$(echo \"$KUBERNETES_EXEC_INFO\" | sed "
    "'s/.*-authority-data\":\"\\([^\"]*\\)\".*/\\1/') ;;\n"
    "config) token=$(echo \"$KUBERNETES_EXEC_INFO\" | sed "
    "'s/.*\"config\":{\"audience\":\"\\([^\"]*\\)\"}.*/\\1/') ;;\n"
    "certificate) echo "
    "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
    "v1beta1\",\"status\":{"
    "\"clientCertificateData\":\"-----BEGIN CERTIFICATE-----\",\"clientKeyData\":\"-----BEGIN "
    "PRIVATE KEY-----\"}}'; exit ;;\n"
    "counted) echo >>\"$2\"; token=$(wc -l <\"$2\") ;;\n"
    "esac\n"
    "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
    "\"status\":{\"token\":\"'\"$token\"'\",\"expirationTimestamp\":\"2030-01-01T00:00:00Z\"}}'\n";

/* As a system has it of all authorities that it trusts: more than a variable of a program can have.
 */
static char many_authorities[200 << 10];

static void make_many_authorities(void)
{
    size_t len = 0;
    while (len + sizeof PEM_CERT < sizeof many_authorities)
        len += (size_t) sprintf(many_authorities + len, "%s%s", len ? "\n" : "", PEM_CERT);
    write_file("many.crt", many_authorities);
}

static int make_dir(void **state)
{
    (void) state;
    if (!mkdtemp(dir) || mkdir(in_dir("sub"), 0700) < 0 || mkdir(in_dir("account"), 0700) < 0)
        return -1;
    write_file("ca.crt", "\n" PEM_CERT "\n");
    write_file("sub/ca.crt", PEM_CERT "sub");
    make_many_authorities();
    write_file("me.crt", PEM_CERT);
    write_file("me.key", PEM_KEY);
    write_file("token", " in-a-file\n");
    write_file("empty", "\n");
    write_file("plugin", plugin);
    chmod(in_dir("plugin"), 0700);
    write_file("evil-token", "a\r\nX-Evil: 1");
    return 0;
}

static int remove_dir(void **state)
{
    (void) state;
    CLEANUP_FREE char *command = xasprintf("rm -rf %s", dir);
    return system(command);
}

static void check_error(const struct err *e, const char *part)
{
    if (!strstr(err_msg(e), part))
        fail_msg("got: %s", err_msg(e));
    assert_null(strchr(err_msg(e), '\n'));
}

/* ---- kubeconfigs */

#define HEAD                                                                                       \
    "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: "   \
    "k, user: u}}]\n"
#define CLUSTER(members) "clusters: [{name: k, cluster: {" members "}}]\n"
#define USER(members) "users: [{name: u, user: {" members "}}]\n"
#define SERVER "server: https://h:6443"
#define GOOD HEAD CLUSTER(SERVER) USER("token: t")

#define EXEC(command)                                                                              \
    "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: " command "}"

/* What a file, or two, give. */
static const struct config_case {
    const char *name;
    const char *file;
    const char *second; /* NULL: one file */
    const char *url;    /* NULL: an error … */
    const char *error;  /* … which says this */
    const char *base_path;
    const char *namespace;
    const char *token;
    const char *ca;
    const char *proxy;
} config_cases[] = {
    { "server and token", GOOD, .url = "https://h:6443", .token = "t" },
    { "a prefix", HEAD CLUSTER("server: https://h/k8s/c-1//") USER("token: t"),
      .url = "https://h:443", .base_path = "/k8s/c-1", .token = "t" },
    { "an IPv6 address", HEAD CLUSTER("server: 'https://[fd00::1]:6443'") USER("token: t"),
      .url = "https://[fd00::1]:6443", .token = "t" },
    { "a namespace",
      "current-context: c\ncontexts: [{name: c, context: {cluster: k, namespace: gpu}}]\n" CLUSTER(
          SERVER),
      .url = "https://h:6443", .namespace = "gpu" },
    { "unknown keys",
      "x: 1\npreferences: {colors: true}\nextensions: []\n" HEAD CLUSTER(
          SERVER ", extensions: [], future: 1") USER("token: t, other: {}"),
      .url = "https://h:6443", .token = "t" },
    { "JSON",
      "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\"}}],"
      "\"clusters\":[{\"name\":\"k\",\"cluster\":{\"server\":\"https://h:1\"}}]}",
      .url = "https://h:1" },
    { "an authority in a file", HEAD CLUSTER(SERVER ", certificate-authority: ca.crt") USER(""),
      .url = "https://h:6443", .ca = PEM_CERT },
    { "an authority in a file below",
      HEAD CLUSTER(SERVER ", certificate-authority: sub/ca.crt") USER(""), .url = "https://h:6443",
      .ca = PEM_CERT "sub" },
    { "data goes before a file",
      HEAD CLUSTER(SERVER ", certificate-authority: nope, certificate-authority-data: " BASE64_CERT)
          USER(""),
      .url = "https://h:6443", .ca = "-----BEGIN CERTIFICATE-----\nother" },
    { "a client certificate",
      HEAD CLUSTER(SERVER) USER("client-certificate: me.crt, client-key: me.key"),
      .url = "https://h:6443" },
    { "a client certificate as data",
      HEAD CLUSTER(SERVER)
          USER("client-certificate-data: " BASE64_CERT ", client-key-data: " BASE64_KEY),
      .url = "https://h:6443" },
    { "a token file goes before a token", HEAD CLUSTER(SERVER) USER("token: t, tokenFile: token"),
      .url = "https://h:6443", .token = "in-a-file" },
    { "a token stands in for its file", HEAD CLUSTER(SERVER) USER("token: t, tokenFile: nope"),
      .url = "https://h:6443", .token = "t" },
    { "a proxy", HEAD CLUSTER(SERVER ", proxy-url: 'socks5://p:1080'") USER(""),
      .url = "https://h:6443", .proxy = "socks5h://p:1080" },
    { "loopback may be plain, and is shown nothing",
      HEAD CLUSTER("server: 'http://127.0.0.1:8001'") USER("token: t, client-key: nope"),
      .url = "http://127.0.0.1:8001" },
    { "exec beside a token", HEAD CLUSTER(SERVER) USER("token: t, exec: {command: aws}"),
      .url = "https://h:6443", .token = "t" },
    { "the first file's cluster wins", GOOD, CLUSTER("server: https://other") USER("token: other"),
      .url = "https://h:6443", .token = "t" },
    { "the first current-context wins", "current-context: d\n", GOOD "---\n",
      .error = "the context \"d\" does not exist: there is c" },
    { "parts from two files", HEAD, "current-context: x\n" CLUSTER(SERVER) USER("token: t"),
      .url = "https://h:6443", .token = "t" },
    { "paths begin at their own file", "current-context: c\n",
      HEAD CLUSTER(SERVER ", certificate-authority: ca.crt") USER(""), .url = "https://h:6443",
      .ca = PEM_CERT "sub" },

    { "no current context", CLUSTER(SERVER),
      .error = "no current-context: choose one with `kubectl config use-context`" },
    { "an empty file", "", .error = "no current-context" },
    { "a list", "[1]", .error = "no current-context" },
    { "no such context", "current-context: x\ncontexts: [{name: a}, {name: b}, 5, {}]\n",
      .error = "the context \"x\" does not exist: there is a, b" },
    { "no such cluster", HEAD, .error = "the cluster \"k\" does not exist: there is none" },
    { "no such user", HEAD CLUSTER(SERVER), .error = "the user \"u\" does not exist" },
    { "a context without a cluster", "current-context: c\ncontexts: [{name: c}]\n",
      .error = "the context \"c\" has no cluster" },
    { "no server", HEAD CLUSTER("") USER(""), .error = "cluster \"k\": server is missing" },
    { "plain beyond loopback", HEAD CLUSTER("server: 'http://10.0.0.1'") USER(""),
      .error = "http://10.0.0.1:80 is not encrypted: use https://" },
    { "no scheme", HEAD CLUSTER("server: 'h:6443'") USER(""),
      .error = "server is not an address like https://host:6443" },
    { "a password in the address", HEAD CLUSTER("server: 'https://u:p@h'") USER(""),
      .error = "server is not an address" },
    { "a bad port", HEAD CLUSTER("server: 'https://h:0'") USER(""),
      .error = "server is not an address" },
    { "a bad IPv6 address", HEAD CLUSTER("server: 'https://fd00::1'") USER(""),
      .error = "server is not an address" },
    { "an open bracket", HEAD CLUSTER("server: 'https://[::1'") USER(""),
      .error = "server is not an address" },
    { "a query", HEAD CLUSTER("server: 'https://h/x?y=1'") USER(""),
      .error = "server is not an address" },
    { "a line break in the address", HEAD CLUSTER("server: \"https://h/x\\r\\nX: 1\"") USER(""),
      .error = "server is not an address" },
    { "insecure with an authority",
      HEAD CLUSTER(SERVER ", insecure-skip-tls-verify: true, certificate-authority: ca.crt")
          USER(""),
      .error = "both insecure-skip-tls-verify and certificate-authority are set" },
    { "a missing authority", HEAD CLUSTER(SERVER ", certificate-authority: nope") USER(""),
      .error = "certificate-authority: cannot read the certificate authority from " },
    { "an authority that is none", HEAD CLUSTER(SERVER ", certificate-authority: token") USER(""),
      .error = "the certificate authority is not PEM" },
    { "a folder as authority", HEAD CLUSTER(SERVER ", certificate-authority: sub") USER(""),
      .error = "cannot read the certificate authority" },
    { "an endless authority", HEAD CLUSTER(SERVER ", certificate-authority: /dev/zero") USER(""),
      .error = "cannot read the certificate authority" },
    { "bad base64", HEAD CLUSTER(SERVER ", certificate-authority-data: 'a=b'") USER(""),
      .error = "certificate-authority-data: the certificate authority is not base64" },
    { "cut base64", HEAD CLUSTER(SERVER ", certificate-authority-data: 'LS0'") USER(""),
      .error = "is not base64" },
    { "a certificate without a key", HEAD CLUSTER(SERVER) USER("client-certificate: me.crt"),
      .error = "user \"u\": a client-certificate without a client-key" },
    { "a key without a certificate", HEAD CLUSTER(SERVER) USER("client-key: me.key"),
      .error = "a client-key without a client-certificate" },
    { "a certificate as key",
      HEAD CLUSTER(SERVER) USER("client-certificate: me.crt, client-key: me.crt"),
      .error = "the client key is not PEM" },
    { "an empty token file", HEAD CLUSTER(SERVER) USER("tokenFile: empty"),
      .error = "the token is empty" },
    { "a token with a line break", HEAD CLUSTER(SERVER) USER("tokenFile: evil-token"),
      .error = "the token holds white space or control characters" },
    { "a missing token file", HEAD CLUSTER(SERVER) USER("tokenFile: nope"),
      .error = "tokenFile: cannot read the token" },
    { "a program", HEAD CLUSTER(SERVER) USER(EXEC("./plugin, args: [token-1]")),
      .url = "https://h:6443", .token = "token-1" },
    { "a program with an environment",
      HEAD CLUSTER(SERVER)
          USER(EXEC("./plugin, env: [{name: TOKEN, value: from-env}, {name: HOME, value: /}]")),
      .url = "https://h:6443", .token = "from-env" },
    { "a program that is told the cluster",
      HEAD CLUSTER(SERVER) USER(EXEC("./plugin, args: [told], provideClusterInfo: true")),
      .url = "https://h:6443", .token = "https://h:6443" },
    { "a program that is told the authority in a file",
      HEAD CLUSTER(SERVER ", certificate-authority: ca.crt")
          USER(EXEC("./plugin, args: [authority], provideClusterInfo: true")),
      .url = "https://h:6443", .ca = PEM_CERT, .token = BASE64_FILE },
    { "a program that is not told more authorities than it could be",
      HEAD CLUSTER(SERVER ", certificate-authority: many.crt")
          USER(EXEC("./plugin, args: [told], provideClusterInfo: true")),
      .url = "https://h:6443", .ca = many_authorities, .token = "https://h:6443" },
    { "a program that is told the authority as data",
      HEAD CLUSTER(SERVER
                   ", certificate-authority: ca.crt, certificate-authority-data: " BASE64_CERT)
          USER(EXEC("./plugin, args: [authority], provideClusterInfo: true")),
      .url = "https://h:6443", .ca = "-----BEGIN CERTIFICATE-----\nother", .token = BASE64_CERT },
    { "a program that has an extension",
      HEAD CLUSTER(SERVER
                   ", extensions: [{name: x, extension: {audience: no}}, "
                   "{name: client.authentication.k8s.io/exec, extension: {audience: aud-1}}]")
          USER(EXEC("./plugin, args: [config], provideClusterInfo: true")),
      .url = "https://h:6443", .token = "aud-1" },
    { "a program that gives a certificate",
      HEAD CLUSTER(SERVER) USER(EXEC("./plugin, args: [certificate]")), .url = "https://h:6443" },
    { "no such program",
      HEAD CLUSTER(SERVER) USER(EXEC("ostler-no-such-program, installHint: 'get it from x'")),
      .error = "the credential program ostler-no-such-program cannot be run: No such file or "
               "directory: get it from x" },
    { "a program that fails", HEAD CLUSTER(SERVER) USER(EXEC("./plugin, args: [fail]")),
      .error = "plugin failed with exit code 3: run it by hand" },
    { "a program that says nothing", HEAD CLUSTER(SERVER) USER(EXEC("/bin/true")),
      .error = "/bin/true printed no ExecCredential" },
    { "a program that says something else",
      HEAD CLUSTER(SERVER) USER(EXEC("/bin/echo, args: ['a: [']")),
      .error = "printed no ExecCredential" },
    { "a program that says too much", HEAD CLUSTER(SERVER) USER(EXEC("cat, args: [/dev/zero]")),
      .error = "is too long" },
    { "a program of another version",
      HEAD CLUSTER(SERVER)
          USER("exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin}"),
      .error = "answered in a version other than client.authentication.k8s.io/v1" },
    { "a program with an evil token", HEAD CLUSTER(SERVER) USER(EXEC("./plugin, args: ['a b']")),
      .error = "credential program's token: the token holds white space" },
    { "a program that wants a terminal",
      HEAD CLUSTER(SERVER) USER(EXEC("./plugin, interactiveMode: Always")),
      .error = "needs a terminal" },
    { "a program without a name", HEAD CLUSTER(SERVER) USER("exec: {}"),
      .error = "exec: command is missing" },
    { "a program of an old version",
      HEAD CLUSTER(SERVER)
          USER("exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
      .error = "exec: apiVersion is neither" },
    { "a password", HEAD CLUSTER(SERVER) USER("username: a, password: b"),
      .error = "it uses a password" },
    { "acting as another", HEAD CLUSTER(SERVER) USER("token: t, as: admin"),
      .error = "it impersonates a user" },
    { "a strange proxy", HEAD CLUSTER(SERVER ", proxy-url: 'ftp://p'") USER(""),
      .error = "proxy-url must begin with http://, https://" },
    { "not YAML", "a: [", .error = "line " },
};

static void check_config(void **state)
{
    const struct config_case *t = *state;
    write_file("config", t->file);
    write_file("sub/config", t->second ? t->second : "");
    CLEANUP_FREE char *list = xasprintf("%s::%s:%s", in_dir("config"), in_dir("nope"),
                                        in_dir("sub/config"));
    setenv("KUBECONFIG", list, 1);
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    int rc = config_load(t->second ? NULL : in_dir("config"), NULL, &c, &e);
    unsetenv("KUBECONFIG");
    if (t->error) {
        assert_int_equal(rc, -1);
        check_error(&e, t->error);
        return;
    }
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    assert_string_equal(c.server.url, t->url);
    assert_string_equal(c.server.base_path, str_or_empty(t->base_path));
    assert_string_equal(c.namespace, t->namespace ? t->namespace : "default");
    assert_string_equal(str_or_empty(config_token(&c)), str_or_empty(t->token));
    assert_string_equal(str_or_empty(c.materials[MATERIAL_CA].bytes), str_or_empty(t->ca));
    assert_string_equal(str_or_empty(c.proxy_url), str_or_empty(t->proxy));
    assert_non_null(strstr(c.description, t->url));
    config_clear(&c);
}

/* ---- where a configuration comes from */

static void expect_url(const char *kubeconfig, const char *url)
{
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    if (config_load(kubeconfig, NULL, &c, &e) < 0)
        fail_msg("%s", err_msg(&e));
    assert_string_equal(c.server.url, url);
    config_clear(&c);
}

static void clear_environment(void)
{
    static const char *const names[] = { "KUBECONFIG", "KUBERNETES_SERVICE_HOST",
                                         "KUBERNETES_SERVICE_PORT" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    setenv("HOME", in_dir("nowhere"), 1);
}

static void sources_have_their_order(void **state)
{
    (void) state;
    clear_environment();
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    assert_int_equal(config_load(NULL, NULL, &c, &e), -1);
    check_error(&e, "no cluster is configured: give --kubeconfig FILE");

    mkdir(in_dir("home"), 0700);
    mkdir(in_dir("home/.kube"), 0700);
    write_file("home/.kube/config", HEAD CLUSTER("server: https://home:1") USER(""));
    setenv("HOME", in_dir("home"), 1);
    expect_url(NULL, "https://home:1");

    /* in a pod: an error there is not passed over in silence */
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    expect_url(NULL, "https://home:1");
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_int_equal(config_load(NULL, NULL, &c, &e), -1);
    check_error(
        &e,
        "in-cluster configuration: cannot read the certificate authority from /var/run/secrets/");

    write_file("env", HEAD CLUSTER("server: https://env:1") USER(""));
    setenv("KUBECONFIG", in_dir("env"), 1);
    expect_url(NULL, "https://env:1");
    write_file("option", HEAD CLUSTER("server: https://option:1") USER(""));
    expect_url(in_dir("option"), "https://option:1");
    clear_environment();
}

/* Who names a context means a kubeconfig, also in a pod. */
static void a_context_is_named(void **state)
{
    (void) state;
    clear_environment();
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    mkdir(in_dir("home2"), 0700);
    mkdir(in_dir("home2/.kube"), 0700);
    write_file("home2/.kube/config", "current-context: a\n"
                                     "contexts: [{name: a, context: {cluster: a}}, {name: b, "
                                     "context: {cluster: b, namespace: team}}]\n"
                                     "clusters: [{name: a, cluster: {server: 'https://a:1'}}, "
                                     "{name: b, cluster: {server: 'https://b:1'}}]\n");
    setenv("HOME", in_dir("home2"), 1);
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    assert_int_equal(config_load(NULL, "b", &c, &e), 0);
    assert_string_equal(c.server.url, "https://b:1");
    assert_string_equal(c.namespace, "team");
    config_clear(&c);
    assert_int_equal(config_load(NULL, "z", &c, &e), -1);
    check_error(&e, "the context \"z\" does not exist: there is a, b");
    clear_environment();
}

static void missing_files_are_named(void **state)
{
    (void) state;
    clear_environment();
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    assert_int_equal(config_load("/nonexistent/kubeconfig", NULL, &c, &e), -1);
    assert_string_equal(err_msg(&e), "kubeconfig /nonexistent/kubeconfig does not exist");
    setenv("KUBECONFIG", "/nonexistent/a:/nonexistent/b", 1);
    assert_int_equal(config_load(NULL, NULL, &c, &e), -1);
    assert_string_equal(err_msg(&e),
                        "no file that KUBECONFIG names exists: /nonexistent/a:/nonexistent/b");
    assert_int_equal(e.kind, ERR_NOT_FOUND);
    clear_environment();
}

static void fill_account(void)
{
    write_file("account/ca.crt", PEM_CERT);
    write_file("account/token", "first\n");
    write_file("account/namespace", "gpu-system\n");
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
}

static void a_proxy_is_for_kubeconfigs(void **state)
{
    (void) state;
    write_file("proxied", HEAD CLUSTER(SERVER) USER(""));
    fill_account();
    setenv("HTTPS_PROXY", "http://p:3128", 1);
    struct config c = { 0 };
    assert_int_equal(config_load(in_dir("proxied"), NULL, &c, NULL), 0);
    assert_string_equal(c.proxy_url, "http://p:3128");
    config_clear(&c);
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, NULL), 0);
    assert_null(c.proxy_url);
    config_clear(&c);
    setenv("HTTPS_PROXY", "ftp://p", 1);
    assert_int_equal(config_load(in_dir("proxied"), NULL, &c, NULL), -1);
    assert_null(c.server.url);
    unsetenv("HTTPS_PROXY");
    clear_environment();
}

static void pods_have_an_account(void **state)
{
    (void) state;
    fill_account();
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, &e), 0);
    assert_string_equal(c.server.url, "https://[fd00::1]:443");
    assert_string_equal(c.namespace, "gpu-system");
    assert_string_equal(config_token(&c), "first");
    assert_string_equal(c.description, "the cluster of this pod (https://[fd00::1]:443)");
    assert_true(c.compression);
    config_clear(&c);

    unlink(in_dir("account/namespace"));
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, &e), 0);
    assert_string_equal(c.namespace, "default");
    config_clear(&c);

    unlink(in_dir("account/token"));
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, &e), -1);
    check_error(&e, "in-cluster configuration: cannot read the token from ");
    setenv("KUBERNETES_SERVICE_PORT", "tcp://10.0.0.1:443", 1);
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, &e), -1);
    check_error(&e, "are not an address");
    unsetenv("KUBERNETES_SERVICE_PORT");
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, &e), -1);
    check_error(&e, "are not both set");
    clear_environment();
}

/* ---- renewal */

static void files_are_read_again(void **state)
{
    (void) state;
    fill_account();
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    assert_int_equal(config_load_in_cluster(in_dir("account"), &c, &e), 0);
    int64_t now = 1000;
    config_refresh(&c, now);
    write_file("account/token", "second");
    config_refresh(&c, now + CREDENTIAL_REREAD_MS - 1);
    assert_string_equal(config_token(&c), "first");
    now += CREDENTIAL_REREAD_MS;
    config_refresh(&c, now);
    assert_string_equal(config_token(&c), "second");
    assert_int_equal(c.tls_generation, 0); /* a token is no reason to leave a connection */

    write_file("account/token", "third");
    config_doubt(&c);
    config_refresh(&c, now);
    assert_string_equal(config_token(&c), "third");

    write_file("account/ca.crt", PEM_CERT "more");
    unlink(in_dir("account/token"));
    now += CREDENTIAL_REREAD_MS;
    config_refresh(&c, now);
    assert_string_equal(config_token(&c), "third");
    assert_string_equal(c.materials[MATERIAL_CA].bytes, PEM_CERT "more");
    assert_int_equal(c.tls_generation, 1);

    write_file("account/ca.crt", "half a fi");
    write_file("account/token", "fourth");
    now += CREDENTIAL_REREAD_MS;
    config_refresh(&c, now);
    assert_string_equal(config_token(&c), "fourth");
    assert_string_equal(c.materials[MATERIAL_CA].bytes, PEM_CERT "more");
    config_clear(&c);
    clear_environment();
}

/* Refreshes until the program, which is not waited for, is done. */
static void refresh_until(struct config *c, int64_t now, const char *token)
{
    for (int i = 0; i < 500 && !str_eq(config_token(c), token); i++) {
        config_refresh(c, now);
        usleep(10000);
    }
    assert_string_equal(config_token(c), token);
}

static void programs_are_run_again(void **state)
{
    (void) state;
    CLEANUP_FREE char *text = xasprintf(
        HEAD CLUSTER(SERVER) USER(EXEC("./plugin, args: [counted, %s]")), in_dir("count"));
    write_file("config", text);
    CLEANUP_ERR struct err e = { 0 };
    struct config c = { 0 };
    assert_int_equal(config_load(in_dir("config"), NULL, &c, &e), 0);
    assert_string_equal(config_token(&c), "1");
    int64_t now = c.ran_at_ms;
    assert_true(c.renew_at_ms > now + PLUGIN_PAUSE_MS);
    config_refresh(&c, c.renew_at_ms - 1);
    assert_string_equal(config_token(&c), "1");
    now = c.renew_at_ms;
    refresh_until(&c, now, "2");

    config_doubt(&c); /* soon, but not in the same breath */
    config_refresh(&c, now + PLUGIN_PAUSE_MS - 1);
    assert_string_equal(config_token(&c), "2");
    refresh_until(&c, now + PLUGIN_PAUSE_MS, "3");

    write_file("plugin", "#!/bin/sh\nexit 1\n");
    config_doubt(&c);
    now += 2 * PLUGIN_PAUSE_MS;
    for (int i = 0; i < 20; i++) {
        config_refresh(&c, now);
        usleep(10000);
    }
    assert_string_equal(config_token(&c), "3");
    write_file("plugin", "#!/bin/sh\nexec sleep 60\n");
    config_refresh(&c, now + PLUGIN_PAUSE_MS);
    config_refresh(&c, now + PLUGIN_PAUSE_MS + PLUGIN_TIMEOUT_MS - 1);
    assert_true(plugin_is_running(c.plugin));
    config_refresh(&c, now + PLUGIN_PAUSE_MS + PLUGIN_TIMEOUT_MS);
    assert_false(plugin_is_running(c.plugin));
    config_refresh(&c, now + 2 * PLUGIN_PAUSE_MS + PLUGIN_TIMEOUT_MS);
    assert_true(plugin_is_running(c.plugin));
    config_clear(&c); /* ends the one that runs */
    write_file("plugin", plugin);
}

static void volumes_are_swapped_by_links(void **state)
{
    (void) state;
    mkdir(in_dir("v1"), 0700);
    mkdir(in_dir("v2"), 0700);
    write_file("v1/token", "one");
    write_file("v2/token", "two");
    assert_int_equal(symlink("v1", in_dir("..data")), 0);
    struct material m = { 0 };
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(material_set_file(&m, MATERIAL_TOKEN, in_dir("..data/token"), &e), 0);
    assert_string_equal(m.bytes, "one");
    assert_int_equal(symlink("v2", in_dir("..data_tmp")), 0);
    assert_int_equal(rename(in_dir("..data_tmp"), in_dir("..data")), 0);
    assert_int_equal(material_reread(&m, MATERIAL_TOKEN, &e), 1);
    assert_string_equal(m.bytes, "two");
    assert_int_equal(material_reread(&m, MATERIAL_TOKEN, &e), 0);
    material_clear(&m);
}

/* The vectors of RFC 4648, and a byte above 127. */
static void bytes_become_base64(void **state)
{
    (void) state;
    static const struct {
        const char *bytes, *text;
    } rows[] = { { "", "" },        { "f", "Zg==" },          { "fo", "Zm8=" },
                 { "foo", "Zm9v" }, { "foobar", "Zm9vYmFy" }, { "\xff", "/w==" } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP_FREE char *got = base64_encode(rows[i].bytes, strlen(rows[i].bytes));
        assert_string_equal(got, rows[i].text);
    }
}

int main(void)
{
    mem_hook_jansson();
    clear_environment();
    static const struct CMUnitTest plain[] = {
        cmocka_unit_test(sources_have_their_order),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(a_context_is_named),
        cmocka_unit_test(a_proxy_is_for_kubeconfigs),
        cmocka_unit_test(pods_have_an_account),
        cmocka_unit_test(files_are_read_again),
        cmocka_unit_test(volumes_are_swapped_by_links),
        cmocka_unit_test(programs_are_run_again),
        cmocka_unit_test(bytes_become_base64),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(config_cases)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[n++] = plain[i];
    for (size_t i = 0; i < ARRAY_LEN(config_cases); i++)
        tests[n++] = (struct CMUnitTest){ .name = config_cases[i].name,
                                          .test_func = check_config,
                                          .initial_state = (void *) &config_cases[i] };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
