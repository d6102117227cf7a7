/* `ostler-node reset`: which devices it refuses, what it asks the kernel for, and what it makes of
 * the answer. The kernel is a function: it runs in the process that a reset has of its own. */
#include "node/operand/reset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "node/operand/place.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

enum { BACK_MS = 200, LIMIT_MS = 2000, SOON_MS = 1000, WORDS_MAX = 4096 };

#define A "0000:3b:00.0"
#define B "0000:5e:00.0"
#define FOLDER(address) "sys/bus/pci/devices/" address
#define GPU(address, more) "{'address':'" address "','id':'10de:2330','class':'030200'" more "}"
#define RESETS(address) "'sys/devices/pci0000:" address "/reset':''"
#define RESETS_A RESETS("3b/" A)
#define RESETS_B RESETS("5e/" B)
#define MACHINE(pci, files) "{'pci':[" pci "],'files':{'sys/module/kernel/x':''" files "}}"
#define TWO MACHINE(GPU(A, "") "," GPU(B, ""), "," RESETS_A "," RESETS_B)

/* What the kernel does when it is asked to reset a GPU. */
enum answer {
    RESETS,     /* it resets the GPU */
    LOSES,      /* the GPU returns ones afterwards */
    RETURNS,    /* the same, but not for long */
    FAILS,      /* no method works */
    HAS_NO_GPU, /* the GPU is gone meanwhile */
    NEVER_ENDS,
};

static struct kernel {
    enum answer a, b;
} kernel;

static void set_config(const struct root *root, const char *address, const char *bytes)
{
    CLEANUP_FREE char *path = xasprintf("sys/bus/pci/devices/%s/config", address);
    assert_int_equal(place_write(root, path, bytes), 0);
}

/* Stands in for the kernel. */
static int answer(const struct root *root, const char *path, const char *text)
{
    const char *address = strstr(path, A) ? A : B;
    switch (str_eq(address, A) ? kernel.a : kernel.b) {
    case FAILS:
        return ENOTTY;
    case HAS_NO_GPU:
        return ENODEV;
    case NEVER_ENDS:
        pause();
        return 0;
    case LOSES:
        set_config(root, address, "\xff\xff\xff\xff");
        break;
    case RETURNS:
        set_config(root, address, "\xff\xff\xff\xff");
        if (fork() == 0) {
            usleep(BACK_MS / 4 * 1000);
            set_config(root, address, "\xde\x10\x30\x23");
            _exit(0);
        }
        break;
    case RESETS:
        break;
    }
    return place_write(root, path, text);
}

static const struct row {
    const char *name;
    const char *machine;
    const char *addresses[4];
    struct kernel kernel;
    const char *result;
    bool fails;
    const char *was_reset[2]; /* what the files `reset` of both GPUs got */
} rows[] = {
    { "a GPU without a driver", TWO, { A }, { 0 }, "reset " A, false, { "1", "" } },
    { "several", TWO, { B, A }, { 0 }, "reset " B ", " A, false, { "1", "1" } },
    { "a GPU that offers no reset does not stop the others",
      MACHINE(GPU(A, "") "," GPU(B, ""), "," RESETS_A),
      { B, A },
      { 0 },
      "reset " A "; " B " offers no reset: only a reboot helps",
      true,
      { "1", "" } },
    { "a reset that is no file",
      MACHINE(GPU(A, ""), ",'sys/devices/pci0000:3b/" A "/reset':{'folder':true}"),
      { A },
      { 0 },
      A " offers no reset: only a reboot helps",
      true,
      { "", "" } },
    { "a GPU with its driver",
      MACHINE(GPU(A, ",'driver':'nvidia'") "," GPU(B, ""), "," RESETS_A "," RESETS_B),
      { A, B },
      { 0 },
      "reset " B "; " A " has the driver nvidia, which must be unloaded first",
      true,
      { "", "1" } },
    { "a GPU that a virtual machine may use",
      MACHINE(GPU(A, ",'driver':'vfio-pci'"), "," RESETS_A),
      { A },
      { 0 },
      A " has the driver vfio-pci, which must be unloaded first",
      true,
      { "", "" } },
    { "no GPU while the module is loaded: NVLink connects it with others",
      MACHINE(GPU(A, ""), "," RESETS_A ",'sys/module/nvidia/refcnt':'0'"),
      { A },
      { 0 },
      A " has a driver: the module nvidia is loaded, and must be unloaded first",
      true,
      { "", "" } },
    { "no GPU where modules cannot be seen",
      "{'pci':[" GPU(A, "") "],'files':{" RESETS_A "}}",
      { A },
      { 0 },
      A " may have a driver: cannot read sys/module: Not a directory",
      true,
      { "", "" } },
    { "a switch between GPUs",
      MACHINE("{'address':'" A "','id':'10de:22a3','class':'068000'}", "," RESETS_A),
      { A },
      { 0 },
      A " is a switch between GPUs: only a reboot resets it",
      true,
      { "", "" } },
    { "a network card",
      MACHINE("{'address':'" A "','id':'15b3:1021','class':'020000'}", "," RESETS_A),
      { A },
      { 0 },
      A " is no GPU of this machine, or has fallen off the bus",
      true,
      { "", "" } },
    { "the sound of a GPU",
      MACHINE("{'address':'" A "','id':'10de:22bd','class':'040300'}", "," RESETS_A),
      { A },
      { 0 },
      A " is no GPU of this machine, or has fallen off the bus",
      true,
      { "", "" } },
    { "a GPU of another vendor",
      MACHINE("{'address':'" A "','id':'8086:56c0','class':'038000'}", "," RESETS_A),
      { A },
      { 0 },
      A " is no GPU of this machine, or has fallen off the bus",
      true,
      { "", "" } },
    { "a virtual function of a GPU",
      MACHINE(GPU(B, "") "," GPU(A, ",'of':'" B "'"), "," RESETS_A),
      { A },
      { 0 },
      A " is no GPU of this machine, or has fallen off the bus",
      true,
      { "", "" } },
    { "a GPU that is not there",
      MACHINE(GPU(B, ""), ""),
      { A },
      { 0 },
      A " is no GPU of this machine, or has fallen off the bus",
      true,
      { "", "" } },
    { "no bus",
      "{'files':{'sys/module/kernel/x':''}}",
      { A },
      { 0 },
      A " cannot be found: the PCI bus cannot be read",
      true,
      { "", "" } },
    { "a path",
      TWO,
      { "../" A, A "/../" B, "/" A },
      { 0 },
      "../" A " is no PCI address; " A "/../" B " is no PCI address; /" A " is no PCI address",
      true,
      { "", "" } },
    { "what only looks like an address",
      TWO,
      { "0000:3B:00.0", "3b:00.0", A "\n", "" },
      { 0 },
      "0000:3B:00.0 is no PCI address; 3b:00.0 is no PCI address; " A
      " is no PCI address;  is no PCI address",
      true,
      { "", "" } },
    { "a long one is shown in part",
      TWO,
      { "000000000000000000000000000000000000000000000000000000:3b:00.0" },
      { 0 },
      "0000000000000000000000000000000000000000 is no PCI address",
      true,
      { "", "" } },
    { "the kernel knows no way",
      TWO,
      { A, B },
      { .a = FAILS },
      "reset " B "; " A " was not reset: every method of the kernel failed: only a reboot helps",
      true,
      { "", "1" } },
    { "another error of the kernel",
      TWO,
      { A, B },
      { .b = HAS_NO_GPU },
      "reset " A "; " B " was not reset: No such device",
      true,
      { "1", "" } },
    { "a GPU that does not come back",
      TWO,
      { A, B },
      { .a = LOSES },
      "reset " B "; " A " does not respond after its reset: only a reboot helps",
      true,
      { "1", "1" } },
    { "a GPU that comes back late", TWO, { A }, { .a = RETURNS }, "reset " A, false, { "1", "" } },
    { "a GPU that returned ones before",
      MACHINE(GPU(A, ",'silent':true"), "," RESETS_A),
      { A },
      { .a = RETURNS },
      "reset " A,
      false,
      { "1", "" } },
};

