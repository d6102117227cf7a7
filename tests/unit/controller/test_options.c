#include "controller/options.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { WORDS_MAX = 12 };

/* Parses a command line, words apart by spaces; `text` is used up. */
static int parse(char *text, struct options *ret, struct err *e)
{
    char *argv[WORDS_MAX] = { (char *) "ostler" };
    int argc = 1;
    for (char *word; (word = strsep(&text, " ")) && argc < WORDS_MAX;)
        if (*word)
            argv[argc++] = word;
    return options_parse(argc, argv, ret, e);
}

static const struct refusal {
    const char *name; /* the command line */
    const char *error;
} refusals[] = {
    { "--no-such", "unknown option --no-such; `ostler --help` lists them" },
    { "fly", "unknown command fly; `ostler --help` lists them" },
    { "run fast", "unexpected argument fast" },
    { "--kubeconfig", "--kubeconfig needs FILE" },
    { "--log-level=loud", "--log-level: must be one of debug, info, warn and error, not \"loud\"" },
    { "--log-format xml", "--log-format: must be one of json and text, not \"xml\"" },
    { "--leader-elect=maybe", "--leader-elect: must be true or false, not \"maybe\"" },
    { "--absent-policy-grace 10",
      "--absent-policy-grace: must be a number with a unit, such as 10m or 1h30m, not \"10\"" },
    { "--listen foo",
      "--listen: must be IP:port, [IPv6]:port or :port, or \"\" for none, not \"foo\"" },
    { "--listen localhost:80",
      "--listen: must be IP:port, [IPv6]:port or :port, or \"\" for none, not \"localhost:80\"" },
    { "--namespace Ostler", "--namespace: must be the name of a namespace: at most 63 lower case "
                            "letters, digits and \"-\", with a letter or digit at "
                            "both ends, not \"Ostler\"" },
    { "--operand-namespace=-a", "--operand-namespace: must be the name of a namespace: at most 63 "
                                "lower case letters, digits and \"-\", with a letter or "
                                "digit at both ends, not \"-a\"" },
    { "--fleet-listen localhost:80",
      "--fleet-listen: must be IP:port, [IPv6]:port or :port, or \"\" for none, not "
      "\"localhost:80\"" },
    { "--fleet-hosts a:1", "--fleet-hosts: must be names of hosts, without ports, such as "
                           "\"fleet.example.com,10.0.0.7\", not \"a:1\"" },
    { "--namespace a.b --listen :1",
      "--namespace: must be the name of a namespace: at most 63 lower case letters, digits and "
      "\"-\", with a letter or digit at "
      "both ends, not \"a.b\"" },
    { "validate -f a -f b", "-f is given twice" },
    { "--log-level warn --log-level=warn", "--log-level is given twice" },
    { "validate", "-f FILE is missing: the policy; \"-\" is standard input" },
    { "render --node a", "-f FILE is missing: the policy; \"-\" is standard input" },
    { "render -f - --node -", "only one of -f and --node can be standard input" },
    { "install-crds", "--from DIR is missing: the directory of the CRDs" },
    { "cleanup --force", "--force needs --delete-policy" },
    { "run --delete-policy",
      "--delete-policy is not an option of `ostler run`; `ostler --help` lists the options" },
    { "install-crds --from a --delete-crds", "--delete-crds is not an option of `ostler "
                                             "install-crds`; `ostler --help` lists the options" },
    { "cleanup --timeout 5",
      "--timeout: must be a number with a unit, such as 10m or 1h30m, not \"5\"" },
    { "validate -f a --node b",
      "--node is not an option of `ostler validate`; `ostler --help` lists the options" },
    { "validate -f a --kubeconfig b",
      "--kubeconfig is not an option of `ostler validate`; `ostler --help` lists the options" },
    { "render -f a --listen :1",
      "--listen is not an option of `ostler render`; `ostler --help` lists the options" },
    { "-f a", "-f is not an option of `ostler run`; `ostler --help` lists the options" },
    { "plan -o xml", "-o: must be one of text, json and yaml, not \"xml\"" },
    { "plan --driver-takes 5m", "--driver-takes needs --simulate" },
    { "plan --namespace a",
      "--namespace is not an option of `ostler plan`; `ostler --help` lists the options" },
    { "validate -f a --simulate",
      "--simulate is not an option of `ostler validate`; `ostler --help` lists the options" },
    { "cleanup --listen :1",
      "--listen is not an option of `ostler cleanup`; `ostler --help` lists the options" },
};

