"""The parts of the story, in their order."""

import json
import time

import faults
import kube
import machine
import names
import operands
import page
from ask import (
    RELEASE,
    TOOLKIT,
    age,
    another_pod,
    attempts,
    change,
    container,
    end_job,
    equal,
    event,
    finished,
    first_time,
    gpu_node,
    helm,
    install_flags,
    installed_at,
    job,
    job_phase,
    job_pod,
    kill_driver,
    module_version,
    node,
    offered,
    operators_log,
    pods,
    processes,
    ready,
    said,
    smi,
    status_of,
    succeeded,
    wait_for,
    want,
    works_with_slice,
)

CHAPTERS = []
OF_OPERANDS = []  # those that are told with NVIDIA's own programs, too
OF_NVIDIA = []  # those that are told with them alone
POLICY = {
    "driver": {"version": operands.OLD},
    "nodeAgent": {"seccompProfile": "profiles/ostler-node.json"},
    "rollout": {"canary": {"soak": "0s"}, "timeouts": {"install": "1m", "validation": "1m"}},
}
KUBELET = f"system:node:{machine.NAME}"
OPERATOR = f"system:serviceaccount:{names.NAMESPACE}:ostler"
LOADS = 62  # seconds after which a fault is not one of the driver's loading


def chapter(function):
    """Decorator: this function is a part of the story."""
    CHAPTERS.append(function)
    return function


def of_operands(function):
    """Decorator: NVIDIA's own programs matter to this part."""
    OF_OPERANDS.append(function)
    return chapter(function)


def of_nvidia(function):
    """Decorator: this part is about what NVIDIA's own programs do."""
    OF_NVIDIA.append(function)
    return of_operands(function)


# What stays on the disk of a machine that Ostler was taken off:
# docs/operations.md#what-stays-on-a-nodes-disk has the same. Containers that were started by the
# programs in the toolkit's folder are ended by them.
STAYS = {
    "usr-local/nvidia/",
    "var/lib/ostler/",
    "var/lib/ostler/toolkit/",
    "var/lib/ostler/toolkit/before",
    "var/lib/ostler/toolkit/made",
}

# ---- the story


@chapter
def an_image_that_is_missing_is_told_by_helm(stage):
    """helm install --wait fails, with a sentence that names what is not ready."""
    status, text = helm(
        stage,
        "install",
        RELEASE,
        names.CHART,
        "--wait",
        "--timeout",
        "10s",
        *install_flags("missing"),
        check=False,
    )
    assert status != 0, "helm install --wait succeeded without an image"
    assert "ostler" in text and "not ready" in text.lower(), text
    helm(stage, "uninstall", RELEASE, "--no-hooks", "--wait", "--timeout", "60s")


@of_operands
def helm_install_makes_a_bare_node_ready(stage):
    """From helm install --wait, which waits for the policy's nodes too, to a node that serves
    GPUs. Operator and agent have the chart's own seccomp profiles."""
    values = stage.folder / "values.json"
    values.write_text(
        json.dumps({"policy": {"create": True, "spec": {**POLICY, **stage.row.policy}}}),
        encoding="ascii",
    )
    began = time.time()
    helm(
        stage,
        "install",
        RELEASE,
        names.CHART,
        "--wait",
        "--timeout",
        "3m",
        "--values",
        values,
        *install_flags(),
    )
    installed = time.time()
    marks = wait_for(
        lambda: stage.cluster.audit.requests(
            user=OPERATOR, since=began, verb="patch", resource="nodes"
        ),
        90,
        "Ostler marks the node",
    )
    stage.figure(f"helm install --wait: {installed - began:.1f} s")
    stage.figure(
        f"the node's first mark came {marks[0].time - began:.1f} s after helm install began"
    )
    ready(stage, operands.OLD, 240)
    stage.figure(f"the node is Ready {time.time() - began:.1f} s after helm install began")
    # The toolkit restarts the runtime, of which the kubelet then knows no version.
    toolkits = {
        r.name
        for r in stage.cluster.audit.requests(user=OPERATOR, since=began, resource="daemonsets")
        if r.name.startswith("toolkit-")
    }
    equal(len(toolkits), 1, f"DaemonSets of the toolkit ({toolkits})")
    specs = [
        pod["spec"]
        for pod in (*pods(stage, "node-agent"), *stage.client.list("Pod", names.NAMESPACE))
    ]
    profiles = [
        spec["containers"][0]["securityContext"].get("seccompProfile")
        or spec["securityContext"]["seccompProfile"]
        for spec in specs
    ]
    equal(
        {profile.get("localhostProfile") for profile in profiles},
        {"profiles/ostler.json", "profiles/ostler-node.json"},
        "their lists of system calls",
    )
    for folder in processes("ostler"):
        resident, private = (
            int(status_of(folder)[field].split()[0]) / 1024 for field in ("VmRSS", "RssAnon")
        )
        stage.figure(
            f"the operator's container: {resident:.1f} MiB resident, {private:.1f} MiB of it"
            " private"
        )


