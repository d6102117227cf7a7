/* The files of the policy's ConfigMaps in the driver's container. */
#include "node/operand/driver_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "tests/unit/support/fake_root.h"
#include "tests/unit/support/suite.h"

/* A volume of a ConfigMap, as the kubelet makes it: files are links into a folder that is swapped
 * as a whole. */
#define VOLUME(kind, key, text)                                                                    \
    ",'ostler-config/" kind "/..2026/" key "':'" text "','ostler-config/" kind                     \
    "/..data':{'link':'..2026'},"                                                                  \
    "'ostler-config/" kind "/" key "':{'link':'..data/" key "'}"
#define SYSTEM(id)                                                                                 \
    "'usr/lib/os-release':'NAME=x\\nID=" id "\\n','etc/os-release':{'link':'../usr/lib/"           \
    "os-release'}"
#define UBUNTU SYSTEM("ubuntu") ",'etc/apt/sources.list.d/ubuntu.sources':'','usr/local/share/x':''"
#define RHEL                                                                                       \
    SYSTEM("\\\"rhel\\\"") ",'etc/yum.repos.d/redhat.repo':'','etc/pki/ca-trust/extracted/x':''"
#define SLES SYSTEM("sles") ",'etc/zypp/x':'','etc/pki/trust/x':''"
#define REPOSITORY(key) VOLUME("repositories", key, "deb mirror")
#define CERTIFICATE(key) VOLUME("certificates", key, "PEM")
#define BUNDLE(file) "/bin/cat $HERE/" file " >$HERE/bundle"
#define MODULES VOLUME("modules", "nvidia.conf", "NVreg_A=1\\n")

