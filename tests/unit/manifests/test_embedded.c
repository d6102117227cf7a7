/* What holds for every manifest that is built in, parts included, whether or not it is ever
 * rendered. */
#include "reconcilers/manifests/embedded.h"

#include "base/yaml.h"
#include "tests/unit/manifests/no_shell.h"
#include "tests/unit/support/suite.h"

static void check_no_shell(void **state)
{
    (void) state;
    assert_true(embedded_files_len > 0);
    for (size_t i = 0; i < embedded_files_len; i++) {
        CLEANUP_JSON json_t *documents = yaml_parse(embedded_files[i].text,
                                                    strlen(embedded_files[i].text), NULL, NULL);
        assert_non_null(documents);
        assert_no_shell(documents);
    }
}

static const struct shell_row {
    const char *name;
    const char *word;
    bool is_of_shell;
} shell_rows[] = {
    { "shell: by its name", "sh", true },
    { "shell: by its path", "/bin/bash", true },
    { "shell: its option", "-c", true },
    { "shell: a line for it", "nvidia-smi || exit 1", true },
    { "shell: a variable with a rule", "${ROOT:-/usr}", true },
    { "shell: a variable of the kubelet's", "--to=$(ROOT)", false },
    { "shell: a program", "/usr/bin/ostler-node", false },
};

static void check_shell(void **state)
{
    const struct shell_row *row = *state;
    assert_int_equal(is_of_shell(row->word), row->is_of_shell);
}

static bool is_ours(const json_t *item)
{
    return str_eq(json_str(item, "name"), "ostler");
}

/* Volumes and mounts of Ostler's program, wherever they are in an object; how many there are. */
static size_t assert_program(const json_t *node)
{
    bool copies = str_eq(json_string_value(json_array_get(json_object_get(node, "args"), 0)),
                         "copy");
    size_t i, count = 0;
    const char *key;
    json_t *value;
    json_array_foreach (json_object_get(node, "volumeMounts"), i, value)
        if (is_ours(value)) {
            assert_int_equal(json_bool(value, "readOnly", false), !copies);
            count++;
        }
    json_array_foreach (json_object_get(node, "volumes"), i, value)
        if (is_ours(value)) {
            assert_string_equal(json_str_or_empty(value, "emptyDir.medium"), "Memory");
            assert_string_equal(json_str_or_empty(value, "emptyDir.sizeLimit"), "32Mi");
            count++;
        }
    json_object_foreach ((json_t *) node, key, value)
        count += assert_program(value);
    json_array_foreach (node, i, value)
        count += assert_program(value);
    return count;
}

/* In memory, since the kubelet's disk may be noexec; and what shows a container's root on the host
 * shows nothing that others can write and that is run. */
static void check_program(void **state)
{
    (void) state;
    size_t count = 0;
    for (size_t i = 0; i < embedded_files_len; i++) {
        CLEANUP_JSON json_t *documents = yaml_parse(embedded_files[i].text,
                                                    strlen(embedded_files[i].text), NULL, NULL);
        count += assert_program(documents);
    }
    assert_true(count >= 9);
}

/* How many containers have Ostler's image and no privileges. Where no profile is named the kubelet
 * gives none. */
static size_t assert_seccomp(const json_t *node, bool in_profile)
{
    size_t i, count = 0;
    const char *key;
    json_t *value;
    in_profile |= str_eq(json_str(node, "securityContext.seccompProfile.type"), "RuntimeDefault");
    if (str_eq(json_str(node, "image"), "ostler") &&
        !json_bool(json_object_get(node, "securityContext"), "privileged", false)) {
        if (!in_profile)
            fail_msg("the container %s has no seccomp profile", json_key(node, "name"));
        count++;
    }
    json_object_foreach ((json_t *) node, key, value)
        count += assert_seccomp(value, in_profile);
    json_array_foreach (node, i, value)
        count += assert_seccomp(value, in_profile);
    return count;
}

static void check_seccomp(void **state)
{
    (void) state;
    size_t count = 0;
    for (size_t i = 0; i < embedded_files_len; i++) {
        CLEANUP_JSON json_t *documents = yaml_parse(embedded_files[i].text,
                                                    strlen(embedded_files[i].text), NULL, NULL);
        count += assert_seccomp(documents, false);
    }
    assert_true(count >= 10);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_shell, shell_rows);
    suite_add(&s, "nothing that is built in needs a shell", check_no_shell, NULL);
    suite_add(&s, "Ostler's program is in memory, and only its copier can write there",
              check_program, NULL);
    suite_add(&s, "containers of Ostler's image without privileges have a seccomp profile",
              check_seccomp, NULL);
    return suite_run(&s, "embedded");
}
