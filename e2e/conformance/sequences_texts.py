"""Texts, keys and numbers that are JSON and that are rare: with a NUL in them, too long, beyond all
amounts."""

from conformance.sequences_policy import GONE, POLICIES, POLICY, env, policy
from conformance.steps import CORE, get, in_ns, merge, node, pod, post, seq

NUL = "a\0b"
PODS = in_ns("pods")

WITH_NUL = {
    "a text that may be anything": env(value=NUL),
    "an argument": {"driver": {"args": [NUL]}},
    "a version": {"driver": {"version": NUL}},
    "a choice": {"driver": {"source": "Auto\0"}},
    "a name in a list": {"driver": {"imagePullSecrets": [NUL]}},
    "a variable's name": env(name=NUL),
    "an amount": {"driver": {"resources": {"limits": {"cpu": "1\0"}}}},
    "a percentage": {"rollout": {"maxUnavailable": "25%\0"}},
    "a duration": {"rollout": {"soak": "1h\0"}},
    "a label's value": {"driver": {"labels": {"a": NUL}}},
    "a label's key": {"driver": {"labels": {NUL: "a"}}},
    "a taint's key": {"nodes": {"taint": {"key": NUL}}},
    "a field's name": {"driver": {NUL: "a"}},
}
for what, spec in WITH_NUL.items():
    seq(f"texts: a NUL in {what} of a policy", post(POLICIES, policy(spec), dryRun="All"))
seq(
    "texts: a NUL is kept",
    post(POLICIES, policy(env(value=NUL))),
    get(POLICY),
    merge(POLICY, {"spec": {"driver": {"args": [NUL, "a"]}}}),
    GONE,
)

# What a user may write who may make a pod, and what a kubelet may say of its node. None of it may
# keep Ostler from reading all the other objects.
seq(
    "texts: a NUL in a pod",
    post(PODS, pod(containers=[{"name": "a", "image": NUL, "env": [{"name": "A", "value": NUL}]}])),
)
seq(
    "texts: a NUL in a key of a pod",
    post(
        PODS,
        pod(
            volumes=[
                {"name": "v", "csi": {"driver": "example.com", "volumeAttributes": {NUL: NUL}}}
            ]
        ),
    ),
)
seq("texts: a NUL in a node", post(CORE + "/nodes", node(metadata={"annotations": {"a": NUL}})))
seq(
    "texts: a NUL in a key of a node",
    post(CORE + "/nodes", node()),
    merge(CORE + "/nodes/$ns/status", {"status": {"allocatable": {NUL: "1"}}}),
)


def nested(depth):
    """Fields within fields."""
    return {"f:a": nested(depth - 1)} if depth else {}


seq(
    "texts: managed fields that are nested deep",
    post(
        PODS,
        {
            **pod(),
            "metadata": {
                "name": "a",
                "managedFields": [
                    {
                        "manager": "m",
                        "operation": "Update",
                        "apiVersion": "v1",
                        "fieldsType": "FieldsV1",
                        "fieldsV1": nested(200),
                    }
                ],
            },
        },
    ),
    get(PODS + "/a"),
)
seq(
    "texts: an image whose name is long",
    post(PODS, pod(containers=[{"name": "a", "image": "<" * (1 << 20) + ":1"}])),
)

LONG = ".".join(["x" * 63] * 4)
KEYS = {
    "a key's prefix is": f"{LONG}/x",
    "a key's name is": "x" * 64,
    "a key is": f"{LONG}.x/{'x' * 63}",
}
for what, key in KEYS.items():
    for where, spec in {
        "a selector": {"nodes": {"selector": {"matchLabels": {key: "a"}}}},
        "labels": {"nodes": {"labels": {key: "a"}}},
        "a taint": {"nodes": {"taint": {"key": key}}},
        "a pool": {"pools": [{"name": "a", "nodeSelector": {key: "a"}}]},
    }.items():
        seq(f"texts: {what} too long in {where}", post(POLICIES, policy(spec), dryRun="All"))

for amount in (1e300, 1e18, 1e3, 1.5, 9223372036854775807):
    seq(
        f"texts: the amount {amount}",
        post(POLICIES, policy({"driver": {"resources": {"requests": {"cpu": amount}}}})),
        get(POLICY),
        GONE,
    )
seq(
    "texts: a count with a point",
    post(POLICIES, policy({"rollout": {"maxUnavailable": 3.0, "canary": {"nodes": 3.0}}})),
    get(POLICY),
    GONE,
)