@of_operands
def the_gpu_is_known_by_its_proof(stage):
    """What the program has seen that proved a GPU became labels. Ostler's own asked the driver's
    libraries, as the container runtime gave them to its pod; beside the policy's sample
    nvidia-smi was asked, whose stand-in knows a newer CUDA.
    """
    labels = node(stage)["metadata"]["labels"]
    seen = {
        "cuda.driver-version.full": operands.OLD,
        "cuda.runtime-version.full": "13.0" if "validation" in stage.row.policy else "12.8",
    }
    equal({key: labels.get(f"nvidia.com/{key}") for key in seen}, seen, "the node's labels")


@of_operands
def a_pod_gets_a_gpu(stage):
    """A pod that asks for one GPU runs on the node and sees that one."""
    stage.client.create(job("one", 1))
    text = said(stage, succeeded(stage, "one", 90))
    assert text.startswith("works with /dev/nvidia") and f"driver {operands.OLD}" in text, text
    equal(text.count("/dev/nvidia"), 1, "GPUs that the pod sees")


@of_operands
def the_gpus_are_measured(stage):
    """The Service of the exporter answers, with both GPUs of this node."""

    def measured():
        status, text = stage.client.raw(
            "GET", f"/api/v1/namespaces/{names.OPERANDS}/services/exporter:metrics/proxy/metrics"
        )
        lines = [
            line for line in text.decode().splitlines() if f'Hostname="{machine.NAME}"' in line
        ]
        return len(lines) == 2 or f"{status}: {text.decode()}"

    wait_for(measured, 180, "the exporter has both GPUs")


@of_operands
def nvml_is_asked(stage):
    """The NVML reader runs with one capability, and with the devices that the runtime gives it."""
    wait_for(
        lambda: any(kube.pod_ready(p) for p in pods(stage, "node-cards")),
        90,
        "the NVML reader is up",
    )
    (folder,) = processes("ostler-node", b"\0cards\0")
    status = status_of(folder)
    equal(
        (status["Uid"].split()[0], status["CapEff"]),
        ("0", "0000000000040000"),
        "the NVML reader's user and capabilities",
    )
    equal(
        sorted(d.name for d in (folder / "root/dev").glob("nvidia[0-9]")),
        ["nvidia0", "nvidia1"],
        "the NVML reader's GPUs",
    )


