"""Fleets for the tests of the page: a realistic one in a rollout with GPU faults, a large one, one
with hostile names, and the stories of their nodes."""

import copy
import datetime
import pathlib
import random
import re

BEGAN = datetime.datetime(2026, 11, 20, 10, 30, tzinfo=datetime.timezone.utc)
OLD, NEW = "570.211.01", "580.178.04"
# The one that the chart installs.
VERSION = re.search(r"^appVersion: (.*)$", (pathlib.Path(__file__).resolve().parents[2] /
                    "charts" / "ostler" / "Chart.yaml").read_text(), re.M).group(1)


def time_of(seconds_ago):
    return (BEGAN - datetime.timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def second(seconds_ago):
    return int(BEGAN.timestamp()) - seconds_ago


def node(name, pool, zone, rack, product, gpus, used, since, driver=OLD):
    return {"name": name, "pool": pool, "zone": zone, "rack": rack, "state": "Ready",
            "reason": "OperandsUp", "product": product, "driver": driver, "target": NEW,
            "gpus": gpus, "used": used, "bad": 0, "since": second(since), "held": 0}


# Name, zones, racks in each, nodes in each rack, product, GPUs of a node.
POOLS = (("train-h100", "abc", 6, 8, "NVIDIA-H100-80GB-HBM3", 8),
         ("infer-l40s", "abc", 5, 6, "NVIDIA-L40S", 4),
         ("dev-a10", "a", 4, 6, "NVIDIA-A10", 1))


def place(pools, seed=7):
    """All nodes of some pools, Ready, with GPUs in use."""
    chance, nodes = random.Random(seed), {}
    for pool, zones, racks, count, product, gpus in pools:
        for zone in zones:
            for rack in range(1, racks + 1):
                for k in range(1, count + 1):
                    name = f"{pool.split('-')[1]}-{zone}{rack:02}-{k:02}"
                    used = min(gpus, int(chance.random() * (gpus + 3)))
                    nodes[name] = node(name, pool, f"eu-west-1{zone}", f"{zone}{rack:02}", product,
                                       gpus, used, 86400 + chance.randrange(900000))
    return nodes


def roll(nodes, done, chance):
    """The first `done` nodes have the new driver."""
    for k, name in enumerate(list(nodes)[:done]):
        nodes[name].update(driver=NEW, since=second((done - k) * 95 + chance.randrange(60)))


UNDER_WAY = (("Validating", "Proof", NEW, 25), ("Installing", "DriverBuilds", NEW, 80),
             ("Installing", "DriverBuilds", NEW, 64), ("Unloading", "Unloading", OLD, 18),
             ("Draining", "EvictionRequested", OLD, 210), ("Waiting", "WaitingForJobs", OLD, 2460),
             ("Waiting", "WaitingForJobs", OLD, 1320), ("Waiting", "WaitingForJobs", OLD, 640))

BLOCKERS = (("ml-team/pretrain-llm-7", "Job", "a job that has run for 3 h; it ends by itself",
             "the node drains when the job has ended, at the latest 11:49:00Z"),
            ("vision/sweep-0042", "Job", "a job that has run for 22 min",
             "the node drains when the job has ended, at the latest 12:08:00Z"),
            ("serving/llama-70b-5f6c", "DisruptionBudget",
             "the PodDisruptionBudget serving/llama-70b lets no pod go at the moment",
             "Ostler asks again; at 10:41:00Z the node returns to service unchanged"),
            (None, "ImagePullFailed", "nvcr.io/nvidia/driver:580.178.04: 429 Too Many Requests",
             "the kubelet retries"))


def wave(names, canary=False, nodes=None, **more):
    """As the status has it: the first five names."""
    return {"nodes": nodes or len(names), "names": list(names)[:5], "canary": canary, **more}


def policy_of(nodes, waves):
    states = {}
    for one in nodes.values():
        states[one["state"]] = states.get(one["state"], 0) + 1
    def on_target(n):
        return n["driver"] == NEW and n["state"] == "Ready"

    served = sum(n["state"] != "ForeignStack" for n in nodes.values())
    done = sum(map(on_target, nodes.values()))
    failed = [name for name, n in nodes.items() if n["state"] == "Failed"]
    ready = {"status": "True", "reason": "AllNodesReady",
             "message": f"every GPU node is in its desired state: {served} nodes"}
    if failed:
        ready = {"status": "False", "reason": "CrashLoopBackOff",
                 "message": f"driver: {len(failed)} of {served} nodes: the driver does "
                            f"not build for this kernel (node {failed[0]})"}
    pools = [{"name": name, "nodes": sum(n["pool"] == name for n in nodes.values()),
              "upToDate": sum(n["pool"] == name and on_target(n) for n in nodes.values()),
              "driverVersion": NEW} for name in dict.fromkeys(n["pool"] for n in nodes.values())]
    pools.append({"name": "spare", "nodes": 0, "upToDate": 0, "driverVersion": NEW})
    return {
        "name": "default", "ready": ready["status"], "reason": ready["reason"], "paused": False,
        "message": ready["message"],
        "conditions": [
            {"type": "Ready", **ready},
            {"type": "Degraded", "status": "True", "reason": "GpusUnhealthy",
             "message": "2 nodes are closed for faults of their GPUs"},
            {"type": "HealthBraked", "status": "False", "reason": "NoStorm", "message": ""}],
        "nodes": {"total": len(nodes) + 40, "gpu": len(nodes), "managed": len(nodes),
                  "ready": states["Ready"],
                  "states": [{"state": s, "count": n} for s, n in states.items()]},
        "pools": pools,
        "rollout": {
            "reason": "MaxParallel", "done": done, "active": 5, "waiting": 3, "failed": 1,
            "pending": served - done - 11, "skipped": 2,
            "message": "As many nodes are being changed as maxParallel allows: 8. The next wave "
                       "begins when one of them is done.",
            "plan": {"hash": "7c1f", "madeAt": time_of(5 * 3600), "nodes": len(nodes),
                     "waveCount": 34, "ends": time_of(-5400), "waves": waves}},
        "windows": None, "soak": {"canary": 900, "wave": 0},
        "health": {"mode": "Close", "braked": False, "reason": "NotBraked", "message": ""},
        "blockers": [],
    }


def rolling():
    """About 260 nodes of three pools in a rollout; a driver failed on one node, and
    failureThreshold allows more; GPUs have faults."""
    nodes, chance = place(POOLS), random.Random(3)
    names = list(nodes)
    roll(nodes, 143, chance)
    for name, (state, reason, driver, ago) in zip(names[143:], UNDER_WAY):
        nodes[name].update(state=state, reason=reason, driver=driver, since=second(ago),
                           used=nodes[name]["used"] if state in ("Waiting", "Draining") else 0)
    nodes[names[100]].update(state="Failed", reason="DriverBuildFailed", since=second(900), used=0)
    nodes[names[61]].update(state="Unhealthy", reason="Xid79", bad=1, since=second(1500))
    nodes[names[200]].update(state="Unhealthy", reason="RowRemapFailed", bad=1, since=second(260))
    nodes[names[30]].update(bad=1, reason="GpuWithheld", since=second(7200))
    nodes[names[240]].update(state="Lost", reason="NodeNotReady", used=0, since=second(4000))
    for name in names[250:253]:
        nodes[name].update(state="ForeignStack", reason="ForeignStack", driver=None, target=None)
    for name in names[160:163]:
        nodes[name]["held"] = 1
    nodes[names[100]]["held"] = 1
    waves = [wave(names[:1], canary=True, begins=time_of(5 * 3600)),
             *(wave(names[k:k + 8], notBefore=time_of(4 * 3600 - 60 * k))
               for k in (1, 97, 145, 153))]
    fleet = {"nodes": nodes, "asOf": time_of(0), "holder": "ostler-6d5c8f7b9-x2v4q",
             "version": VERSION, "policy": policy_of(nodes, waves), "story": story}
    held = [n for n, (state, *_) in zip(names[143:], UNDER_WAY) if state in ("Waiting", "Draining")]
    fleet["policy"]["windows"] = [{"opens": time_of(-opens), "closes": time_of(-opens - 9000)}
                                  for opens in range(0, 8 * 86400, 86400)]
    fleet["policy"]["blockers"] = [
        {"node": name, "pod": pod, "reason": reason, "message": message, "next": then,
         "since": time_of(second(0) - nodes[name]["since"])}
        for name, (pod, reason, message, then) in zip([*held[1:3], held[0], names[152]], BLOCKERS)]
    return fleet


def large(count=5000):
    """Many nodes in racks of eight."""
    nodes = {}
    states = ("Ready",) * 30 + ("Waiting", "Draining", "Installing", "Failed", "Lost", "Unhealthy")
    for k in range(count):
        name, pool = f"gpu-{k // 8:04}-{k % 8}", f"pool-{k * 4 // count}"
        nodes[name] = node(name, pool, f"zone-{k // 8 % 3}", f"r{k // 8:03}",
                           "NVIDIA-H100-80GB-HBM3", 8, k % 9, 1000 + k, (OLD, NEW)[k % 2])
        nodes[name]["state"] = states[k * 7 % len(states)]
    return {**empty(), "nodes": nodes, "policy": policy_of(nodes, [])}


HOSTILE = ("<img src=x onerror=document.title=1>",
           "\u202egnp.exe\u202c-\u0645\u0631\u062d\u0628\u0627",
           "a" * 253, "'\"><script>document.title=2</script>", "__proto__", "x&amp;y#?/%2e%2e",
           "line\nbreak\tand\u0000nul")


def hostile():
    """Names that no cluster should have, in every text."""
    nodes = {}
    for name in HOSTILE:
        nodes[name] = {**node(name, name, name, name, name, 8, 3, 50, name), "target": name,
                       "reason": name}
    fleet = {**empty(), "nodes": nodes, "holder": HOSTILE[0], "version": HOSTILE[3]}
    fleet["policy"] = policy_of(nodes, [wave(nodes, canary=True)])
    fleet["policy"].update(name=HOSTILE[3], message=HOSTILE[0], blockers=[
        {"node": name, "pod": name, "reason": name, "message": name, "next": name,
         "since": "yesterday"} for name in HOSTILE])
    fleet["policy"]["rollout"]["message"] = HOSTILE[3]
    return fleet


def empty():
    """No nodes and no policy."""
    return {"nodes": {}, "policy": None, "asOf": time_of(0), "holder": "ostler-0",
            "version": VERSION, "story": story}


# ---- stories

def inventory(one):
    gpus = [{"address": f"0000:{0x19 + 17 * k:02x}:00.0", "bus": "Answers",
             "product": one["product"]} for k in range(one["gpus"])]
    said = {"machine": "PowerEdge XE9680", "kernel": "6.8.0-49-generic",
            "os": {"name": "Ubuntu 24.04.1 LTS"}, "gpus": gpus, "faults": []}
    for gpu in gpus[:one["bad"]]:
        gpu["bus"] = "Silent"
        said["faults"].append({"address": gpu["address"], "xid": 79, "count": 2})
    return said


STORY = ((9000, "policy", "RolloutStarted: pool goes to driver 580.178.04", False),
         (2460, "claim", "taken out of service: Upgrade of its driver, attempt 1", False),
         (2459, "node", "GpuReady became False (its reason today: WaitingForJobs)", False),
         (1500, "gpu", "Xid 79 (GPU has fallen off the bus), 2 times", True),
         (640, "event", "ClaimedWaiting: the node is closed, and waits for 1 job", False))


def story(fleet, name):
    """What /node/NAME.json has of a node."""
    one = copy.deepcopy(fleet["nodes"][name])
    lines = [{"time": time_of(ago), "what": what, "text": text, "warning": warning}
             for ago, what, text, warning in STORY if one["bad"] or what != "gpu"]
    busy = one["state"] in ("Waiting", "Draining")
    explain = {
        "node": name, "asOf": fleet["asOf"], "state": one["state"], "reason": one["reason"],
        "message": f"{name} is {one['state']}: {one['reason']}", "gpus": one["gpus"],
        "product": one["product"], "loaded": one["driver"], "held": False, "cordoned": False,
        "driver": {"version": one["driver"], "revision": "d1",
                   "target": "d1" if one["driver"] == one["target"] else "d2"},
        "stack": {"version": "v1.20.0", "revision": "s1", "target": "s1"}, "story": lines,
        "waitingFor": [{"kind": "Job", "namespace": "ml-team", "name": "pretrain-llm-7",
                        "reason": "Job", "message": "a job; it ends by itself"}] if busy else [],
        "operandPods": [{"name": f"ostler-operands/driver-{k}", "state": "Running", "message": ""}
                        for k in ("d1-x2c4v", "toolkit-9xk2l")],
        "gpuPods": [{"name": "ml-team/pretrain-llm-7", "state": "Running", "message": ""}]
        if one["used"] else [],
        "next": [{"at": time_of(-4740), "text": "Draining: when the job has ended"}] if busy else
        [{"text": "nothing: it runs what the policy says"}]}
    if one["bad"]:
        explain["health"] = {"level": "Reboot", "reason": "Xid79", "state": "Closed",
                             "message": "GPU 0000:19:00.0 has fallen off the bus. Reboot the node."}
    commands = [f"kubectl gpu explain {name}", f"kubectl gpu hold {name}"]
    if one["bad"]:
        commands += [f"kubectl gpu repair {name}", f"kubectl gpu ignore {name} --fault Xid79"]
    return {"asOf": fleet["asOf"], "name": name, "explain": explain, "commands": commands,
            "status": {"inventory": inventory(one)},
            "text": f"{name}: {one['state']} ({one['reason']})\n\nHistory\n" +
                    "\n".join(f"  {one['time']}  {one['what']}  {one['text']}" for one in lines)}
