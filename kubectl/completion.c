#include "kubectl/completion.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "kube/object.h"
#include "kubectl/ask.h"
#include "kubectl/gather.h"
#include "kubectl/show.h"
#include "reconcilers/view/edit_health.h"
#include "reconcilers/view/health.h"
#include "reconcilers/view/snapshot.h"
#include "reconcilers/decide/node_types.h"

int completion_print(const char *shell)
{
    for (size_t i = 0; i < COMPLETION_SCRIPTS; i++)
        if (str_eq(completion_scripts[i].shell, shell)) {
            fputs(completion_scripts[i].text, stdout);
            return GPU_DONE;
        }
    fprintf(stderr, "kubectl gpu: there are completions for bash, zsh, fish and kubectl\n");
    return GPU_USAGE;
}

/* ---- words */

/* The words so far; the last one is to be completed. */
struct typed {
    char *const *words;
    size_t count;
    enum gpu_command command; /* GPU_COMMAND_COUNT: not known yet */
};

static void print_those(const char *const *words, size_t count, const char *begin)
{
    for (size_t i = 0; i < count; i++)
        if (str_has_prefix(words[i], begin))
            printf("%s\t\n", words[i]);
}

/* The value of an option: after its "=", or the next word. */
static void take_value(char *const *words, size_t count, const char *option, const char **ret)
{
    const char *value;
    for (size_t i = 0; i + 1 < count; i++)
        if (str_is_option(words[i], option, &value))
            *ret = value ? value : words[i + 1];
}

/* The reports of the command line's cluster; NULL if they cannot be read. New reference. */
static json_t *completion_reports(char *const *words, size_t count)
{
    struct gpu_options o = { .request_timeout_ms = 2000, .operand_namespace = "ostler-operands" };
    take_value(words, count, "--kubeconfig", &o.kubeconfig);
    take_value(words, count, "--context", &o.context);
    CLEANUP_ERR struct err e = { 0 };
    struct ask *a = ask_open(&o, &e);
    CLEANUP_JSON json_t *snapshot =
        a ? gather(a, &o, &(struct gathering){ SEE_REPORTS, SEE_REPORTS, NULL }, &e) : NULL;
    ask_free(a);
    return json_incref(json_object_get(snapshot, "reports"));
}

static void completion_print_nodes(char *const *words, size_t count, const char *begin)
{
    CLEANUP_JSON json_t *reports = completion_reports(words, count);
    JSON_EACH (report, reports)
        if (snapshot_is_name(object_name(report)) && str_has_prefix(object_name(report), begin))
            printf("%s\t\n", object_name(report));
}

/* Prints the faults of the nodes that the command line names. */
static void completion_print_faults(char *const *words, size_t count, const char *begin)
{
    static const char *const every = EDIT_HEALTH_ALL;
    CLEANUP_JSON json_t *reports = completion_reports(words, count);
    print_those(&every, 1, begin);
    JSON_EACH (report, reports) {
        const char *reason = json_str_or_empty(report, "status.health.reason");
        for (size_t i = 0; i + 1 < count; i++)
            if (str_eq(words[i], object_name(report)) && health_is_reason(reason))
                print_those(&reason, 1, begin);
    }
}

/* Whether an option with this name or letter is among these words. */
static bool completion_is_given(const struct typed *t, const char *name, const char *letter)
{
    for (size_t i = 0; i + 1 < t->count; i++)
        if (str_eq(t->words[i], name) || str_eq(t->words[i], letter))
            return true;
    return false;
}

static void print_outputs(enum gpu_command command, bool watch, const char *begin)
{
    for (int i = SHOW_WIDE; i < SHOW_COUNT; i++) {
        const char *name = gpu_output_name((enum gpu_output) i);
        if (!gpu_output_refused(command, (enum gpu_output) i, watch))
            print_those(&name, 1, begin);
    }
}

/* Completes the value of an option, except free text. Returns true if the shell must complete a
 * file. */
static bool complete_value(const struct typed *t, const char *option, const char *begin)
{
    static const char *const states[] = {
#define X(id, name, served) name,
        NODE_STATES(X)
#undef X
    };
    if (str_eq(option, "-o") || str_eq(option, "--output"))
        print_outputs(t->command, completion_is_given(t, "--watch", "-w"), begin);
    if (str_eq(option, "--state"))
        print_those(states, ARRAY_LEN(states), begin);
    if (str_eq(option, "--fault"))
        completion_print_faults(t->words, t->count, begin);
    return gpu_option_takes_file(option);
}

static void complete_name(enum gpu_command command, char *const *words, size_t count,
                          const char *begin)
{
    static const char *const shells[] = { "bash", "zsh", "fish", "kubectl" };
    static const unsigned of_nodes = 1u << GPU_NODES | 1u << GPU_EXPLAIN | 1u << GPU_EVENTS |
                                     1u << GPU_HOLD | 1u << GPU_RELEASE | 1u << GPU_REPAIR |
                                     1u << GPU_IGNORE;
    if (command == GPU_COMPLETION)
        print_those(shells, ARRAY_LEN(shells), begin);
    else if (command < GPU_COMMAND_COUNT && of_nodes & 1u << command)
        completion_print_nodes(words, count, begin);
}

/* The command among the words before the last, or GPU_COMMAND_COUNT. */
static enum gpu_command command_among(char *const *words, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        if (words[i][0] != '-')
            return gpu_command_of(words[i]);
        i += gpu_option_takes_value(words[i]);
    }
    return GPU_COMMAND_COUNT;
}

int completion_words(char *const *words, size_t count)
{
    const char *last = count ? words[count - 1] : "", *before = count > 1 ? words[count - 2] : "",
               *sign = strchr(last, '=');
    enum gpu_command command = command_among(words, count);
    const struct typed t = { words, count, command };
    bool files = false;
    CLEANUP_FREE char *option = last[0] == '-' && sign ? xstrndup(last, (size_t) (sign - last))
                                                       : NULL;
    if (option)
        files = complete_value(&t, option, sign + 1);
    else if (before[0] == '-' && gpu_option_takes_value(before))
        files = complete_value(&t, before, last);
    else if (last[0] == '-')
        gpu_options_complete_option(command, last);
    else if (command == GPU_COMMAND_COUNT)
        gpu_options_complete_command(last);
    else
        complete_name(command, words, count, last);
    printf(files ? ":0\n" : ":4\n");
    return GPU_DONE;
}