static void check_refusal(void **state)
{
    const struct refusal *r = *state;
    CLEANUP_FREE char *text = xstrdup(r->name);
    CLEANUP_ERR struct err e = { 0 };
    struct options o;
    assert_int_equal(parse(text, &o, &e), -1);
    assert_string_equal(err_msg(&e), r->error);
}

static const struct command_line {
    const char *name;
    enum command command;
} command_lines[] = {
    { "", COMMAND_RUN },
    { "run --leader-elect", COMMAND_RUN },
    { "--leader-elect --log-level debug", COMMAND_RUN },
    { "--listen [::1]:0 --namespace a-1", COMMAND_RUN },
    { "--fleet-listen :8081 --fleet-hosts fleet.example.com,[fd00::7] --listen=", COMMAND_RUN },
    { "render -f - --node a --operand-namespace b --allowed-image-prefixes c", COMMAND_RENDER },
    { "run --agent-image a:1", COMMAND_RUN },
    { "render -f - --agent-image=a:1", COMMAND_RENDER },
    { "validate -f a --log-format=text", COMMAND_VALIDATE },
    { "cleanup --kubeconfig a --namespace b --operand-namespace c --leader-elect=false",
      COMMAND_CLEANUP },
    { "plan", COMMAND_PLAN },
    { "plan -f - -o yaml --kubeconfig a --operand-namespace b --allowed-image-prefixes c "
      "--node-name d",
      COMMAND_PLAN },
    { "plan --simulate --driver-takes 5m --pull-takes=1m --jobs-end-after 2h --simulate-for 48h",
      COMMAND_PLAN },
    { "help", COMMAND_HELP },
    { "validate --help", COMMAND_HELP },
    { "-h -f a", COMMAND_HELP },
    { "--version", COMMAND_VERSION },
};

static void check_command_line(void **state)
{
    const struct command_line *c = *state;
    CLEANUP_FREE char *text = xstrdup(c->name);
    CLEANUP_ERR struct err e = { 0 };
    struct options o;
    if (parse(text, &o, &e) < 0)
        fail_msg("%s", err_msg(&e));
    assert_int_equal(o.command, c->command);
}

static void check_values(void **state)
{
    (void) state;
    char *argv[] = {
        (char *) "ostler",       (char *) "--listen=", (char *) "--leader-elect=false",
        (char *) "--log-format", (char *) "text",      (char *) "--absent-policy-grace=3s",
        (char *) "--log-level",  (char *) "error",     (char *) "--kubeconfig=a=b"
    };
    CLEANUP_ERR struct err e = { 0 };
    struct options o;
    assert_int_equal(options_parse(ARRAY_LEN(argv), argv, &o, &e), 0);
    assert_string_equal(o.listen, "");
    assert_string_equal(o.kubeconfig, "a=b");
    assert_string_equal(o.operand_namespace, "ostler-operands");
    assert_false(o.leader_elect);
    assert_false(o.log_json);
    assert_int_equal(o.absent_policy_grace_ms, 3000);
    assert_int_equal(o.log_level, LOG_ERROR);
    assert_null(o.namespace);
    assert_false(o.limits.repairs);
}

static void check_allowed_repairs(void **state)
{
    (void) state;
    static const char *const commands[] = { "run", "plan", "render", "validate" };
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        char *argv[] = { (char *) "ostler", (char *) commands[i], (char *) "--allow-repairs=true",
                         (char *) "-f", (char *) "a" };
        CLEANUP_ERR struct err e = { 0 };
        struct options o;
        assert_int_equal(options_parse(i ? 5 : 3, argv, &o, &e), 0);
        assert_true(o.limits.repairs);
    }
}

static void check_length(void **state)
{
    (void) state;
    char label[65];
    memset(label, 'a', 64);
    label[64] = '\0';
    char *argv[] = { (char *) "ostler", (char *) "--namespace", label };
    struct options o;
    assert_int_equal(options_parse(ARRAY_LEN(argv), argv, &o, NULL), -1);
    label[63] = '\0';
    assert_int_equal(options_parse(ARRAY_LEN(argv), argv, &o, NULL), 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_refusal, refusals);
    SUITE_ROWS(&s, check_command_line, command_lines);
    suite_add(&s, "values", check_values, NULL);
    suite_add(&s, "repairs are allowed by an option", check_allowed_repairs, NULL);
    suite_add(&s, "a namespace has at most 63 characters", check_length, NULL);
    return suite_run(&s, "options");
}
