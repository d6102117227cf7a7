#include "commands/offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "reconcilers/model/policy.h"
#include "tests/unit/support/suite.h"

#define HEAD "apiVersion: ostler.dev/v1alpha1\nkind: GpuClusterPolicy\nmetadata: {name: default}\n"

static const struct row {
    const char *name;
    const char *policy; /* on standard input */
    const char *said;   /* on standard error; NULL: it is valid */
} rows[] = {
    { "a policy", HEAD "spec: {}\n", NULL },
    { "not YAML", HEAD "spec:\n\tdriver: {}\n",
      "ostler: standard input: line 5, column 1: found character that cannot start any token, "
      "while scanning for the next token; "
      "indent with spaces, not with tabs, and put text that begins with @, ` or % in quotes\n" },
    { "nothing", "", "ostler: standard input: is empty; it must hold one object\n" },
    { "two documents", HEAD "---\n" HEAD,
      "ostler: standard input: holds 2 documents; it must hold one object\n" },
    { "a list", "[]\n",
      "ostler: standard input: must be a map (an object of the API), not a list or a single "
      "value\n" },
    { "problems in the order of their lines",
      HEAD "spec:\n  toolkit: {repository: evil.io}\n  driver: {version: 5}\n",
      "standard input:5: spec.toolkit.repository: evil.io/container-toolkit is not under an "
      "allowed prefix; allowed are " POLICY_IMAGE_PREFIXES
      "; an administrator adds others with --allowed-image-prefixes\n"
      "standard input:6: spec.driver.version: must be a string, not a number; put it in quotes\n" },
    { "a directory that is not the administrator's",
      HEAD "spec:\n  toolkit: {installDir: /tmp/nvidia}\n",
      "standard input:5: spec.toolkit.installDir: /tmp/nvidia is not an allowed directory; allowed "
      "are " POLICY_INSTALL_DIRS "; an administrator adds others with --allowed-install-dirs\n" },
    { "an envelope that lacks its kind",
      "apiVersion: ostler.dev/v1alpha1\nmetadata: {name: default}\nspecs: {}\n",
      "standard input:1: kind: is missing; write GpuClusterPolicy\nstandard input:3: specs: is not "
      "a field of a "
      "GpuClusterPolicy\n" },
    { "the object of NVIDIA's operator",
      "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: gpu}\nspec: {dcgm: {}}\n",
      "standard input: is a ClusterPolicy of NVIDIA's GPU operator, which Ostler does not read. "
      "Write a GpuClusterPolicy "
      "instead:\n"
      "  apiVersion: ostler.dev/v1alpha1\n  kind: GpuClusterPolicy\n  metadata: {name: default}\n  "
      "spec: {}\n"
      "Every field of its spec has a default; docs/policy.md has all, such as driver.version. "
      "Nodes that NVIDIA's operator "
      "serves\n"
      "stay with it (state ForeignStack) until they are handed over: see docs/reasons.md.\n" },
    { "another ClusterPolicy",
      "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: default}\n",
      "standard input:1: apiVersion: must be \"ostler.dev/v1alpha1\"\nstandard input:2: kind: must "
      "be \"GpuClusterPolicy\"\n" },
};

/* Puts a file of this text in the place of a descriptor; what was there before. */
static int put_in_place(int fd, FILE *file)
{
    int before = dup(fd);
    assert_true(before >= 0 && dup2(fileno(file), fd) == fd);
    return before;
}

static void check_validate(void **state)
{
    const struct row *row = *state;
    FILE *in = tmpfile(), *out = tmpfile();
    assert_true(in && out);
    fputs(row->policy, in);
    rewind(in);
    int stdin_before = put_in_place(STDIN_FILENO, in),
        stderr_before = put_in_place(STDERR_FILENO, out);
    clearerr(stdin);
    int rc = offline_validate(
        &(struct options){ .called = "ostler", .file = "-", .limits = POLICY_LIMITS_DEFAULT });
    fflush(stderr);
    dup2(stdin_before, STDIN_FILENO);
    dup2(stderr_before, STDERR_FILENO);
    char said[4096] = "";
    rewind(out);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    fclose(in);
    fclose(out);
    close(stdin_before);
    close(stderr_before);
    assert_string_equal(said, str_or_empty(row->said));
    assert_int_equal(rc, row->said ? 1 : 0);
}

/* A node with a GPU, as `ostler render --node` reads it. */
static const char node[] =
    "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"gpu-1\", \"uid\": "
    "\"u\", "
    "\"labels\": {\"nvidia.com/gpu.present\": \"true\"}}, \"status\": {\"nodeInfo\": {\"osImage\": "
    "\"Ubuntu 24.04.1 LTS\", \"kernelVersion\": \"6.8.0-49-generic\", \"kubeletVersion\": "
    "\"v1.33.0\", \"containerRuntimeVersion\": \"containerd://2.1.4\", \"architecture\": "
    "\"amd64\"}}}";

/* A policy says nothing of health, and the node's plan still has all that it needs. */
static void check_render_for_a_node(void **state)
{
    (void) state;
    FILE *in = tmpfile(), *out = tmpfile();
    char path[] = "/tmp/ostler-offline.XXXXXX";
    int fd = mkstemp(path);
    assert_true(in && out && fd >= 0);
    assert_int_equal(write(fd, node, sizeof node - 1), sizeof node - 1);
    close(fd);
    fputs(HEAD "spec: {}\n", in);
    rewind(in);
    fflush(stdout);
    int stdin_before = put_in_place(STDIN_FILENO, in),
        stdout_before = put_in_place(STDOUT_FILENO, out);
    clearerr(stdin);
    int rc = offline_render(&(struct options){ .called = "ostler",
                                               .file = "-",
                                               .node_file = path,
                                               .agent_image = "ostler:1",
                                               .operand_namespace = "ostler-operands",
                                               .limits = POLICY_LIMITS_DEFAULT });
    fflush(stdout);
    dup2(stdin_before, STDIN_FILENO);
    dup2(stdout_before, STDOUT_FILENO);
    char said[4096] = "";
    rewind(out);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    fclose(in);
    fclose(out);
    close(stdin_before);
    close(stdout_before);
    unlink(path);
    assert_int_equal(rc, 0);
    assert_non_null(strstr(said, "# patch of node gpu-1\n"));
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_validate, rows);
    suite_add(&s, "a node gets its patch", check_render_for_a_node, NULL);
    return suite_run(&s, "offline");
}
