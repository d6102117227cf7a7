/* Lines of the kernel log, and the faults that they are. Each row of the driver says where the
 * driver writes such a line, in the sources of NVIDIA/open-gpu-kernel-modules: the branch or
 * version, the file, the function. */
#include "node/inventory/xid_line.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/str.h"
#include "tests/unit/support/suite.h"

#define KERNEL_RC "kernel_rc.c, krcReportXid_IMPL"
#define GPU_C "gpu.c, _gpuRefreshRecoveryActionInLock"
#define OSAPI "osapi.c, rm_is_supported_device"
#define SXID "common_nvswitch.h, NVSWITCH_PRINT_SXID"
#define XC "as NVIDIA's Xid catalogue shows it; the text is written by the GPU's firmware"

/* A name that a user chose; a process has at most 15 bytes. */
#define LONGEST(name) name
_Static_assert(sizeof(LONGEST(" Fatal XC0 i0 L")) == 16, "as long as a name may be");

static const struct row {
    const char *name;
    const char *from; /* where the driver writes it; NULL: it does not */
    const char *text; /* lines; after a tab, one that continues the message before it */
    const char *want; /* the faults, each as "address xid [what else]" and a semicolon */
} rows[] = {
    { "an Xid with a process", "595.45, " KERNEL_RC,
      "NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python3, Ch 00000008, intr 00000000. MMU "
      "Fault",
      "0000:3b:00 31;" },
    { "an Xid without a process", "595.45, " KERNEL_RC,
      "NVRM: Xid (PCI:0000:cb:00): 119, Timeout after 6s of waiting for RPC response",
      "0000:cb:00 119;" },
    { "an Xid without a text", "570, " KERNEL_RC, "NVRM: Xid (PCI:0000:cb:00): 62, ",
      "0000:cb:00 62;" },
    { "of a MIG instance", "515, " KERNEL_RC,
      "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, name=a, Contained: CE User Channel "
      "(0x9). "
      "RST: No, D-RST: No",
      "0000:01:00 94;" },
    { "of a compute instance", "550, " KERNEL_RC,
      "NVRM: Xid (PCI:0000:01:00 GPU-I:11 GPU-CI:00): 43, pid=7194, name=a, Ch 00000010",
      "0000:01:00 43;" },
    { "caused by another", "595.45, " KERNEL_RC,
      "NVRM: Xid (PCI:0000:dc:00): 45, pid=18, name=python3, Ch 00000001 caused by previous Xid "
      "149",
      "0000:dc:00 45;" },
    { "of an unknown process", "535, " KERNEL_RC,
      "NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception",
      "0000:cb:00 13;" },
    { "before processes were named", "drivers before 460: Bumblebee issue 677",
      "NVRM: Xid (PCI:0000:01:00): 32, Channel ID 00000000 intr 00004000", "0000:01:00 32;" },
    { "without PCI:", "very old drivers; gpud takes it too",
      "NVRM: Xid (0000:03:00): 31, Ch 00000003", "0000:03:00 31;" },
    { "a domain of more than four digits", "595.45, " KERNEL_RC,
      "NVRM: Xid (PCI:10000:01:00): 79, GPU has fallen off the bus.", "10000:01:00 79;" },
    { "an uncontained error", "570, kern_gpu_error_cont_ga100.c, gpuGenerateErrorLog",
      "NVRM: Xid (PCI:0000:01:00): 95, pid=7062, Uncontained: LTC TAG (0x2, 0x1). RST: Yes, "
      "D-RST: No",
      "0000:01:00 95;" },
    { "off the bus: its second line is not another fault", "595.45, osinit.c, osHandleGpuLost",
      "NVRM: GPU at PCI:0000:3b:00: GPU-d1ae1f5c-1c9b-4a3e-9a51-5d1f0c8f9b11\n"
      "NVRM: GPU Board Serial Number: 1650123456789\n"
      "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n"
      "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\n"
      "NVRM: GPU 0000:3b:00.0: GPU serial number is 1650123456789.",
      "0000:3b:00 79;" },

    /* the recovery action */
    { "recovery: a reset", "595.45, " GPU_C,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU "
      "Reset Required)",
      "0000:3b:00 154 Reset;" },
    { "recovery: a reboot, while a process calls", "570, " GPU_C,
      "NVRM: Xid (PCI:0000:3b:00): 154, pid=12, name=nvidia-smi, GPU recovery action changed from "
      "0x1 (GPU Reset Required) to 0x2 (Node Reboot Required)",
      "0000:3b:00 154 Reboot;" },
    { "recovery: peers", "570, " GPU_C,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x3 (Drain "
      "P2P)",
      "0000:3b:00 154 DrainPeers;" },
    { "recovery: a reset of a drained GPU", "570, " GPU_C,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain "
      "and Reset)",
      "0000:3b:00 154 DrainAndReset;" },
    { "recovery: the domain", "595.45, " GPU_C,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x5 "
      "(Recover "
      "IMEX Domain)",
      "0000:3b:00 154 RecoverDomain;" },
    { "recovery: over", "595.45, " GPU_C,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x2 (Node Reboot "
      "Required) "
      "to 0x0 (None)",
      "0000:3b:00 154 None;" },
    { "recovery: a number that is not known", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x6 "
      "(Unknown)",
      "0000:3b:00 154;" },
    { "recovery: a large number", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0xffffffff "
      "(Unknown)",
      "0000:3b:00 154;" },
    { "recovery: no second number", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required)",
      "0000:3b:00 154;" },
    { "recovery: only Xid 154 has one", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 31, GPU recovery action changed from 0x0 (None) to 0x2 (x)",
      "0000:3b:00 31;" },

    /* NVLink 5 */
    { "NVLink, fatal", XC,
      "NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 "
      "0x00000000 0x00000000 0x00000000 0x00000000)",
      "0018:01:00 149 fatal;" },
    { "NVLink, not fatal", XC,
      "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008)",
      "0018:01:00 145 not fatal;" },
    { "NVLink, of no link", XC,
      "NVRM: Xid (PCI:0019:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000)",
      "0019:01:00 149 fatal;" },
    { "NVLink, with more spaces", XC,
      "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6)",
      "0009:01:00 149 fatal;" },
    { "NVLink, before driver 575", XC,
      "NVRM: Xid (PCI:0000:0e:00): 149, NETIR_LINK_EVT Fatal XC 1 i 2 Link 01 [0x0000000a]",
      "0000:0e:00 149 fatal;" },
    { "NVLink, while a process calls", XC,
      "NVRM: Xid (PCI:0018:01:00): 144, pid=1, name=python3, SAW_MVB Nonfatal XC1 i0 Link 0 (0x1)",
      "0018:01:00 144 not fatal;" },
    { "NVLink, and not said which", NULL, "NVRM: Xid (PCI:0018:01:00): 147, NETIR_LINK_EVT",
      "0018:01:00 147;" },
    { "NVLink: only its own Xids have it", NULL,
      "NVRM: Xid (PCI:0018:01:00): 151, A Fatal XC0 i0 Link 08 (0x1)", "0018:01:00 151;" },

    /* switches */
    { "an SXid", "595.45, " SXID,
      "nvidia-nvswitch3: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV "
      "error (First)",
      "0000:85:00.0 12028 nvswitch;" },
    { "an SXid with a short number", "595.45, " SXID,
      "nvidia-nvswitch0: SXid (PCI:0000:85:00.0): 00042, Fatal, x", "0000:85:00.0 42 nvswitch;" },
    { "an SXid counts once, not with what describes it",
      "595.45, error_nvswitch.c, nvswitch_log_error",
      "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 23001, Fatal, Link 12 Always Fatal\n"
      "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 23001, Severity 1 Engine instance 12 Sub-engine "
      "instance 00\n"
      "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 23001, Data {0x00000001, 0x00000000}",
      "0000:c1:00.0 23001 nvswitch;" },
    { "an SXid without a function", NULL, "nvidia-nvswitch0: SXid (PCI:0000:85:00): 12028, x", "" },
    { "an SXid that is too large", NULL, "nvidia-nvswitch0: SXid (PCI:0000:85:00.0): 65536, x",
      "" },
    { "an SXid of no switch", NULL, "nvidia-nvswitch: SXid (PCI:0000:85:00.0): 12028, x", "" },

    /* three lines */
    { "a GPU that does not answer at the start", "515 to 595.45, " OSAPI,
      "NVRM: The NVIDIA GPU 0000:18:00.0\n"
      "\tNVRM: (PCI ID: 10de:2330) installed in this system has\n"
      "\tNVRM: fallen off the bus and is not responding to commands.",
      "0000:18:00.0 79;" },
    { "with another message between", NULL,
      "NVRM: The NVIDIA GPU 0000:18:00.0\nusb 1-1: new device\n"
      "\tNVRM: (PCI ID: 10de:2330) installed in this system has\n"
      "\tNVRM: fallen off the bus and is not responding to commands.",
      "" },
    { "two of them", OSAPI,
      "NVRM: The NVIDIA GPU 0000:18:00.0\n"
      "\tNVRM: (PCI ID: 10de:2330) installed in this system has\n"
      "\tNVRM: fallen off the bus and is not responding to commands.\n"
      "NVRM: The NVIDIA GPU 0000:2a:00.0\n"
      "\tNVRM: (PCI ID: 10de:2330) installed in this system has\n"
      "\tNVRM: fallen off the bus and is not responding to commands.",
      "0000:18:00.0 79;0000:2a:00.0 79;" },
    { "the end alone", NULL, "NVRM: fallen off the bus and is not responding to commands.", "" },
    { "the end alone, in a message about something else", NULL,
      "x\n\tNVRM: fallen off the bus and is not responding to commands.", "" },
    { "the end twice", NULL,
      "NVRM: The NVIDIA GPU 0000:18:00.0\n"
      "\tNVRM: fallen off the bus and is not responding to commands.\n"
      "\tNVRM: fallen off the bus and is not responding to commands.",
      "0000:18:00.0 79;" },
    { "the end in another message", NULL,
      "NVRM: The NVIDIA GPU 0000:18:00.0\n"
      "NVRM: fallen off the bus and is not responding to commands.",
      "" },
    { "a GPU that another driver supports", "595.45, " OSAPI,
      "NVRM: The NVIDIA GPU 0000:18:00.0\n"
      "\tNVRM: (PCI ID: 10de:1234) installed in this system is not supported by the driver.",
      "" },
    { "a place that is none", NULL,
      "NVRM: The NVIDIA GPU 0000:18:00.9\n"
      "\tNVRM: fallen off the bus and is not responding to commands.",
      "" },

    /* lines that a program begins within a message of the kernel */
    { "a version that a program says", "595.45, osapi.c, rm_perform_version_check",
      "NVRM: API mismatch: the client 'python3' (pid 1234)\n"
      "\tNVRM: has the version x\n"
      "\tNVRM: Xid (PCI:0000:3b:00): 79, but this kernel module has\n"
      "\tNVRM: the version 595.45.04.  Please make sure that this",
      "" },
    { "the name of a program that crashes", "Linux, mm/memory.c, print_vma_addr",
      "python3[1234]: segfault at 0 ip 000055d0 sp 00007ffc error 4 in x\n"
      "\tNVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x0 "
      "(None)\n"
      "\tx[55d0+1000] likely on CPU 1 (core 1, socket 0)",
      "" },
    { "the name of a program without arguments", "Linux, fs/exec.c, do_execveat_common",
      "process 'x\n"
      "\tnvidia-nvswitch0: SXid (PCI:0000:85:00.0): 12028, Fatal, x' launched '/bin/true' with "
      "NULL argv: empty string added",
      "" },
    { "a program that begins the message about a GPU", NULL,
      "x\n"
      "\tNVRM: The NVIDIA GPU 0000:18:00.0\n"
      "\tNVRM: fallen off the bus and is not responding to commands.",
      "" },

    /* names that a user chose */
    { "a name with another number", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=" LONGEST("): 79, GPU has ") ", Ch 00000008",
      "0000:3b:00 31;" },
    { "a name that begins a line", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=\n\tNVRM: Xid (PCI:0000, Ch 00000008",
      "0000:3b:00 31;" },
    { "a name that says fatal", NULL,
      "NVRM: Xid (PCI:0018:01:00): 145, pid=1, name=" LONGEST(
          " Fatal XC0 i0 L") ", RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2)",
      "0018:01:00 145 not fatal;" },
    { "a name that says fatal, where the driver does not", NULL,
      "NVRM: Xid (PCI:0018:01:00): 145, pid=1, name=" LONGEST(" Fatal XC0 i0 L") ", Link 13",
      "0018:01:00 145;" },
    { "a name that says what must happen", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 154, pid=1, name=" LONGEST(
          "(x) to 0x2 (y) ") ", GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset "
                             "Required)",
      "0000:3b:00 154 Reset;" },
    { "a name that says it where the driver does not", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 154, pid=1, name=" LONGEST("(x) to 0x2 (y) ") ", changed",
      "0000:3b:00 154;" },
    { "an Xid in the middle of a line", NULL,
      "audit: comm=\"x\" NVRM: Xid (PCI:0000:3b:00): 79, x\n"
      " NVRM: Xid (PCI:0000:3b:00): 79, x",
      "" },

    /* what the driver never writes */
    { "nothing", NULL, "", "" },
    { "no address", NULL, "NVRM: Xid (PCI:): 79, x", "" },
    { "cut off", NULL, "NVRM: Xid (PCI:0000:3b:00): 7", "" },
    { "no number", NULL, "NVRM: Xid (PCI:0000:3b:00): , x", "" },
    { "a negative number", NULL, "NVRM: Xid (PCI:0000:3b:00): -1, x", "" },
    { "a number that is too large", NULL, "NVRM: Xid (PCI:0000:3b:00): 65615, x", "" },
    { "more digits than fit", NULL,
      "NVRM: Xid (PCI:0000:3b:00): 18446744073709551695, x\n"
      "NVRM: Xid (PCI:100000000:3b:00): 79, x\nNVRM: Xid (PCI:0000:13b:00): 79, x",
      "" },
    { "an instance without a number", NULL, "NVRM: Xid (PCI:0000:3b:00 GPU-I:): 79, x", "" },
    { "a bus alone", NULL, "NVRM: Xid (PCI:3b:00): 79, x", "" },
    { "capital digits", NULL, "NVRM: Xid (PCI:0000:3B:00): 79, x", "" },
};

