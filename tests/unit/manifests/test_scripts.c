/* The shell scripts of the manifests, run against a host made of a few files in a temporary folder:
 * the paths in the scripts are moved below it, and the commands that need a GPU are replaced. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"
#include "reconcilers/manifests/embedded.h"
#include "tests/unit/support/suite.h"

/* What a script did instead of ending. */
#define WAITS (-1)

static char root[] = "/tmp/ostler-scripts-XXXXXX";

/* Paths of a host and of a container that the scripts touch. */
static const char *const moved[] = { "/proc/sys/",  "/proc/self/mounts",    "/sys/",
                                     "/run/nvidia", "/dev/termination-log", "/host$",
                                     "/config/", "/cuda-samples/", "/tmp/vectorAdd" };

/* The text with all these paths below the temporary folder. */
static char *below_root(const char *text)
{
    struct buf out = BUF_INIT(1 << 16);
    while (*text) {
        size_t i = 0;
        while (i < ARRAY_LEN(moved) && !str_has_prefix(text, moved[i]))
            i++;
        if (i == ARRAY_LEN(moved)) {
            buf_printf(&out, "%c", *text++);
            continue;
        }
        buf_printf(&out, "%s%s", root, moved[i]);
        text += strlen(moved[i]);
    }
    return buf_take(&out);
}

/* Runs a command line of the test's own, in the temporary folder. */
static void shell(const char *command)
{
    CLEANUP_FREE char *line = xasprintf("cd %s && { %s\n}", root, command);
    if (system(line) != 0)
        fail_msg("%s", command);
}

/* A manifest, parsed. New reference. */
static json_t *manifest(const char *file)
{
    for (size_t i = 0; i < embedded_files_len; i++) {
        if (!str_eq(embedded_files[i].name, file))
            continue;
        CLEANUP_JSON json_t *documents =
            yaml_parse(embedded_files[i].text, strlen(embedded_files[i].text), NULL, NULL);
        return json_incref(json_array_get(documents, 0));
    }
    fail_msg("no manifest %s", file);
    return NULL;
}

/* The command line that a container, its probe or its hook has. */
static json_t *command_of(const json_t *object, const char *container, const char *hook)
{
    const json_t *template = json_at(object, "spec.template.spec"), *pod = template ? template : json_object_get(object, "spec");
    const json_t *c = json_find(json_object_get(pod, "initContainers"), "name", container);
    if (!c)
        c = json_find(json_object_get(pod, "containers"), "name", container);
    if (hook)
        return json_incref(json_at(c, hook));
    json_t *all = json_copy(json_object_get(c, "command"));
    json_array_extend(all, json_object_get(c, "args"));
    return all;
}

static void set_environment(const json_t *object)
{
    static const char *const lists[] = { "spec.template.spec.initContainers",
                                         "spec.template.spec.containers" };
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        size_t i, j;
        json_t *container, *variable;
        json_array_foreach (json_at(object, lists[l]), i, container)
            json_array_foreach (json_object_get(container, "env"), j, variable) {
                CLEANUP_FREE char *value = below_root(json_str_or_empty(variable, "value"));
                setenv(json_key(variable, "name"), value, 1);
            }
    }
    setenv("DRIVER_CONFIG_DIGEST", "rev1", 1);
    setenv("REVISION", "stack1", 1);
    setenv("DRIVER", "container", 1);
    setenv("WAIT_FOR", "toolkit", 1);
    setenv("POD_UID", "pod1", 1);
    setenv("ROOT", root, 1);
}

/* Starts a script of a manifest; `variable` (NAME=value) may be NULL. */
static pid_t start(const char *file, const char *container, const char *hook, const char *variable)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    CLEANUP_JSON json_t *object = manifest(file);
    CLEANUP_JSON json_t *command = command_of(object, container, hook);
    char *argv[8] = { NULL };
    for (size_t i = 0; i < json_array_size(command) && i < ARRAY_LEN(argv) - 1; i++)
        argv[i] = below_root(json_string_value(json_array_get(command, i)));
    set_environment(object);
    CLEANUP_FREE char *path = xasprintf("%s/bin:%s", root, getenv("PATH"));
    setenv("PATH", path, 1);
    if (variable)
        putenv(xstrdup(variable));
    int quiet = open("/dev/null", O_WRONLY);
    dup2(quiet, STDOUT_FILENO);
    dup2(quiet, STDERR_FILENO);
    setpgid(0, 0);
    execvp(argv[0], argv);
    _exit(127);
}

