/* What `ostler demo` prints: commands that fit where it runs, and the newest of the story. */
#include "commands/demo_texts.h"

#include <string.h>

#include "base/str.h"
#include "tests/unit/support/suite.h"

enum { TEXT_MAX = 8192 };

static const struct demo_texts here = { .version = "0.1.0",
                                        .speed = "10",
                                        .port = 8081,
                                        .kubeconfig = "/tmp/ostler-run.x/kubeconfig",
                                        .folder = "build/",
                                        .built_in = true,
                                        .machine = "x86_64" };

static void check_block(const struct demo_texts *t, const char *const *has,
                        const char *const *lacks)
{
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    demo_texts_block(t, &out);
    for (; *has; has++)
        if (!strstr(buf_text(&out), *has))
            fail_msg("%s is missing in:\n%s", *has, buf_text(&out));
    for (; *lacks; lacks++)
        if (strstr(buf_text(&out), *lacks))
            fail_msg("%s is in:\n%s", *lacks, buf_text(&out));
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void commands_fit_where_it_runs(void **state)
{
    (void) state;
    check_block(&here,
                WORDS("page        http://127.0.0.1:8081/\n",
                      "export KUBECONFIG=/tmp/ostler-run.x/kubeconfig\n",
                      "build/kubectl-gpu explain infer-c2-7 ", "# loses its GPU now and then\n",
                      "build/kubectl-gpu pause ", "kubectl edit gpupolicy default "),
                WORDS("docker", "curl"));
    struct demo_texts other = here;
    other.built_in = false;
    other.folder = "";
    check_block(&other, WORDS(" kubectl-gpu nodes "), WORDS("explain", "build/"));
    struct demo_texts container = here;
    container.container = "3f2a";
    container.lacks_kubectl = true;
    check_block(&container,
                WORDS("docker exec 3f2a kubectl-gpu explain infer-c2-7 ",
                      "docker exec 3f2a kubectl-gpu pause "),
                WORDS("KUBECONFIG", "build/", "kubectl edit", "curl"));
}

static void kubectl_is_fetched_for_the_machine(void **state)
{
    (void) state;
    struct demo_texts t = here;
    t.lacks_kubectl = true;
    check_block(&t, WORDS("/bin/linux/amd64/kubectl && chmod +x kubectl\n"), WORDS("arm64"));
    t.machine = "aarch64";
    check_block(&t, WORDS("/bin/linux/arm64/kubectl && chmod +x kubectl\n"), WORDS("amd64"));
}

static void the_newest_of_the_story_is_shown(void **state)
{
    (void) state;
    struct demo_story s = { 0 };
    CLEANUP_BUF struct buf out = BUF_INIT(TEXT_MAX);
    demo_story_add(&s, "one", 3);
    demo_story_print(&s, 20, &out);
    assert_string_equal(buf_text(&out), "\n\none\n\n");
    demo_story_add(&s, "two", 3);
    demo_story_add(&s, "three", 5);
    demo_story_add(&s, "a line that is longer than the screen", 37);
    buf_reset(&out);
    demo_story_print(&s, 20, &out);
    assert_string_equal(buf_text(&out), "two\nthree\na line that is lo…\n\n");
    demo_story_clear(&s);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "commands fit where it runs", commands_fit_where_it_runs, NULL);
    suite_add(&s, "kubectl is fetched for the machine", kubectl_is_fetched_for_the_machine, NULL);
    suite_add(&s, "the newest of the story is shown", the_newest_of_the_story_is_shown, NULL);
    return suite_run(&s, "demo_texts");
}
