/* `ostler-node host-driver`: on which of the machines a driver container may start. */
#include "node/operand/host_check.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"
#include "tests/unit/support/tree.h"

/* The machines of tests/roots; those with a tree in the place of a name are made here. */
static const struct row {
    const char *name;
    const char *files; /* NULL: it is the machine with that name */
    const char *error; /* NULL: a driver container may start */
} rows[] = {
    { "ubuntu-no-gpu", NULL, NULL },
    { "ubuntu-hgx-h100", NULL, NULL },
    { "ubuntu-killed-driver", NULL, NULL },
    { "debian-vfio", NULL, NULL },
    { "debian-nouveau", NULL, NULL },
    { "ubuntu-library-alone", NULL, NULL },
    { "ubuntu-host-driver", NULL,
      "HostDriver: the module nvidia 535.183.01 is loaded, and no driver container has loaded it" },
    { "bottlerocket", NULL,
      "HostDriver: the module nvidia 580.95.05 is loaded, and no driver container has loaded it" },
    { "nothing-mounted", NULL,
      "cannot check whether the host has its own driver: proc/modules: it is not there" },
    { "installed, not loaded", "'proc/modules':'','opt/bin/nvidia-smi':''",
      "HostDriver: a driver is installed on the host (/opt/bin/nvidia-smi)" },
    { "a link that only the host can follow",
      "'proc/modules':'','usr/bin/nvidia-smi':{'link':'/etc/alternatives/smi'},"
      "'etc/alternatives/smi':{'link':'/usr/lib/nvidia/smi'},'usr/lib/nvidia/smi':''",
      "HostDriver: a driver is installed on the host (/usr/bin/nvidia-smi)" },
    { "a link to nothing is no program",
      "'proc/modules':'','usr/bin/nvidia-smi':{'link':'/etc/alternatives/smi'}", NULL },
    { "a module that is on its way in",
      "'proc/modules':'nvidia 1 1 - Loading 0x0 (POE)\\n','sys/module/nvidia/refcnt':'1'",
      "HostDriver: the module nvidia is loaded, and no driver container has loaded it" },
    { "modules of a driver container",
      "'proc/modules':'nvidia 1 0 - Live 0x0 (POE)\\n','run/nvidia/nvidia-driver.pid':'7'", NULL },
    { "modules of a driver container, and a program of the host",
      "'proc/modules':'nvidia 1 0 - Live 0x0 "
      "(POE)\\n','run/nvidia/nvidia-driver.pid':'7','usr/bin/nvidia-smi':''",
      "HostDriver: a driver is installed on the host (/usr/bin/nvidia-smi)" },
    { "a kernel without a list of modules", "'sys/module/kernel/x':''", NULL },
    { "such a kernel, with the driver in it", "'sys/module/nvidia/refcnt':'0'",
      "HostDriver: the module nvidia is loaded, and no driver container has loaded it" },
    { "what is no list of modules", "'proc/modules':{'fifo':true}",
      "cannot check whether the host has its own driver: proc/modules: it has the wrong file "
      "type" },
    { "a list of modules without end", "'proc/modules':{'size':1000000}",
      "cannot check whether the host has its own driver: proc/modules: it is larger than the read "
      "limit" },
    { "modules that may not be read", "'proc/modules':{'unreadable':true}",
      "cannot check whether the host has its own driver: proc/modules: Permission denied" },
    { "a lock that cannot be checked",
      "'proc/modules':'nvidia 1 0 - Live 0x0 (POE)\\n','run/nvidia':{'link':'/run/nvidia'}",
      "cannot check whether the host has its own driver: run/nvidia/nvidia-driver.pid: its links "
      "form a loop" },
    { "a place that cannot be checked does not hide the next ones",
      "'proc/modules':'','usr/bin/nvidia-smi':{'link':'nvidia-smi'},'opt/bin/nvidia-smi':''",
      "HostDriver: a driver is installed on the host (/opt/bin/nvidia-smi)" },
    { "a link to what a driver container has mounted",
      "'proc/modules':'','run/nvidia/driver/usr/bin/nvidia-smi':'',"
      "'usr/bin/nvidia-smi':{'link':'/run/nvidia/driver/usr/bin/nvidia-smi'}",
      NULL },
    { "Google's place, on another system",
      "'proc/modules':'','etc/os-release':'ID=ubuntu\\n',"
      "'home/kubernetes/bin/nvidia/bin/nvidia-smi':'','usr/local/bin/nvidia-smi':''",
      NULL },
    { "Google's place, on Google's system",
      "'proc/modules':'','etc/os-release':'ID=cos\\n',"
      "'home/kubernetes/bin/nvidia/bin/nvidia-smi':''",
      "HostDriver: a driver is installed on the host "
      "(/home/kubernetes/bin/nvidia/bin/nvidia-smi)" },
    { "a place of programs that cannot be checked does not count",
      "'proc/modules':'','opt':{'link':'/opt'}", NULL },
};

static void check(void **state)
{
    const struct row *row = *state;
    char *path = row->files ? fake_root_with(row->files) : fake_root_of(row->name);
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    assert_int_equal(root_open(&root, path, NULL), 0);
    fake_root_look_begins();
    int rc = host_check(&root, &e);
    fake_root_look_ends();
    fake_root_free(path);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check, rows);
    return suite_run(&s, "host-driver");
}
