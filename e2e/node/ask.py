"""What several parts of the story ask and do."""

import contextlib
import datetime
import json
import os
import pathlib
import signal
import time

import faults
import kube
import machine
import names
import operands

RELEASE = "ostler"
TOOLKIT = "usr-local/nvidia/toolkit/"


def wait_for(predicate, timeout, what):
    """kube.wait_for, which asks four times a second: a kubelet takes longer for each step, and
    asking costs the processor that it needs."""
    return kube.wait_for(predicate, timeout, what, every=0.25)


def helm(stage, *args, check=True):
    """Runs helm in the release's namespace."""
    return stage.cluster.tool_run("helm", *args, "--namespace", names.NAMESPACE, check=check)


def install_flags(tag="node-test"):
    """What says where the image is, and which system calls the operator may make: those of the
    chart's own list."""
    values = (
        "seccompProfile.type=Localhost",
        "seccompProfile.localhostProfile=profiles/ostler.json",
        "image.repository=docker.io/library/ostler",
        f"image.tag={tag}",
        "image.pullPolicy=Never",
        "allowedSettings={secretEnv=ubuntu-pro,NVIDIA_CONTAINER_RUNTIME_RUNTIMES}",
    )
    return [word for value in values for word in ("--set", value)]


def node(stage):
    """The Node."""
    return stage.client.get("Node", machine.NAME)


def gpu_node(stage):
    """What Ostler says of it, or {}."""
    return (stage.client.get("GpuNode", machine.NAME) or {}).get("status", {})


def ready(stage, version, timeout):
    """Waits until the node serves both GPUs with a driver of that version."""

    def serves():
        said = gpu_node(stage)
        well = (
            said.get("state") == "Ready"
            and said.get("inventory", {}).get("bootId") == stage.machine.boot_id
        )
        if (
            well
            and module_version(stage) == version
            and offered(stage) == {"nvidia.com/gpu": "2"}
            and not kube.taint(node(stage), names.UPGRADE_TAINT)
        ):
            return True
        return json.dumps(
            {k: said.get(k) for k in ("state", "reason", "message")}
            | {"loaded": module_version(stage)}
        )

    wait_for(serves, timeout, f"{machine.NAME} is Ready with driver {version}")


def module_version(stage):
    """That of the loaded driver, as the machine's kernel has it; empty without one."""
    path = stage.machine.folder / "kernel/module/nvidia/version"
    return path.read_text(encoding="ascii").strip() if path.exists() else ""


def equal(got, want, what):
    """Fails unless both are the same."""
    assert got == want, f"{what}: got {got!r}, want {want!r}"


def pods(stage, component):
    """The pods of an operand."""
    return stage.client.list("Pod", names.OPERANDS, labels=f"{names.COMPONENT}={component}")