/* The exit code, or WAITS when it has not ended after `ms`; then it is killed with all that it
 * started. */
static int outcome(pid_t pid, int ms)
{
    int status;
    for (; ms > 0; ms -= 10) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        usleep(10000);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, &status, 0);
    return WAITS;
}

struct script_row {
    const char *name;
    const char *file;
    const char *container;
    const char *hook;     /* path of the command within the container; NULL: its own */
    const char *given;    /* commands that make the host what it is */
    const char *variable; /* NAME=value that a part or an overlay would set */
    int want;             /* exit code, or WAITS */
    const char *after;    /* a test that must hold then */
};

/* Modules as sysfs shows them: module NAME REFCNT HOLDER... */
#define PRELUDE                                                                                    \
    "module() { mkdir -p sys/module/$1/holders; echo $2 > sys/module/$1/refcnt; m=$1; shift 2;"    \
    " for h; do touch sys/module/$m/holders/$h; done; };"                                          \
    " sign() { mkdir -p run/nvidia/ostler; echo \"$2\" > run/nvidia/ostler/$1; };\n"

static void check_script(void **state)
{
    const struct script_row *row = *state;
    shell("rm -rf sys run proc dev host log cuda-samples tmp smi && mkdir -p sys run/nvidia proc/sys/kernel/random proc/self dev "
          "&&"
          " echo boot1 > proc/sys/kernel/random/boot_id && : > proc/self/mounts && : > log");
    CLEANUP_FREE char *given = xasprintf(PRELUDE "%s", row->given);
    shell(given);
    pid_t pid = start(row->file, row->container, row->hook, row->variable);
    assert_int_equal(outcome(pid, row->want == WAITS ? 300 : 10000), row->want);
    if (row->after)
        shell(row->after);
}