@of_operands
def the_page_is_shown_through_the_cluster(stage):
    """A user with the roles of docs/kubectl-gpu-rbac.yaml opens the page with `kubectl gpu page`:
    kubectl's port-forward goes through the API server and the kubelet to the runtime, which
    connects to the loopback address of the leader's pod. A change comes in the stream, a foreign
    Host is refused, and the next leader's page takes the place of the one whose pod goes. Ctrl-C
    leaves no process. Users who lack a right are told which."""
    stage.cluster.kubectl("apply", "--filename", page.RIGHTS)
    for user in ("looks", "alone"):
        page.bind(stage, "clusterrolebinding", "ostler-viewer", user)
    page.bind(stage, "rolebinding", "ostler-page-viewer", "looks")
    began = time.time()
    showing = page.Showing(stage, "looks")
    try:
        assert showing.address, showing.refusal()
        stage.figure(f"the page's address came after {time.time() - began:.1f} s")
        status, text = showing.get("/")
        assert status == 200 and '<script type="module" src="app.js">' in text, (status, text)
        for path in ("/app.js", f"/node/{machine.NAME}.json", "/fleet.json"):
            equal(showing.get(path)[0], 200, f"the status of {path}")
        status, text = showing.get("/fleet.json", host="evil.example:8081")
        equal((status, "columns" in text), (421, False), f"for a foreign Host ({text})")
        stage.figure(f"a frame has a change after {page.hear_of_hold(stage, showing):.2f} s")
        stage.figure(f"the next leader's page came after {page.follow(stage, showing):.1f} s")
    finally:
        status, words = showing.end()
    equal((status, page.left(showing.group)), (0, []), f"exit status and processes left ({words})")
    words = page.Showing(stage, "alone").refusal()
    assert "Forbidden" in words and "it takes the rights to get pods" in words, words


@chapter
def the_agent_holds_nothing(stage):
    """It is not root, and what the machine unmounts while it runs is gone for it, too."""
    stage.machine.run("mkdir", "/mnt")
    stage.machine.run("mount", "-t", "tmpfs", "volume", "/mnt")
    (old,) = pods(stage, "node-agent")
    stage.client.delete("Pod", old["metadata"]["name"], names.OPERANDS)

    def agent():
        """The process of the one that came after that; each look of it is a later one."""
        found = another_pod(stage, "node-agent", old)
        return processes("ostler-node")[:1] if found and kube.pod_ready(found) else None

    (folder,) = wait_for(agent, 90, "another agent is up")
    mounts = folder / "mountinfo"
    assert " /host/mnt " in mounts.read_text(
        encoding="ascii"
    ), "the agent does not see what is mounted"
    status = status_of(folder)
    equal(
        (status["Uid"].split()[0], status["CapEff"]),
        ("65531", "0000000000080004"),
        "the agent's user and capabilities",
    )
    stage.machine.run("umount", "/mnt")
    wait_for(
        lambda: " /host/mnt " not in mounts.read_text(encoding="ascii"),
        30,
        "the agent has no copy of what was unmounted",
    )


@of_operands
def a_driver_container_dies_under_a_job(stage):
    """It cannot unload what the job uses, hangs and is killed; the next one takes over modules
    that stay where they are. Its /dev is another: what comes after that gets all devices of
    it, too."""
    stage.client.create(job("through", 3600))
    wait_for(lambda: job_phase(stage, "through").startswith("Running"), 60, "the job runs")
    kill_driver(stage)
    ready(stage, stage.driver, 180)
    end_job()
    succeeded(stage, "through", 120)
    stage.client.create(job("past", 1))
    succeeded(stage, "past", 90)


@chapter
def modules_of_another_revision_stay_while_they_are_used(stage):
    """A driver's pod that finds them takes nothing from a job: it says who is in the way, and
    waits."""
    state = "/run/nvidia/nvidia-driver.state"
    own = stage.machine.run("cat", state)
    stage.client.create(job("beside", 3600))
    wait_for(lambda: job_phase(stage, "beside").startswith("Running"), 60, "the job runs")
    stage.machine.run("bash", "-c", f"echo another > {state}")
    (old,) = pods(stage, "driver")
    stage.client.delete("Pod", old["metadata"]["name"], names.OPERANDS, grace=2)

    def refused():
        status = container(another_pod(stage, "driver", old) or {"status": {}}, "unload")
        ended = (
            status.get("lastState", {}).get("terminated")
            or status.get("state", {}).get("terminated")
            or {}
        )
        return "DriverInUse: processes on this node use" in ended.get("message", "") or str(status)

    # At once, before the next refusal: after that the kubelet waits longer and longer.
    kube.wait_for(refused, 120, "the driver's pod says that the driver is in use")
    equal(module_version(stage), stage.driver, "the loaded driver")
    # As if that revision had been theirs all the time: nothing but this keeps the pod from being
    # ready.
    stage.machine.run("bash", "-c", f"echo {own.strip()} > {state}")
    ready(stage, stage.driver, 180)
    end_job()
    succeeded(stage, "beside", 120)


