/* The process on a node, against a server of a few lines: what it asks, and that it outlives its
 * looks and ends when it is told to. */
#include "node/agent/agent.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "node/inventory/nvml.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum {
    AT_ONCE_MS = 100, /* within this time of its start the agent of such a node looks */
    PATIENCE_MS = 20 * 1000,
    NOTHING_MS = 2500, /* longer than the pause after a first failure */
    REQUEST_MAX = 2048,
    REPORT_MAX = 1 << 16,
    SILENCE_MS = 100,      /* after a request of which all has come */
    CHANGE_MS = 10 * 1000, /* until a change is reported */
};

#define BOOT_ID "7c1e0a52-4d2c-4f5b-8d9a-6a2fb0a7b1c2"

struct setting {
    int listener;
    char *root;
    char *kubeconfig;
    char node[32];
    char *log; /* a file in place of the kernel log; NULL: none */
    pid_t agent;
};

/* A node whose turn is at once. */
static void choose_node(struct setting *s)
{
    struct pace p = { .next_ms = INT64_MAX };
    for (int i = 0; p.next_ms > AT_ONCE_MS; i++) {
        snprintf(s->node, sizeof s->node, "node-%d", i);
        pace_init(&p, s->node, 0);
    }
}

static int listen_somewhere(int *ret_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &address, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &len), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static char *write_kubeconfig(const char *root, int port)
{
    CLEANUP_FREE char *text = xasprintf(
        "{'apiVersion':'v1','kind':'Config','current-context':'c','contexts':[{'name':'c','context'"
        ":{'cluster':'c',"
        "'user':'u'}}],'clusters':[{'name':'c','cluster':{'server':'http://127.0.0.1:%d'}}],"
        "'users':[{'name':'u','user':{}}]}",
        port);
    CLEANUP_FREE char *quoted = json_quoted(text);
    char *path = xasprintf("%s/kubeconfig", root);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(quoted, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void run_agent(const struct setting *s)
{
    CLEANUP_ROOT struct root root = { .fd = -1 };
    if (root_open(&root, s->root, NULL) < 0)
        _exit(2);
    log_setup(LOG_SILENT, false);
    const struct scan_options o = { s->node, s->kubeconfig, "test", &root, s->log };
    _exit(node_agent_run(&o, NULL) == 0 ? 0 : 1);
}

/* `root`: of the machine; taken. */
static void prepare_on(struct setting *s, char *root)
{
    int port;
    *s = (struct setting){ .root = root };
    s->listener = listen_somewhere(&port);
    s->kubeconfig = write_kubeconfig(s->root, port);
    choose_node(s);
}

static void prepare(struct setting *s)
{
    prepare_on(s, fake_root_with("'run/x':'','proc/sys/kernel/random/boot_id':'" BOOT_ID "\\n'"));
}

static void start(struct setting *s)
{
    s->agent = fork();
    assert_true(s->agent >= 0);
    if (s->agent == 0)
        run_agent(s);
}

static void begin(struct setting *s)
{
    prepare(s);
    start(s);
}

/* Told to end, it ends with 0. */
static void end(struct setting *s)
{
    int status;
    assert_int_equal(kill(s->agent, SIGTERM), 0);
    assert_int_equal(waitpid(s->agent, &status, 0), s->agent);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(s->listener);
    fake_root_free(s->root);
    free(s->kubeconfig);
    free(s->log);
}

static bool is_ready(int fd, int ms)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    return poll(&ready, 1, ms) == 1;
}

/* The next request's connection, of which the first line must be this question. */
static int take_question(const struct setting *s)
{
    char request[REQUEST_MAX];
    CLEANUP_FREE char *want = xasprintf("GET /apis/ostler.dev/v1alpha1/gpunodes/%s HTTP/1.1\r\n",
                                        s->node);
    assert_true(is_ready(s->listener, PATIENCE_MS));
    int fd = accept(s->listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_true(is_ready(fd, PATIENCE_MS));
    ssize_t n = recv(fd, request, sizeof request - 1, 0);
    assert_true(n > 0);
    request[n] = '\0';
    assert_true(str_has_prefix(request, want));
    return fd;
}

/* Answers the next request, which must begin with this, with an object. Returns the request, owned
 * by the caller. */
static char *answer_next(const struct setting *s, const char *verb, const char *object, int ms)
{
    CLEANUP_BUF struct buf request = BUF_INIT(REPORT_MAX);
    CLEANUP_FREE char *quoted = json_quoted(object),
                      *text = xasprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                                        "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
                                        strlen(quoted), quoted);
    char chunk[REQUEST_MAX];
    ssize_t n;
    assert_true(is_ready(s->listener, ms));
    int fd = accept(s->listener, NULL, NULL);
    assert_true(fd >= 0);
    while (is_ready(fd, SILENCE_MS) && (n = recv(fd, chunk, sizeof chunk, 0)) > 0)
        assert_true(buf_add(&request, chunk, (size_t) n));
    assert_true(str_has_prefix(buf_text(&request), verb));
    assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
    close(fd);
    return buf_take(&request);
}

/* Whether the other side is gone. */
static bool is_over(int fd)
{
    char byte;
    return is_ready(fd, PATIENCE_MS) && recv(fd, &byte, 1, 0) <= 0;
}

/* The process of the look that is on; 0: none is. */
static pid_t look_of(pid_t agent)
{
    int look = 0;
    CLEANUP_FREE char *path = xasprintf("/proc/%d/task/%d/children", (int) agent, (int) agent);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    if (fscanf(f, "%d", &look) != 1)
        look = 0;
    fclose(f);
    return look;
}

static void check_quiet(void **state)
{
    (void) state;
    static const char answer[] =
        "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    struct setting s;
    begin(&s);
    int fd = take_question(&s);
    assert_int_equal(send(fd, answer, sizeof answer - 1, 0), sizeof answer - 1);
    assert_true(is_over(fd));
    assert_false(is_ready(s.listener, NOTHING_MS));
    close(fd);
    end(&s);
}

static void check_again(void **state)
{
    (void) state;
    struct setting s;
    begin(&s);
    close(take_question(&s));
    close(take_question(&s));
    end(&s);
}

static void check_killed_look(void **state)
{
    (void) state;
    struct setting s;
    begin(&s);
    int fd = take_question(&s);
    pid_t look = look_of(s.agent);
    assert_true(look > 0);
    assert_int_equal(kill(look, SIGKILL), 0);
    assert_true(is_over(fd));
    close(fd);
    close(take_question(&s));
    end(&s);
}

/* It does not wait for the look, and leaves none behind. */
static void check_stopped(void **state)
{
    (void) state;
    const struct clock clock = clock_system();
    struct setting s;
    begin(&s);
    int fd = take_question(&s);
    int64_t began_ms = clock_mono_ms(&clock);
    end(&s);
    assert_true(clock_mono_ms(&clock) - began_ms < NOTHING_MS);
    assert_true(is_over(fd));
    close(fd);
}

/* Mounts a file system that never answers where a runtime has its socket. False: the test must not
 * mount. */
static bool mount_what_hangs(const char *place, int *ret_fuse)
{
    char options[64];
    *ret_fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (*ret_fuse < 0)
        return false;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", *ret_fuse);
    return mount("hangs", place, "fuse", 0, options) == 0;
}

/* The look hangs, and is ended when its time is over; the agent does not. */
static void check_machine_that_hangs(void **state)
{
    (void) state;
    struct setting s;
    int fuse;
    prepare(&s);
    CLEANUP_FREE char *place = xasprintf("%s/run/k3s", s.root);
    assert_int_equal(mkdir(place, 0755), 0);
    bool hangs = mount_what_hangs(place, &fuse);
    start(&s);
    poll(NULL, 0, NOTHING_MS);
    bool looks = look_of(s.agent) > 0;
    if (hangs)
        umount2(place, MNT_FORCE | MNT_DETACH);
    if (fuse >= 0)
        close(fuse);
    assert_true(looks);
    end(&s);
}

/* ---- the kernel log */

/* From a line of the log to the inventory in the GpuNode. */
enum { LOG_MS = 15 * 1000 };

/* What the GpuNode has when the agent starts: more than the log still has. */
#define SAID                                                                                       \
    "{\"address\":\"0000:3b:00.0\",\"xid\":31,\"count\":7,\"first\":\"2020-01-01T00:00:00Z\","     \
    "\"last\":\"2020-01-01T00:00:00Z\",\"bootId\":\"" BOOT_ID "\"}"

/* A write that contains these texts. */
static void expect_write(const struct setting *s, const char *first, const char *second)
{
    CLEANUP_FREE char *object = xasprintf(
        "{'metadata':{'name':'%s','uid':'u'},'status':{'inventory':{'faults':[" SAID "]}}}",
        s->node);
    free(answer_next(s, "GET ", object, PATIENCE_MS));
    CLEANUP_FREE char *write = answer_next(s, "PATCH ", object, PATIENCE_MS);
    assert_non_null(strstr(write, first));
    assert_non_null(strstr(write, second));
}

static void write_log(const struct setting *s, const char *line)
{
    FILE *f = fopen(s->log, "ae");
    assert_non_null(f);
    fputs(line, f);
    assert_int_equal(fclose(f), 0);
}

static void check_log(void **state)
{
    (void) state;
    const struct clock clock = clock_system();
    struct setting s;
    prepare(&s);
    s.log = xasprintf("%s/log", s.root);
    write_log(&s, "<4>[    1.000000] NVRM: Xid (PCI:0000:4c:00): 48, x\n");
    start(&s);
    expect_write(&s, SAID, "\"xid\":48,\"count\":1,");
    write_log(&s, "<4>[    2.000000] NVRM: Xid (PCI:0000:3b:00): 31, x\n"
                  "<12>[    2.000000] NVRM: Xid (PCI:0000:5d:00): 79, forged\n"
                  "<4>[    3.000000] NVRM: Xid (PCI:0000:4c:00): 79, x\n");
    int64_t began_ms = clock_mono_ms(&clock);
    expect_write(&s, "\"xid\":31,\"count\":8,",
                 "{\"address\":\"0000:4c:00.0\",\"xid\":79,\"count\":1,");
    assert_true(clock_mono_ms(&clock) - began_ms < LOG_MS);
    assert_false(is_ready(s.listener, NOTHING_MS));
    end(&s);
}

/* A log that cannot be read costs nothing but itself. */
static void check_log_that_is_missing(void **state)
{
    (void) state;
    struct setting s;
    prepare(&s);
    s.log = xasprintf("%s/nowhere", s.root);
    start(&s);
    expect_write(&s, "{\"path\":\"kernel log\",\"reason\":", "\"faults\":null");
    end(&s);
}

/* What `ostler-node cards` reports of a GPU's health is in the GpuNode within ten seconds. */
static void check_health(void **state)
{
    (void) state;
    const struct clock clock = clock_system();
    struct setting s;
    prepare_on(&s, fake_root_of("ubuntu-hgx-sick"));
    CLEANUP_FREE char *file = xasprintf("%s/" NVML_FILE, s.root);
    CLEANUP_BUF struct buf text = BUF_INIT(NVML_TEXT_MAX);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    assert_int_equal(root_open(&root, s.root, NULL), 0);
    assert_int_equal(root_read(&root, NVML_FILE, &text), 0);
    CLEANUP_FREE char *object = xasprintf(
        "{'apiVersion':'ostler.dev/v1alpha1','kind':'GpuNode','metadata':"
        "{'name':'%s','uid':'u','resourceVersion':'1'}}",
        s.node);
    start(&s);
    free(answer_next(&s, "GET ", object, PATIENCE_MS));
    CLEANUP_FREE char *first = answer_next(&s, "PATCH ", object, PATIENCE_MS);
    assert_non_null(strstr(first, "\"recovery\":\"Reset\""));
    assert_null(strstr(first, "\"recovery\":\"Reboot\""));
    int64_t began_ms = clock_mono_ms(&clock);
    char *changed = strstr(text.data, "recovery=Reset");
    assert_non_null(changed);
    /* Over the rest of the text, which is longer. */
    strcpy(changed, "recovery=Reboot\nend\n");
    assert_int_equal(file_write(file, 0644, text.data, strlen(text.data), NULL), 0);
    free(answer_next(&s, "GET ", object, CHANGE_MS));
    CLEANUP_FREE char *second = answer_next(&s, "PATCH ", object, CHANGE_MS);
    assert_true(clock_mono_ms(&clock) - began_ms < CHANGE_MS);
    assert_non_null(strstr(second, "\"recovery\":\"Reboot\""));
    end(&s);
}

/* A GPU falls off the bus while nothing else tells of it: no event, no kernel log, no NVML. */
static void check_lost_gpu(void **state)
{
    (void) state;
    const struct clock clock = clock_system();
    struct setting s;
    prepare_on(&s, fake_root_of("ubuntu-hgx-sick"));
    CLEANUP_FREE char *config = xasprintf("%s/sys/bus/pci/devices/0000:3b:00.0/config", s.root);
    CLEANUP_FREE char *object = xasprintf(
        "{'apiVersion':'ostler.dev/v1alpha1','kind':'GpuNode','metadata':"
        "{'name':'%s','uid':'u','resourceVersion':'1'}}",
        s.node);
    start(&s);
    free(answer_next(&s, "GET ", object, PATIENCE_MS));
    CLEANUP_FREE char *first = answer_next(&s, "PATCH ", object, PATIENCE_MS);
    assert_null(strstr(first, "\"Silent\""));
    int64_t began_ms = clock_mono_ms(&clock);
    assert_int_equal(file_write(config, 0644, "\xff\xff\xff\xff", 4, NULL), 0);
    free(answer_next(&s, "GET ", object, CHANGE_MS));
    CLEANUP_FREE char *second = answer_next(&s, "PATCH ", object, CHANGE_MS);
    assert_true(clock_mono_ms(&clock) - began_ms < CHANGE_MS);
    assert_non_null(strstr(second, "\"Silent\""));
    assert_false(is_ready(s.listener, PACE_WATCH_MS + NOTHING_MS));
    end(&s);
}

int main(void)
{
    struct suite s = { 0 };
    suite_add(&s, "a GPU that falls off the bus without a word", check_lost_gpu, NULL);
    suite_add(&s, "where there is no GPU and no GpuNode it asks once", check_quiet, NULL);
    suite_add(&s, "a question without an answer is asked again", check_again, NULL);
    suite_add(&s, "a look that is killed is made again", check_killed_look, NULL);
    suite_add(&s, "told to end in the middle of a look", check_stopped, NULL);
    suite_add(&s, "a GPU whose health changes", check_health, NULL);
    suite_add(&s, "a machine that hangs", check_machine_that_hangs, NULL);
    suite_add(&s, "a fault of the kernel log", check_log, NULL);
    suite_add(&s, "a kernel log that is missing", check_log_that_is_missing, NULL);
    return suite_run(&s, "agent");
}