static void add_event(const struct xid_event *e, struct buf *ret)
{
    static const char *const fatal[] = { "", " not fatal", " fatal" };
    const char *recovery = gpu_recovery_name((enum gpu_recovery) e->recovery);
    buf_printf(ret, "%04x:%02x:%02x", e->place.domain, e->place.bus, e->place.device);
    if (e->place.function >= 0)
        buf_printf(ret, ".%d", e->place.function);
    buf_printf(ret, " %u%s%s%s%s;", e->xid, e->nvswitch ? " nvswitch" : "", fatal[e->fatal],
               recovery ? " " : "", str_or_empty(recovery));
}

static bool take_line(struct xid_reader *r, struct part line, struct xid_event *ret)
{
    bool continues = part_skip(&line, "\t");
    return xid_line_take(r, line, continues, ret);
}

static void check(void **state)
{
    const struct row *row = *state;
    CLEANUP_BUF struct buf got = BUF_INIT(4096);
    struct xid_reader reader = { 0 };
    struct part text = part_of(row->text), line;
    struct xid_event event;
    while (part_next(&text, '\n', &line))
        if (take_line(&reader, line, &event))
            add_event(&event, &got);
    assert_string_equal(buf_text(&got), row->want);
}

static void check_names(void **state)
{
    (void) state;
    assert_null(gpu_recovery_name(RECOVERY_UNKNOWN));
    assert_null(gpu_recovery_name(RECOVERIES));
    for (int i = RECOVERY_NONE; i < RECOVERIES; i++)
        assert_int_equal(gpu_recovery_parse(gpu_recovery_name((enum gpu_recovery) i)), i);
    assert_int_equal(gpu_recovery_parse(NULL), RECOVERY_UNKNOWN);
    assert_int_equal(gpu_recovery_parse("reset"), RECOVERY_UNKNOWN);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    suite_add(&s, "names of recovery actions", check_names, NULL);
    return suite_run(&s, "xid_line");
}
