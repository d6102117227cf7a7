"""The chart's ValidatingAdmissionPolicies, as a test asks them and does without them."""

import contextlib
import time

import kube


def answer(client, obj, namespace=None):
    """The status and the sentence with which the API server would answer the making of an
    object."""
    status, text = client.raw(
        "POST", kube.path_of(obj["kind"], None, namespace), obj, query={"dryRun": "All"}
    )
    return status, text.decode()


def wait_in_force(client):
    """Returns when the API server goes by all admission policies as they are now: it takes up
    what is written in its turn, up to some seconds late. So one that is written last, and
    takes nothing but a name of its own, is waited for.
    """
    name = f"in-force-{time.time_ns()}"
    group = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    client.create(
        {
            **group,
            "kind": "ValidatingAdmissionPolicy",
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["configmaps"],
                        }
                    ]
                },
                "validations": [
                    {"expression": f"object.metadata.name != '{name}'", "message": f"{name} it is"}
                ],
            },
        }
    )
    client.create(
        {
            **group,
            "kind": "ValidatingAdmissionPolicyBinding",
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        }
    )
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    try:
        kube.wait_for(
            lambda: f"{name} it is" in answer(client, probe, "default")[1],
            20,
            "admission policies are in force",
        )
    finally:
        for kind in ("ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"):
            client.delete(kind, name)


@contextlib.contextmanager
def images_unguarded(env):
    """Lets policies name any image, for as long as the block runs: what Ostler itself makes of
    them."""
    name = "ostler-images"
    binding = env.k.get("ValidatingAdmissionPolicyBinding", name)
    env.k.delete("ValidatingAdmissionPolicyBinding", name)
    wait_in_force(env.k)
    try:
        yield
    finally:
        env.k.create(
            {**binding, "metadata": {"name": name, "labels": binding["metadata"]["labels"]}}
        )
        wait_in_force(env.k)