#define DRIVER "driver/container.yaml"
#define HOST_DRIVER DRIVER, "host-driver", NULL
#define UNLOAD DRIVER, "unload", NULL
#define PROBE DRIVER, "driver", "startupProbe.exec.command"
#define PRE_STOP DRIVER, "driver", "lifecycle.preStop.exec.command"
#define MAIN DRIVER, "driver", NULL
#define TOOLKIT_WAIT "toolkit/parts/no-agent.yaml", "wait", NULL
#define INSTALL "toolkit/daemonset.yaml", "install", NULL
#define PLUGIN_WAIT "device-plugin/parts/no-agent.yaml", "wait", NULL
#define EXPORTER_WAIT "exporter/parts/no-agent.yaml", "wait", NULL
#define PROOF "proof/pod.yaml", "proof", NULL
/* A CUDA sample that ends with a code, and what nvidia-smi says of a thing. */
#define SAMPLE(path, code) "mkdir -p cuda-samples tmp; printf '#!/bin/sh\\nexit " code "\\n' > " path "; chmod +x " path ";"
#define SMI(thing, text) "mkdir -p smi; printf '" text "' > smi/" thing ";"
#define FACTS                                                                                         \
    SMI("driver_version", "580.95.05\\n580.95.05\\n") SMI("name", "NVIDIA H100 80GB HBM3\\nother\\n") \
    SMI("memory.total", "81559\\n1\\n")                                                               \
        SMI("compute_cap", "9.0\\n")                                                                  \
        SMI("list", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\\n")                                    \
        SMI("all", "Driver Version  : 580.95.05\\nCUDA Version    : 13.0\\n\\nGPU 0\\n    CUDA Version : x\\n")
#define SAYS(lines) "test \"$(cat dev/termination-log)\" = \"$(printf '" lines "')\""
#define FACTS_OF_A(slice) \
    "driver=580.95.05\\nproduct=NVIDIA H100 80GB HBM3\\nmemory=81559\\ncompute=9.0\\ncuda=13.0\\nslice=" slice "\\n"
#define ALL_FACTS FACTS_OF_A("")
#define NO_FACTS "driver=\\nproduct=\\nmemory=\\ncompute=\\ncuda=\\nslice=\\n"
#define LOADED                                                                                     \
    "module nvidia 2 nvidia_uvm nvidia_modeset; module nvidia_uvm 0; module nvidia_modeset 0;"
#define UP LOADED " echo \" $PWD/run/nvidia/driver \" > proc/self/mounts;"
#define OF_HOST "DRIVER=host"

static const struct script_row rows[] = {
    { "host-driver: a bare host", HOST_DRIVER, ":", NULL, 0, NULL },
    { "host-driver: modules of a driver container", HOST_DRIVER,
      LOADED " touch run/nvidia/nvidia-driver.pid", NULL, 0, NULL },
    { "host-driver: modules that no container loaded", HOST_DRIVER, LOADED, NULL, 1,
      "grep -q ^HostDriver: dev/termination-log" },
    { "host-driver: installed, not loaded", HOST_DRIVER,
      "mkdir -p host/usr/bin; touch host/usr/bin/nvidia-smi", NULL, 1,
      "grep -q '^HostDriver:.*/usr/bin/nvidia-smi' dev/termination-log" },
    { "host-driver: a link that only the host can follow", HOST_DRIVER,
      "mkdir -p host/usr/bin; ln -s /etc/alternatives/no host/usr/bin/nvidia-smi", NULL, 1, NULL },

    { "unload: nothing is loaded", UNLOAD, ":", NULL, 0, "test ! -s log" },
    { "unload: idle modules go, users first", UNLOAD, LOADED, NULL, 0,
      "test \"$(cat log)\" = \"$(printf 'nvidia_modeset\\nnvidia_uvm\\nnvidia')\"" },
    { "unload: the wanted revision stays", UNLOAD,
      LOADED " echo rev1 > run/nvidia/nvidia-driver.state", NULL, 0, "test ! -s log" },
    { "unload: another revision goes", UNLOAD, LOADED " echo rev0 > run/nvidia/nvidia-driver.state",
      NULL, 0, "test -s log" },
    { "unload: a job on the GPU stops it before anything goes", UNLOAD,
      "module nvidia 9 nvidia_uvm; module nvidia_uvm 4; module nvidia_fs 0", NULL, 1,
      "test ! -s log && grep -q '^DriverInUse:.*nvidia_uvm nvidia' dev/termination-log" },
    { "unload: holders that the container does not know", UNLOAD,
      "module nvidia 2 nvidia_fs gdrdrv; module nvidia_fs 0; module gdrdrv 0", NULL, 0,
      "test $(wc -l < log) = 3" },
    { "unload: nouveau", UNLOAD, "module nouveau 0", NULL, 0, "grep -q nouveau log" },
    { "unload: a GPU bound to vfio-pci by hand comes back", UNLOAD,
      "d=sys/bus/pci/drivers/vfio-pci/0000:3b:00.0; mkdir -p $d; echo 0x10de > $d/vendor; echo "
      "0x030200 > $d/class;"
      " echo vfio-pci > $d/driver_override; ln -s ../groups/ostler-test $d/iommu_group",
      NULL, 0, "grep -qx 0000:3b:00.0 sys/bus/pci/drivers/vfio-pci/unbind" },
    { "unload: one bound by the kernel's command line stays", UNLOAD,
      "d=sys/bus/pci/drivers/vfio-pci/0000:3b:00.0; mkdir -p $d; echo 0x10de > $d/vendor; echo "
      "0x030200 > $d/class;"
      " echo '(null)' > $d/driver_override",
      NULL, 0, "test ! -e sys/bus/pci/drivers/vfio-pci/unbind" },

    { "driver: starts without the signs of an earlier container", MAIN, "sign driver x", NULL, 0,
      "test ! -e run/nvidia/ostler/driver && grep -qx 'nvidia-driver init' log" },
    { "probe: no module yet", PROBE, ":", NULL, 1, NULL },
    { "probe: the daemons are not ready", PROBE,
      UP " mkdir -p run/nvidia/validations; echo NotReady > run/nvidia/validations/.driver-daemons-status",
      NULL, 1, NULL },
    { "probe: the root is not mounted", PROBE, LOADED, NULL, 1, NULL },
    { "probe: the GPU does not answer", PROBE, UP " touch smi-fails", NULL, 1,
      "rm smi-fails && test ! -e run/nvidia/ostler/driver" },
    { "probe: ready, with the sign of this boot, revision and pod", PROBE,
      UP " mkdir -p run/nvidia/validations; echo Ready > run/nvidia/validations/.driver-daemons-status",
      NULL, 0, "test \"$(cat run/nvidia/ostler/driver)\" = 'boot1 rev1 pod1'" },
    { "probe: ready, precompiled", PROBE, UP, NULL, 0, NULL },
    { "preStop: takes its own sign away", PRE_STOP, "sign driver 'boot1 rev1 pod1'", NULL, 0,
      "test ! -e run/nvidia/ostler/driver" },
    { "preStop: leaves that of a later pod", PRE_STOP, "sign driver 'boot1 rev1 pod2'", NULL, 0,
      "test -e run/nvidia/ostler/driver" },
    { "preStop: without a sign", PRE_STOP, ":", NULL, 0, NULL },

    { "toolkit waits: no module", TOOLKIT_WAIT, "sign driver 'boot1 rev1 pod1'", NULL, WAITS,
      NULL },
    { "toolkit waits: no sign", TOOLKIT_WAIT, LOADED, NULL, WAITS, NULL },
    { "toolkit waits: the sign of an earlier boot", TOOLKIT_WAIT,
      LOADED " sign driver 'boot0 rev1 pod1'", NULL, WAITS, NULL },
    { "toolkit goes on", TOOLKIT_WAIT, LOADED " sign driver 'boot1 rev1 pod1'", NULL, 0, NULL },
    { "toolkit goes on with a driver of the host's", TOOLKIT_WAIT, LOADED, OF_HOST, 0, NULL },
    { "toolkit is installed", INSTALL,
      "mkdir -p toolkit; touch toolkit/nvidia-container-runtime;"
      " chmod +x toolkit/nvidia-container-runtime",
      NULL, 0, "rm -r toolkit; grep -q nvidia-toolkit log" },
    { "toolkit that left nothing is a failure", INSTALL, ":", NULL, 1, NULL },

    { "plugin waits: no toolkit", PLUGIN_WAIT, LOADED " sign driver 'boot1 rev1 pod1'", NULL, WAITS,
      NULL },
    { "plugin waits: a toolkit of another revision", PLUGIN_WAIT,
      LOADED " sign driver 'boot1 rev1 pod1'; sign toolkit 'boot1 rev1 stack0'", NULL, WAITS,
      NULL },
    { "plugin waits: a toolkit for another driver", PLUGIN_WAIT,
      LOADED " sign driver 'boot1 rev2 pod1'; sign toolkit 'boot1 rev1 stack1'", NULL, WAITS,
      NULL },
    { "plugin waits: a toolkit of an earlier boot", PLUGIN_WAIT,
      LOADED " sign driver 'boot1 rev1 pod1'; sign toolkit 'boot0 rev1 stack1'", NULL, WAITS,
      NULL },
    { "plugin goes on", PLUGIN_WAIT,
      LOADED " sign driver 'boot1 rev1 pod1'; sign toolkit 'boot1 rev1 stack1'", NULL, 0, NULL },
    { "plugin goes on with a driver of the host's", PLUGIN_WAIT,
      LOADED " sign toolkit 'boot1 host stack1'", OF_HOST, 0, NULL },
    { "plugin goes on with a toolkit of the host's", PLUGIN_WAIT,
      LOADED " sign driver 'boot1 rev1 pod1'", "WAIT_FOR=driver", 0, NULL },

    { "proof: the sample runs, and the facts of the first GPU are told", PROOF, SAMPLE("cuda-samples/sample", "0") FACTS, NULL, 0,
      SAYS(ALL_FACTS) },
    { "proof: the sample of an older image", PROOF, SAMPLE("cuda-samples/vectorAdd", "0") FACTS, NULL, 0, SAYS(ALL_FACTS) },
    { "proof: the sample of the oldest", PROOF, SAMPLE("tmp/vectorAdd", "0") FACTS, NULL, 0, SAYS(ALL_FACTS) },
    { "proof: the newest of two counts", PROOF, SAMPLE("cuda-samples/sample", "0") SAMPLE("tmp/vectorAdd", "1") FACTS, NULL, 0,
      SAYS(ALL_FACTS) },
    { "proof: what cannot be run is none", PROOF, "mkdir -p cuda-samples; : > cuda-samples/sample;" SAMPLE("tmp/vectorAdd", "0")
                                                  FACTS, NULL, 0,
      SAYS(ALL_FACTS) },
    { "proof: what it has is a slice", PROOF, SAMPLE("cuda-samples/sample", "0") FACTS
      SMI("list", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\\n  MIG 1g.10gb     Device  0: (UUID: MIG-2)\\n"), NULL, 0,
      SAYS(FACTS_OF_A("1g.10gb")) },
    { "proof: the sample fails", PROOF, SAMPLE("cuda-samples/sample", "3") FACTS, NULL, 1, "test ! -e dev/termination-log" },
    { "proof: an image without a sample", PROOF, FACTS, NULL, 1, "test ! -e dev/termination-log" },
    { "proof: what nobody tells is left empty", PROOF, SAMPLE("cuda-samples/sample", "0"), NULL, 0, SAYS(NO_FACTS) },
    { "proof: an image without nvidia-smi", PROOF, SAMPLE("cuda-samples/sample", "0") " touch smi-fails", NULL, 0,
      "rm smi-fails; " SAYS(NO_FACTS) },

    { "exporter waits: no module", EXPORTER_WAIT, ":", NULL, WAITS, NULL },
    { "exporter waits: the driver container is not ready", EXPORTER_WAIT,
      LOADED " touch run/nvidia/nvidia-driver.pid", NULL, WAITS, NULL },
    { "exporter goes on", EXPORTER_WAIT,
      LOADED " touch run/nvidia/nvidia-driver.pid; sign driver 'boot1 rev1 pod1'", NULL, 0, NULL },
    { "exporter goes on with a driver of the host's", EXPORTER_WAIT, LOADED, NULL, 0, NULL },
};

/* The toolkit's pod signs, idles, and goes at once when it is told to, with its sign. */
static void toolkit_signs(void **state)
{
    (void) state;
    shell("rm -rf run && mkdir -p run/nvidia/ostler && echo 'boot1 rev1 pod1' > run/nvidia/ostler/driver");
    pid_t pid = start("toolkit/daemonset.yaml", "toolkit", NULL, NULL);
    shell("for i in $(seq 100); do [ -e run/nvidia/ostler/toolkit ] && break; sleep 0.1; done;"
          " test \"$(cat run/nvidia/ostler/toolkit)\" = 'boot1 rev1 stack1'");
    usleep(100000);
    kill(pid, SIGTERM);
    assert_int_equal(outcome(pid, 10000), 0);
    shell("test ! -e run/nvidia/ostler/toolkit");
}

/* Commands that need a GPU or a kernel, and those that take time. */
static void make_commands(void)
{
    shell("mkdir bin");
    shell("printf '#!/bin/sh\\necho $1 >> %s/log\\nrm -r %s/sys/module/$1\\n' \"$PWD\" \"$PWD\" > bin/rmmod");
    shell("printf '#!/bin/sh\\n[ ! -e %s/smi-fails ] || exit 127\\ncd %s/smi 2>/dev/null || exit 0\\n"
          "case \"$1\" in --query-gpu=*) cat \"${1#*=}\";; -q) cat all;; -L) cat list;; esac\\n'"
          " \"$PWD\" \"$PWD\" > bin/nvidia-smi");
    shell(
        "printf '#!/bin/sh\\necho nvidia-driver \"$@\" >> %s/log\\n' \"$PWD\" > bin/nvidia-driver");
    shell("printf '#!/bin/sh\\necho nvidia-toolkit \"$@\" >> %s/log\\n' \"$PWD\" > bin/nvidia-toolkit");
    shell("printf '#!/bin/sh\\n[ $1 = 5 ] || exec /bin/sleep $1\\n' > bin/sleep");
    shell("chmod +x bin/*");
}

int main(void)
{
    struct suite s = { 0 };
    SUITE_ROWS(&s, check_script, rows);
    suite_add(&s, "toolkit signs, idles and goes at once", toolkit_signs, NULL);
    if (!mkdtemp(root))
        return 1;
    make_commands();
    int failed = suite_run(&s, "scripts");
    shell("cd / && rm -rf \"$OLDPWD\"");
    return failed;
}