@of_operands
def the_driver_is_upgraded_after_the_job(stage):
    """A job that runs is waited for: the old driver's pod goes after it has succeeded. The new
    one gets parameters of its module from a ConfigMap, and variables from a Secret."""
    stage.client.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "parameters", "namespace": names.OPERANDS},
            "data": {
                "nvidia.conf": "NVreg_RestrictProfilingToAdminUsers=0\nNVreg_EnableGpuFirmware=1\n"
            },
        }
    )
    stage.client.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "ubuntu-pro", "namespace": names.OPERANDS},
            "stringData": {"UBUNTU_PRO_TOKEN": "C123"},
        }
    )
    stage.client.create(job("long", 3600))
    wait_for(lambda: job_phase(stage, "long").startswith("Running"), 60, "the job runs")
    (old,) = pods(stage, "driver")
    began = want(
        stage,
        operands.NEW,
        "--set",
        "policy.spec.driver.kernelModuleConfig.name=parameters",
        "--set",
        "policy.spec.driver.secretEnv=ubuntu-pro",
    )
    wait_for(
        lambda: gpu_node(stage).get("state") == "Waiting" or str(gpu_node(stage)),
        180,
        "the node waits for the job",
    )
    job_ends = time.time()
    end_job()
    pod = succeeded(stage, "long", 120)
    stage.driver = operands.NEW
    ready(stage, stage.driver, 240)
    stage.figure(
        f"the upgraded node is Ready {time.time() - began:.1f} s after the policy said so, and"
        f" {time.time() - job_ends:.1f} s after the job was told to end"
    )
    # The audit log has fractions of a second, and whoever watched the job cannot have known
    # earlier.
    ended = max(
        first_time(stage, pod, verb="patch", resource="pods/status", user=KUBELET, since=began),
        finished(pod),
    )
    gone = first_time(stage, old, verb="delete", resource="pods")
    assert (
        gone > ended
    ), f"the driver's pod was deleted {ended - gone:.3f} s before the job had ended"
    words = said(stage, another_pod(stage, "driver", old))
    assert (
        "options nvidia NVreg_RestrictProfilingToAdminUsers=0 NVreg_EnableGpuFirmware=1\n" in words
    ), words
    assert "A token of Ubuntu Pro is there\n" in words, words


@of_nvidia
def a_gpu_is_shared_by_time(stage):
    """The device plugin takes a configuration of a ConfigMap: each GPU is offered twice, and a
    pod gets its share of one. Another configuration of it takes that back, with the next change
    of the policy."""
    shared = {
        "version": "v1",
        "sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 2}]}},
    }
    stage.client.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "sharing", "namespace": names.OPERANDS},
            "data": {"twice": json.dumps(shared), "once": json.dumps({"version": "v1"})},
        }
    )
    change(
        stage,
        "--set",
        "policy.spec.devicePlugin.config.name=sharing,"
        "policy.spec.devicePlugin.config.default=twice",
    )
    wait_for(
        lambda: offered(stage) == {"nvidia.com/gpu": "4"} or str(offered(stage)),
        180,
        "each GPU is offered twice",
    )
    for name in ("share-1", "share-2", "share-3"):
        stage.client.create(job(name, 3))
    for name in ("share-1", "share-2", "share-3"):
        text = said(stage, succeeded(stage, name, 120))
        equal(text.count("/dev/nvidia"), 1, f"GPUs that {name} sees")
    stage.undo = ["--set", "policy.spec.devicePlugin.config.default=once"]