def job(name, seconds, resource="nvidia.com/gpu"):
    """A Job that works with one GPU, or one of another resource, for so long."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "tolerations": [{"key": names.GPU_TAINT, "operator": "Exists"}],
                    "containers": [
                        {
                            "name": "job",
                            "image": operands.JOB,
                            "args": [str(seconds)],
                            "imagePullPolicy": "Never",
                            "resources": {"limits": {resource: "1"}},
                        }
                    ],
                }
            },
        },
    }


def end_job():
    """Tells the one job that is to work for an hour that there is no more to do."""
    (runs,) = processes("gpu-job", b"\0003600\0")
    os.kill(int(runs.name), signal.SIGUSR1)


def job_pod(stage, name):
    """The one pod of a Job, when it is there."""
    (pod,) = wait_for(
        lambda: stage.client.list("Pod", "default", labels=f"job-name={name}"),
        60,
        f"job {name} has a pod",
    )
    return pod


def job_phase(stage, name):
    """How far its pod is, and why it is not further."""
    status = job_pod(stage, name)["status"]
    return (
        status["phase"]
        + ": "
        + str(kube.condition({"status": status}, "PodScheduled").get("message"))
    )


def said(stage, pod):
    """The log of a pod."""
    return stage.cluster.kubectl(
        "logs", "--namespace", pod["metadata"]["namespace"], pod["metadata"]["name"]
    )


def succeeded(stage, name, timeout):
    """Waits until a Job has succeeded, and returns its pod."""

    def done():
        return stage.client.get("Job", name, "default").get("status", {}).get(
            "succeeded"
        ) or job_phase(stage, name)

    wait_for(done, timeout, f"job {name} has succeeded")
    pod = job_pod(stage, name)
    equal(pod["status"]["containerStatuses"][0]["restartCount"], 0, f"restarts of {name}")
    return pod


def want(stage, version, *flags):
    """Upgrades the release with a policy that says another driver, as a person would."""
    return change(stage, "--set-string", f"policy.spec.driver.version={version}", *flags)


def change(stage, *flags):
    """Upgrades the release with other values, and takes back what a part has left to that; returns
    when that was done."""
    flags = [*stage.undo, *flags]
    helm(stage, "upgrade", RELEASE, names.CHART, "--reuse-values", "--timeout", "60s", *flags)
    stage.undo = []
    return time.time()


def processes(name, words=b"\0run\0"):
    """The folders in procfs of those that run as that program, with these words in their command
    line, the oldest first."""
    found = []
    for folder in sorted(pathlib.Path("/proc").glob("[0-9]*"), key=lambda f: int(f.name)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (folder / "comm").read_text(encoding="ascii") == name + "\n" and words in (
                folder / "cmdline"
            ).read_bytes():
                found.append(folder)
    return found


def installed_at(stage):
    """When the runtime's wrapper was put there. Its inode does not tell: a new file often has
    that of one just removed."""
    return (stage.machine.disk / TOOLKIT / "nvidia-container-runtime").stat().st_ctime_ns


def status_of(folder):
    """What the kernel says of a process: field -> text."""
    lines = (folder / "status").read_text(encoding="ascii").splitlines()
    return {key: text.strip() for key, text in (line.split(":", 1) for line in lines)}


def container(pod, name):
    """The status of a container of a pod, or {}."""
    status = pod["status"]
    both = status.get("initContainerStatuses", []) + status.get("containerStatuses", [])
    return next((c for c in both if c["name"] == name), {})


def another_pod(stage, component, old):
    """The pod of an operand that came after `old`, or None."""
    return next(
        (p for p in pods(stage, component) if p["metadata"]["uid"] != old["metadata"]["uid"]), None
    )


def kill_driver(stage):
    """Has the driver's container killed before it can unload anything that is used, and waits
    for the next one."""
    (old,) = pods(stage, "driver")
    stage.client.delete("Pod", old["metadata"]["name"], names.OPERANDS, grace=2)

    def another():
        found = another_pod(stage, "driver", old)
        return bool(found) and (
            kube.pod_ready(found) or str(found["status"].get("initContainerStatuses"))
        )

    wait_for(another, 180, "another driver container is up")


def event(stage, reason):
    """The last Event of Ostler's with that reason, or None."""
    found = [
        e
        for e in stage.client.list("Event", "default")
        if e["reason"] == reason and "ostler" in e.get("reportingController", "")
    ]
    return found[-1] if found else None


def first_time(stage, pod, **which):
    """When the API server was first asked for something about a pod, by the audit log: it has
    fractions of a second."""
    name = pod["metadata"]["name"]
    return min(
        r.time for r in stage.cluster.audit.requests(where=lambda r: r.name == name, **which)
    )


def finished(pod):
    """When the one container of a pod ended, by the kubelet's clock, in whole seconds."""
    text = pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def age(pod):
    """Seconds since a pod was made, by the server's clock, in whole seconds."""
    text = pod["metadata"]["creationTimestamp"]
    return time.time() - datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def attempts(stage):
    """The kinds of Ostler's attempts to repair the node, as its record has them."""
    text = node(stage)["metadata"]["annotations"].get(faults.RECORD)
    return [one["kind"] for one in json.loads(text or "{}").get("tries", [])]


def operators_log(stage):
    """All that the operator's pods have said, as the kubelet keeps it on the machine's disk."""
    files = (stage.machine.disk / "var/log/pods").glob(f"{names.NAMESPACE}_*/*/*.log")
    return "".join(file.read_text(encoding="utf-8") for file in files)


def smi(stage, *words):
    """Runs nvidia-smi where a person would: in the driver's container."""
    (pod,) = pods(stage, "driver")
    return stage.cluster.kubectl(
        "exec",
        "--namespace",
        names.OPERANDS,
        pod["metadata"]["name"],
        "--container",
        "driver",
        "--",
        "nvidia-smi",
        *words,
    )


def offered(stage):
    """resource of NVIDIA's -> how many the kubelet has to give; what it had once and has no more
    is left out."""
    return {
        k: v
        for k, v in node(stage)["status"]["allocatable"].items()
        if k.startswith("nvidia.com/") and v != "0"
    }


def works_with_slice(stage, name, profile):
    """A Job gets one MIG device of that kind, and of cards only that which it is part of."""
    text = said(stage, job_pod(stage, name))
    equal(
        (text.count("MIG device MIG-1"), text.count(f"({profile})"), text.count("/dev/nvidia")),
        (1, 1, 1),
        text,
    )
