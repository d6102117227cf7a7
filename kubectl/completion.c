#include "kubectl/completion.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kube/object.h"
#include "kubectl/ask.h"
#include "kubectl/gather.h"
#include "kubectl/show.h"
#include "reconcilers/decide/node_types.h"

/* As in the shells' own completions, each script asks the program for words, so that it never
 * becomes outdated. */
static const struct script {
    const char *shell, *text;
} scripts[] = {
    { "bash", "# kubectl gpu completion bash > /etc/bash_completion.d/kubectl-gpu: completes "
              "\"kubectl-gpu\"; \"kubectl gpu\" takes\n"
              "# kubectl gpu completion kubectl\n"
              "_kubectl_gpu()\n"
              "{\n"
              "    local line word last joins= files= tab=$'\\t' given=() found=()\n"
              "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
              "        # bash takes \"--state=Failed\" for three words\n"
              "        last=$((${#given[@]} - 1))\n"
              "        if [ \"$last\" -ge 0 ] && [[ ${given[last]} == -* && ( $word == = || $joins "
              ") ]]; then\n"
              "            given[last]+=$word\n"
              "        else\n"
              "            given+=(\"$word\")\n"
              "        fi\n"
              "        [ \"$word\" = = ] && joins=yes || joins=\n"
              "    done\n"
              "    while IFS= read -r line; do\n"
              "        [ \"${line:0:1}\" = : ] && files=$line || found+=(\"${line%%\"$tab\"*}\")\n"
              "    done < <(\"${COMP_WORDS[0]}\" __complete \"${given[@]}\" 2>/dev/null)\n"
              "    COMPREPLY=(\"${found[@]}\")\n"
              "    [ \"$files\" != :0 ] || compopt -o default 2>/dev/null\n"
              "}\n"
              "complete -F _kubectl_gpu kubectl-gpu\n" },
    { "zsh", "#compdef kubectl-gpu\n"
             "# kubectl gpu completion zsh > \"${fpath[1]}/_kubectl-gpu\"\n"
             "_kubectl_gpu()\n"
             "{\n"
             "    local -a found\n"
             "    local line files tab=$'\\t' word\n"
             "    while IFS= read -r line; do\n"
             "        [[ $line == :* ]] && files=$line && continue\n"
             "        word=${line%%$tab*}\n"
             "        found+=(\"${word//:/\\\\:}:${line#*$tab}\")\n"
             "    done < <(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
             "    [[ ${words[CURRENT]} == -*=* ]] && compset -P '-*='\n"
             "    if (( $#found )); then _describe 'kubectl gpu' found; elif [[ $files == :0 ]]; "
             "then _files; fi\n"
             "}\n"
             "if [ \"$funcstack[1]\" = _kubectl-gpu ]; then _kubectl_gpu; else compdef "
             "_kubectl_gpu kubectl-gpu; fi\n" },
    { "fish",
      "# kubectl gpu completion fish > ~/.config/fish/completions/kubectl-gpu.fish\n"
      "function __kubectl_gpu_complete\n"
      "    set -l words (commandline -opc) (commandline -ct)\n"
      "    set -l option (string match -r -- '^-[^=]*=' $words[-1])\n"
      "    set -l found ($words[1] __complete $words[2..-1] 2>/dev/null)\n"
      "    if test \"$found[-1]\" = :0\n"
      "        set found (__fish_complete_path (string replace -- \"$option\" '' $words[-1]))\n"
      "    end\n"
      "    set found (string match -v -r -- '^:' $found)\n"
      "    string join \\n -- \"$option\"$found\n"
      "end\n"
      "complete -c kubectl-gpu -f -a '(__kubectl_gpu_complete)'\n" },
    { "kubectl", "#!/bin/sh\n"
                 "# kubectl gpu completion kubectl > kubectl_complete-gpu, executable and in PATH: "
                 "then kubectl completes \"kubectl gpu\"\n"
                 "exec kubectl-gpu __complete \"$@\"\n" },
};

int completion_script(const char *shell)
{
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        if (str_eq(scripts[i].shell, shell)) {
            fputs(scripts[i].text, stdout);
            return GPU_DONE;
        }
    fprintf(stderr, "kubectl gpu: there are completions for bash, zsh, fish and kubectl\n");
    return GPU_USAGE;
}

/* ---- words */

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

/* Prints the nodes of the command line's cluster; none if it cannot be read. */
static void completion_print_nodes(char *const *words, size_t count, const char *begin)
{
    struct gpu_options o = { .request_timeout_ms = 2000, .operand_namespace = "ostler-operands" };
    take_value(words, count, "--kubeconfig", &o.kubeconfig);
    take_value(words, count, "--context", &o.context);
    CLEANUP_ERR struct err e = { 0 };
    struct ask *a = ask_open(&o, &e);
    json_t *snapshot = a ? gather(a, &o, &(struct gathering){ SEE_REPORTS, SEE_REPORTS, NULL }, &e)
                         : NULL;
    size_t i;
    json_t *report;
    json_array_foreach (json_object_get(snapshot, "reports"), i, report)
        if (show_is_name(object_name(report)) && str_has_prefix(object_name(report), begin))
            printf("%s\t\n", object_name(report));
    json_decref(snapshot);
    ask_free(a);
}

/* Whether an option with this name or letter is among these words. */
static bool completion_is_given(char *const *words, size_t count, const char *name,
                                const char *letter)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (str_eq(words[i], name) || str_eq(words[i], letter))
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
static bool complete_value(const char *option, enum gpu_command command, bool watch,
                           const char *begin)
{
    static const char *const states[] = {
#define X(id, name, served) name,
        NODE_STATES(X)
#undef X
    };
    if (str_eq(option, "-o") || str_eq(option, "--output"))
        print_outputs(command, watch, begin);
    if (str_eq(option, "--state"))
        print_those(states, ARRAY_LEN(states), begin);
    return gpu_option_takes_file(option);
}

static void complete_name(enum gpu_command command, char *const *words, size_t count,
                          const char *begin)
{
    static const char *const shells[] = { "bash", "zsh", "fish", "kubectl" };
    static const unsigned of_nodes = 1u << GPU_NODES | 1u << GPU_EXPLAIN | 1u << GPU_EVENTS |
                                     1u << GPU_HOLD | 1u << GPU_RELEASE;
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
    bool watch = completion_is_given(words, count, "--watch", "-w"), files = false;
    CLEANUP_FREE char *option = last[0] == '-' && sign ? xstrndup(last, (size_t) (sign - last))
                                                       : NULL;
    if (option)
        files = complete_value(option, command, watch, sign + 1);
    else if (before[0] == '-' && gpu_option_takes_value(before))
        files = complete_value(before, command, watch, last);
    else if (last[0] == '-')
        gpu_options_complete_option(command, last);
    else if (command == GPU_COMMAND_COUNT)
        gpu_options_complete_command(last);
    else
        complete_name(command, words, count, last);
    printf(files ? ":0\n" : ":4\n");
    return GPU_DONE;
}