static char *words_of(const char *file)
{
    char text[WORDS_MAX] = "";
    FILE *f = fopen(file, "re");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text - 1, f);
    text[len] = '\0';
    fclose(f);
    return xstrdup(text);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_JSON json_t *machine = tree(row->machine);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FREE char *words = xasprintf("%s/termination-log", path);
    struct reset r = { .addresses = row->addresses,
                       .write = answer,
                       .limit_ms = LIMIT_MS,
                       .back_ms = BACK_MS,
                       .words = words };
    while (r.count < ARRAY_LEN(row->addresses) && row->addresses[r.count])
        r.count++;
    kernel = row->kernel;
    fclose(fopen(words, "we"));
    assert_int_equal(root_open(&root, path, NULL), 0);
    assert_int_equal(reset_run(&root, &r, &e), row->fails ? -1 : 0);
    CLEANUP_FREE char *said = words_of(words);
    assert_string_equal(row->fails ? err_msg(&e) : said, row->result);
    static const char *const files[] = { FOLDER(A) "/reset", FOLDER(B) "/reset" };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CLEANUP_FREE char *got = fake_root_text(&root, files[i]);
        assert_string_equal(got, row->was_reset[i]);
    }
}

/* The kernel may take long for one GPU: the others are reset all the same, and the program ends. */
static void check_limit(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *machine = tree(TWO);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    static const char *const both[] = { A, B };
    kernel = (struct kernel){ .a = NEVER_ENDS };
    assert_int_equal(root_open(&root, path, NULL), 0);
    assert_int_equal(
        reset_run(&root, &(struct reset){ both, 2, answer, SOON_MS, BACK_MS, "/dev/null" }, &e),
        -1);
    assert_string_equal(err_msg(&e), "reset " B "; " A " has not ended its reset after 1 seconds");
}

/* All sentences fit, whatever they say. */
static void check_many(void **state)
{
    (void) state;
    CLEANUP_JSON json_t *machine = tree(TWO);
    CLEANUP_FAKE_ROOT char *path = fake_root_new(machine);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    const char *addresses[RESET_GPUS_MAX];
    char longest[128];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < RESET_GPUS_MAX; i++)
        addresses[i] = longest;
    assert_int_equal(root_open(&root, path, NULL), 0);
    assert_int_equal(reset_run(&root,
                               &(struct reset){ addresses, RESET_GPUS_MAX, answer, SOON_MS, BACK_MS,
                                                "/dev/null" },
                               &e),
                     -1);
    size_t told = 0;
    for (const char *at = err_msg(&e); (at = strstr(at, "is no PCI address")); at++)
        told++;
    assert_int_equal(told, RESET_GPUS_MAX);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "a reset that does not end", check_limit, NULL);
    suite_add(&s, "as many as there may be", check_many, NULL);
    return suite_run(&s, "reset");
}