static const struct row {
    const char *name;
    const char *files;
    const char *update; /* what update-ca-certificates does; NULL: there is none */
    const char *path;   /* a file of the container afterwards */
    const char *text;   /* what is in it; "": it is not there */
    const char *error;
} rows[] = {
    { "nothing to put", UBUNTU, NULL, "etc/apt/sources.list.d/a.list", "", NULL },
    { "a system that says nothing, and nothing to put", "'x':''", NULL, "drivers/nvidia.conf", "",
      NULL },
    { "repositories on Ubuntu", UBUNTU REPOSITORY("a.list"), NULL, "etc/apt/sources.list.d/a.list",
      "deb mirror", NULL },
    { "what links of the volume are called is no file", UBUNTU REPOSITORY("a.list"), NULL,
      "etc/apt/sources.list.d/..data", "", NULL },
    { "a ConfigMap that is not there",
      UBUNTU ",'ostler-config/repositories/..data':{'link':'..2026'}", NULL,
      "etc/apt/sources.list.d/a.list", "",
      "driver.repoConfig: its ConfigMap is not in this namespace, or is empty: create it" },
    { "repositories on RHEL", RHEL REPOSITORY("a.repo"), NULL, "etc/yum.repos.d/a.repo",
      "deb mirror", NULL },
    { "one in the place of the image's", RHEL REPOSITORY("redhat.repo"), NULL,
      "etc/yum.repos.d/redhat.repo", "deb mirror", NULL },
    { "repositories on SLES", SLES REPOSITORY("a.repo"), NULL, "etc/zypp/repos.d/a.repo",
      "deb mirror", NULL },
    { "certificates on Ubuntu", UBUNTU CERTIFICATE("our.crt"), "exit 0",
      "usr/local/share/ca-certificates/our.crt", "PEM", NULL },
    { "certificates on Ubuntu are taken up", UBUNTU CERTIFICATE("our.crt"),
      BUNDLE("usr/local/share/ca-certificates/our.crt"), "bundle", "PEM", NULL },
    { "certificates on Ubuntu whose name the driver ignores", UBUNTU CERTIFICATE("our.pem"),
      "exit 0", "usr/local/share/ca-certificates/our.pem", "",
      "driver.certConfig: the driver ignores our.pem, because its name does not end in .crt: "
      "rename "
      "that key of the ConfigMap" },
    { "certificates that are refused", UBUNTU CERTIFICATE("our.crt"), "echo bad PEM; exit 3",
      "usr/local/share/ca-certificates/our.crt", "PEM",
      "driver.certConfig: bad PEM: update-ca-certificates ended with 3" },
    { "certificates, and no program for them", UBUNTU CERTIFICATE("our.crt"), NULL,
      "usr/local/share/ca-certificates/our.crt", "PEM",
      "driver.certConfig: update-ca-certificates cannot be started" },
    { "certificates on RHEL", RHEL CERTIFICATE("tls-ca-bundle.pem"), NULL,
      "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "PEM", NULL },
    { "certificates on SLES are taken up", SLES CERTIFICATE("our.pem"),
      BUNDLE("etc/pki/trust/anchors/our.pem"), "bundle", "PEM", NULL },
    { "parameters of modules", UBUNTU MODULES, NULL, "drivers/nvidia.conf", "NVreg_A=1\n", NULL },
    { "parameters of modules on any system", SYSTEM("flatcar") MODULES, NULL, "drivers/nvidia.conf",
      "NVreg_A=1\n", NULL },
    { "repositories on a system that is not known", SYSTEM("flatcar") REPOSITORY("a.list"), NULL,
      "etc/apt/sources.list.d/a.list", "",
      "driver.repoConfig: Ostler does not know where system \"flatcar\" of the driver image looks "
      "for "
      "such files: unset it" },
    { "a link out of the volume is followed within the container alone",
      UBUNTU ",'ostler-config/modules/a':{'link':'/etc/none'}", NULL, "drivers/a", "",
      "driver.kernelModuleConfig: cannot read a: No such file or directory" },
    { "what is no file", UBUNTU ",'ostler-config/modules/a/b':''", NULL, "drivers/a", "",
      "driver.kernelModuleConfig: cannot read a: Invalid argument" },
    { "the place cannot be written", UBUNTU ",'drivers':''" MODULES, NULL, "drivers/nvidia.conf",
      "", "driver.kernelModuleConfig: cannot write drivers/nvidia.conf: Not a directory" },
};

static void check_put(void **state)
{
    const struct row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open(row->files, &root);
    setenv("HERE", path, 1);
    CLEANUP_FREE char *programs = xasprintf("%s/bin", path);
    setenv("PATH", programs, 1);
    if (row->update)
        fake_root_program(path, "bin/update-ca-certificates", row->update);
    int rc = driver_files_put(&root, &e);
    CLEANUP_BUF struct buf text = BUF_INIT(4096);
    root_read(&root, row->path, &text);
    assert_string_equal(err_msg(&e), str_or_empty(row->error));
    assert_int_equal(rc, row->error ? -1 : 0);
    assert_string_equal(buf_text(&text), row->text);
}

/* RepoConfigPathMap and CertConfigPathMap of NVIDIA's operator (v26.7.0
 * internal/state/driver_volumes.go): its ConfigMaps fit. */
static const struct place_row {
    const char *name; /* ID of os-release */
    const char *repositories, *certificates;
} place_rows[] = {
    { "centos", "etc/yum.repos.d", "etc/pki/ca-trust/extracted/pem" },
    { "debian", "etc/apt/sources.list.d", "usr/local/share/ca-certificates" },
    { "ubuntu", "etc/apt/sources.list.d", "usr/local/share/ca-certificates" },
    { "rhcos", "etc/yum.repos.d", "etc/pki/ca-trust/extracted/pem" },
    { "rhel", "etc/yum.repos.d", "etc/pki/ca-trust/extracted/pem" },
    { "rocky", "etc/yum.repos.d", "etc/pki/ca-trust/extracted/pem" },
    { "ol", "etc/yum.repos.d", "etc/pki/ca-trust/extracted/pem" },
    { "sles", "etc/zypp/repos.d", "etc/pki/trust/anchors" },
    { "sl-micro", "etc/zypp/repos.d", "etc/pki/trust/anchors" },
};

static void check_place(void **state)
{
    const struct place_row *row = *state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FREE char *files = xasprintf(
        "'etc/os-release':'ID=%s\\n','%s/x':'','%s/x':'','ostler-config/repositories/a.crt':'r',"
        "'ostler-config/certificates/b.crt':'c'",
        row->name, row->repositories, row->certificates);
    CLEANUP_FAKE_ROOT char *path = fake_root_open(files, &root);
    CLEANUP_FREE char *programs = xasprintf("%s/bin", path);
    setenv("PATH", programs, 1);
    fake_root_program(path, "bin/update-ca-certificates", "exit 0");
    int rc = driver_files_put(&root, &e);
    CLEANUP_FREE char *repository = xasprintf("%s/a.crt", row->repositories);
    CLEANUP_FREE char *certificate = xasprintf("%s/b.crt", row->certificates);
    bool first = root_has(&root, repository), second = root_has(&root, certificate);
    assert_string_equal(err_msg(&e), "");
    assert_int_equal(rc, 0);
    assert_true(first);
    assert_true(second);
}

/* A file of a ConfigMap's binaryData. */
static void check_not_text(void **state)
{
    (void) state;
    CLEANUP_ROOT struct root root = { .fd = -1 };
    CLEANUP_ERR struct err e = { 0 };
    CLEANUP_FAKE_ROOT char *path = fake_root_open("'ostler-config/modules/a':''", &root);
    CLEANUP_FREE char *file = xasprintf("%s/ostler-config/modules/a", path);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fwrite("a\0b", 1, 3, f), 3);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(driver_files_put(&root, &e), -1);
    assert_string_equal(err_msg(&e), "driver.kernelModuleConfig: a is not text");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_put, rows);
    SUITE_ROWS(&s, check_place, place_rows);
    suite_add(&s, "what is not text", check_not_text, NULL);
    return suite_run(&s, "files of the driver's container");
}
