"""10. The API server restarts, is away, forgets its history, changes its authority, expires a
token: Ostler goes on."""

import collections
import signal
import time

from harness import contains, equal, long_test, proven_by, test
from names import NAMESPACE, OPERANDS


def _goes_on(env, within=5.0):
    """A node that joins now is marked soon: Ostler works."""
    began = time.monotonic()
    node = env.node(f"after{int(began * 10) % 100000}", "nfd")
    env.wait_marked(node, timeout=within)
    return node


@test
@proven_by("e2e/scenarios/s10_server.py")  # away_for_a_minute, which is away for longer
def restarted(env):
    """The API server is restarted: Ostler goes on within 5 s, as the same process."""
    first = env.serving("gpu")
    pid = env.operator.pid
    env.world.restart_apiserver()
    env.wait_serving(_goes_on(env), first)
    equal(env.operator.pid, pid, "process")


@test
def crashed(env):
    """The same when the API server is killed."""
    env.serving("gpu")
    env.world.restart_apiserver(kill=True)
    _goes_on(env)


@long_test
def away_for_a_minute(env):
    """Away for 60 s: within 5 s of its return Ostler goes on, without a burst of requests,
    and said meanwhile that it was not ready."""
    env.serving("gpu")
    pid = env.operator.pid
    env.world.apiserver.stop(grace=2)
    time.sleep(58)
    status, text = env.operator.fetch("/readyz?verbose")
    assert status not in (0, 200), f"/readyz while the API server is away: {status} {text}"
    equal(env.operator.fetch("/healthz")[0], 200, "/healthz while the API server is away")
    env.world.start_apiserver()
    back = time.time()
    _goes_on(env)
    equal(env.operator.pid, pid, "process")
    env.operator.wait_ready(5)
    time.sleep(3)
    # A server that starts refuses what comes too early (403, 429), and each watch has then to be
    # opened again: how often depends on the machine. A burst is that the same is asked for over and
    # over.
    asked = [r for r in env.requests(since=back - 5, until=back + 5) if r.resource != "leases"]
    assert len(asked) <= 150, f"{len(asked)} requests in the seconds after its return: a burst"
    same = collections.Counter(
        f"{r.verb} {r.resource} {r.namespace} {r.name}" for r in asked if r.resource != "events"
    )
    for what, times in same.items():
        assert times <= 8, f"{times} times {what} in the seconds after its return: a burst"
    lists = collections.Counter(
        f"{r.resource} {r.namespace}" for r in asked if r.verb == "list" and r.code == 200
    )
    for what, times in lists.items():
        assert times <= 2, f"{times} lists of {what} after its return"


@long_test
def unresponsive(env):
    """An API server that holds its connections and answers nothing for 10 s is waited out."""
    env.serving("gpu")
    env.world.apiserver.pause()
    try:
        time.sleep(10)
    finally:
        env.world.apiserver.resume()
    _goes_on(env, within=10)


@test
def history_compacted(env):
    """A watch from a version that the server has forgotten is answered 410: Ostler lists again,
    and nothing is made twice."""
    node = env.serving("gpu")
    pods = env.pod_uids()
    env.operator.signal(signal.SIGSTOP)
    late = env.node("late", "nfd")
    env.k.merge_patch("Node", node, {"metadata": {"labels": {"nvidia.com/gpu.present": None}}})
    env.world.compact()
    since = time.time()
    env.operator.signal(signal.SIGCONT)
    env.wait_serving(node, late, timeout=20)
    assert env.requests(
        since=since, verb="list", resource="nodes"
    ), "no list after the history was lost"
    assert set(pods) <= set(env.pod_uids()), "operand pods were replaced"
    for component in ("driver", "toolkit", "device-plugin", "exporter"):
        equal(len(env.daemonsets(component)), 1, f"{component} DaemonSets")


@long_test
def authority_changes(env):
    """The server's certificate comes from another authority, which reaches Ostler's file later:
    it is read again."""
    env.serving("gpu")
    pid = env.operator.pid
    env.world.rotate_server_ca()
    try:
        time.sleep(2)
        env.world.trust_server_ca(env.kubeconfig)
        _goes_on(env, within=70)
    finally:
        env.world.trust_server_ca(env.kubeconfig)
    equal(env.operator.pid, pid, "process")


@test
def token_is_invalidated(env):
    """The token becomes worthless (401) and another one lies in its file: it is read again."""
    env.serving("gpu")
    pid = env.operator.pid
    account = env.k.get("ServiceAccount", env.installation.account, NAMESPACE)
    env.k.delete("ServiceAccount", env.installation.account, NAMESPACE)
    for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        account["metadata"].pop(key, None)
    env.k.create(account)
    env.world.rotate_token(env.kubeconfig, NAMESPACE, env.installation.account)
    _goes_on(env, within=30)
    equal(env.operator.pid, pid, "process")


@long_test
def operand_namespace_vanishes(env):
    """The operand namespace is deleted by mistake: Ostler says so, and when the chart is
    installed again, the operands come back by themselves."""
    node = env.serving("gpu")
    uid = env.k.get("Namespace", OPERANDS)["metadata"]["uid"]
    began = time.time()
    env.k.delete("Namespace", OPERANDS)
    env.wait(
        lambda: (env.k.get("Namespace", OPERANDS) or {"metadata": {"uid": None}})["metadata"]["uid"]
        != uid,
        30,
        "the namespace is gone",
    )
    try:
        said = env.wait_policy("NamespaceMissing", "True", "Stalled")
        contains(said["message"], [OPERANDS, "kubectl create namespace"], "the condition")
        env.operator.stop()
        env.operator.start(ready=False)
        env.wait(
            lambda: "NamespaceMissing" in env.operator.fetch("/readyz?verbose")[1],
            15,
            "/readyz says so after a start, too",
        )
    finally:
        env.installation.apply()
    env.world.lawless.append((began, time.time()))  # the rights in the namespace went with it
    env.wait_serving(node, timeout=30)