@of_nvidia
def a_gpu_is_divided_by_mig(stage):
    """One of two GPUs becomes three MIG devices of two kinds. The plugin offers them beside the
    other GPU, and a pod gets one and nothing else. A driver container that takes over a
    divided GPU has its devices, too. With the next change of the policy both are whole again."""
    smi(stage, "-i", "1", "-mig", "1")
    smi(stage, "mig", "-i", "1", "-cgi", "3g.40gb,1g.10gb,1g.10gb", "-C")
    change(stage, "--set", "policy.spec.devicePlugin.migStrategy=mixed")
    want = {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.10gb": "2", "nvidia.com/mig-3g.40gb": "1"}
    wait_for(
        lambda: offered(stage) == want or str(offered(stage)),
        180,
        "the plugin offers the MIG devices",
    )
    stage.client.create(job("large", 1, "nvidia.com/mig-3g.40gb"))
    succeeded(stage, "large", 90)
    works_with_slice(stage, "large", "3g.40gb")
    stage.client.create(job("slice", 3600, "nvidia.com/mig-1g.10gb"))
    wait_for(lambda: job_phase(stage, "slice").startswith("Running"), 60, "the job runs")
    kill_driver(stage)
    stage.client.create(job("small", 1, "nvidia.com/mig-1g.10gb"))
    succeeded(stage, "small", 120)
    works_with_slice(stage, "small", "1g.10gb")
    links = stage.machine.run("ls", "/dev/char").split()
    # config, monitor, and all that the two cards can be divided into.
    equal(sum(link.startswith("238:") for link in links), 2 + 2 * 15 * 9, "links of MIG's devices")
    stage.client.delete("Job", "slice", "default")
    wait_for(
        lambda: not stage.client.list("Pod", "default", labels="job-name=slice"),
        90,
        "the job is gone",
    )
    smi(stage, "mig", "-i", "1", "-dci")
    smi(stage, "mig", "-i", "1", "-dgi")
    smi(stage, "-i", "1", "-mig", "0")
    stage.undo = ["--set", "policy.spec.devicePlugin.migStrategy=none"]


@of_nvidia
def the_toolkit_is_upgraded(stage):
    """Another version takes the place of the one that is there, under containers that the old
    one has started. The job outlives that: a container that ends in the very second in which
    the runtime restarts is lost to containerd from 2.0 on (core/runtime/v2/shim_load.go,
    "cleaning leaked shim process"), whoever restarts it."""
    old = installed_at(stage)
    stage.client.create(job("under", 3600))
    wait_for(lambda: job_phase(stage, "under").startswith("Running"), 60, "the job runs")
    before = container(job_pod(stage, "under"), "job")
    began = change(stage, "--set-string", f"policy.spec.toolkit.version={operands.NEW_TOOLKIT}")
    wait_for(
        lambda: gpu_node(stage).get("stack", {}).get("version") == operands.NEW_TOOLKIT
        or str(gpu_node(stage)),
        240,
        "the node has the other toolkit",
    )
    ready(stage, stage.driver, 180)
    stage.figure(
        f"the node is Ready with another toolkit {time.time() - began:.1f} s after the policy"
        " said so"
    )
    assert installed_at(stage) > old, "the toolkit's programs are those that were there before"
    stage.client.create(job("anew", 1))
    succeeded(stage, "anew", 90)
    under = job_pod(stage, "under")
    after = container(under, "job")
    equal(
        (after["containerID"], after["state"]),
        (before["containerID"], before["state"]),
        "the job of before",
    )
    assert "driver" in said(stage, under), "the job has no log"
    stage.client.delete("Job", "under", "default")
    wait_for(
        lambda: not stage.client.list("Pod", "default", labels="job-name=under"),
        90,
        "the job is gone",
    )


@of_nvidia
def a_toolkit_with_which_no_container_starts_is_taken_back(stage):
    """NVIDIA's runtime is told of a program that is not there. The container runtime takes the
    configuration and answers, and starts no container with it: it gets its old one back, and
    the node the stack of before. That stays, although the policy still says the other."""
    variable = "policy.spec.toolkit.env[0]"
    began = change(
        stage,
        "--set",
        f"{variable}.name=NVIDIA_CONTAINER_RUNTIME_RUNTIMES,{variable}.value=runc-that-is-absent",
    )

    def taken_back():
        failed = [
            e for e in stage.client.list("Event", "default") if e["reason"] == "UpgradeFailed"
        ]
        said = [e for e in failed if "no container starts with the runtime's handler" in e["note"]]
        return said or str([e["note"] for e in failed])

    (failed,) = wait_for(taken_back, 180, "the change is taken back")
    stage.figure(f"the toolkit is taken back {time.time() - began:.1f} s after the policy said so")
    assert "RuntimeConfigFailed" in failed["note"], failed["note"]
    ready(stage, stage.driver, 240)
    stage.client.create(job("before", 1))
    succeeded(stage, "before", 90)


@chapter
def a_driver_pod_is_deleted_while_it_installs(stage):
    """NVIDIA's program hears of it and ends; the next pod begins anew, and the upgrade goes on."""
    (old,) = pods(stage, "driver")
    other = operands.NEW if stage.driver == operands.OLD else operands.OLD
    want(stage, other)

    def installing():
        found = another_pod(stage, "driver", old)
        return (
            found
            if found
            and "running" in container(found, "driver").get("state", {})
            and not module_version(stage)
            else None
        )

    new = wait_for(installing, 180, "the other driver installs")
    began = time.time()
    stage.client.delete("Pod", new["metadata"]["name"], names.OPERANDS)
    wait_for(
        lambda: another_pod(stage, "driver", old) is None or another_pod(stage, "driver", new),
        90,
        "that pod is gone",
    )
    equal(module_version(stage), "", "the loaded driver")
    assert time.time() - began < 20, "the pod waited for the end of its grace period"
    stage.driver = other
    ready(stage, stage.driver, 240)


@chapter
def a_driver_that_does_not_load_is_rolled_back(stage):
    """The canary fails, says with which words, and gets back what worked."""
    began = want(stage, operands.BAD)
    # A minute is the shortest time for an installation, and the server has to be heard of after it:
    # that takes as much again.
    failed = wait_for(lambda: event(stage, "UpgradeFailed"), 300, "the canary has failed")
    stage.figure(f"the canary has failed {time.time() - began:.1f} s after the policy said so")
    assert "Could not resolve Linux kernel version" in failed["note"], failed["note"]
    ready(stage, stage.driver, 240)
    stage.figure(f"it is back {time.time() - began:.1f} s after the policy said so")
    assert operands.BAD in event(stage, "RevisionFailed")["note"]
    want(stage, stage.driver)


@of_operands
def the_machine_is_started_again(stage):
    """Its power is lost: every process, all of /run and the kernel's modules. It comes back by
    itself."""
    before = stage.machine.boot_id
    stage.machine.off()
    stage.machine.on()
    began = time.time()
    wait_for(
        lambda: node(stage)["status"]["nodeInfo"]["bootID"] != before,
        180,
        "the kubelet tells of another start",
    )
    ready(stage, stage.driver, 300)
    stage.figure(
        f"the node is Ready {time.time() - began:.1f} s after the machine was started again"
    )
    stage.client.create(job("after", 1))
    succeeded(stage, "after", 90)


@of_operands
def a_fault_in_the_kernel_log_is_repaired(stage):
    """Two GPUs have a fault. One is reset. The kernel offers no reset of the other, so the machine
    is rebooted; then it serves again, and its record has both attempts.

    Real: syslog(2), which the agent calls with the capability and the profile of its pod; what
    Ostler decides and writes; the admission of the two pods that it makes; kubelet and runtime,
    which start them with their mounts, user and profile, and report how the first one ends; what
    Ostler's program does in them: the write into a GPU's file `reset`, which is root's and allows
    nothing else, through the pod's mount of /sys/devices, and the signal to process 1, at which
    the machine ends. Not real: the text of the log; the GPUs in sysfs, of which a write resets
    nothing; process 1, a script with the name of systemd; the firmware, since the test starts the
    machine again. AppArmor and SELinux have no part in it."""
    good, bad = (stage.machine.gpu(number) for number in range(2))
    wait_for(lambda: age(pods(stage, "driver")[0]) > LOADS, LOADS, "faults of the driver count")
    (bad / "reset").unlink()
    for gpu in (good, bad):
        stage.machine.log(f"NVRM: Xid (PCI:{gpu.name[:-2]}): 95, pid=7, name=a, Uncontained error.")
    began = change(
        stage,
        "--set",
        "allowRepairs=true,policy.spec.health.kernelLog=true,policy.spec.health.mode=Repair,"
        "policy.spec.health.reboot=Pod",
    )
    wait_for(
        lambda: kube.taint(node(stage), faults.TAINT) is not None or str(gpu_node(stage)),
        60,
        "the node is closed",
    )
    stage.figure(f"the node is closed {time.time() - began:.1f} s after the policy said so")
    (folder,) = processes("ostler-node")[:1]
    equal(status_of(folder)["CapEff"], "0000000400080004", "the agent's capabilities")
    wait_for(
        lambda: stage.machine.has_ended or str(gpu_node(stage)), 90, "the machine is rebooted"
    )
    stage.figure(f"it is rebooted {time.time() - began:.1f} s after the policy said so")
    equal((good / "reset").read_text(encoding="ascii"), "1", "what sysfs was told of one GPU")
    words = f"not reset: reset {good.name}; {bad.name} offers no reset: only a reboot helps;"
    assert words in operators_log(stage), "Ostler has not read what the reset's pod has said"
    (bad / "reset").touch(mode=0o200)
    stage.machine.off()
    stage.machine.on()
    ready(stage, stage.driver, 240)
    wait_for(
        lambda: kube.taint(node(stage), faults.TAINT) is None or str(gpu_node(stage)),
        60,
        "the node is open",
    )
    stage.figure(f"it is back {time.time() - began:.1f} s after the policy said so")
    equal(attempts(stage), ["Reset", "Reboot"], "attempts to repair the node")
    made = stage.cluster.audit.requests(
        user=OPERATOR,
        since=began,
        verb="create",
        resource="pods",
        where=lambda r: r.name.startswith("ostler-re") and r.code == 201,
    )
    equal(
        [r.name for r in made],
        [f"ostler-{task}-{machine.NAME}" for task in ("reset", "reboot")],
        "pods that Ostler has made to repair the node",
    )


@of_operands
def helm_uninstall_leaves_nothing(stage):
    """No label, taint, annotation, condition or finalizer of Ostler's, and nothing in the
    configuration of the runtime."""
    runtime = stage.machine.runtime
    equal(
        runtime.drop_in in stage.machine.files(),
        True,
        f"before it, whether the machine has {runtime.drop_in}",
    )
    began = time.time()
    helm(stage, "uninstall", RELEASE, "--wait", "--timeout", "120s")
    stage.figure(f"helm uninstall --wait: {time.time() - began:.1f} s")
    left = node(stage)
    meta = left["metadata"]
    ours = [
        k
        for part in ("labels", "annotations")
        for k in meta.get(part) or {}
        if "ostler.dev" in k or k.startswith("nvidia.com/")
    ]
    equal(ours, [], "labels and annotations on the node")
    equal([t["key"] for t in left["spec"].get("taints") or []], [], "taints of the node")
    for condition in ("GpuReady", "GpuHealthy"):
        equal(kube.condition(left, condition), {}, f"the condition {condition}")
    equal(module_version(stage), "", "the loaded driver")
    files = stage.machine.files()
    assert (
        TOOLKIT + "nvidia-container-runtime" in files
    ), "the toolkit's programs are gone, and with them the end of containers"
    equal(
        {f for f in files - stage.bare if not f.startswith(TOOLKIT)},
        STAYS.union(runtime.stays),
        "files that were not on the machine before",
    )
    equal(stage.bare - files, set(), "files that the machine has lost")
    equal(runtime.configuration(stage.machine), stage.bare_runtime, "the runtime's configuration")
    for kind in ("GpuClusterPolicy", "GpuNode"):
        equal(
            [o["metadata"]["name"] for o in stage.client.list(kind)], [], f"objects of kind {kind}"
        )
    wait_for(
        lambda: stage.client.get("Namespace", names.OPERANDS) is None,
        180,
        f"namespace {names.OPERANDS} is gone",
    )
