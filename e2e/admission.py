"""The chart's ValidatingAdmissionPolicies, as a test asks them and does without them."""

import contextlib

import kube


def answer(client, obj, namespace=None):
    """The status and the sentence with which the API server would answer the making of an object."""
    status, text = client.raw("POST", kube.path_of(obj["kind"], None, namespace), obj, query={"dryRun": "All"})
    return status, text.decode()


def _refuses_images(client):
    wrong = kube.policy({"driver": {"repository": "registry.example.com/wrong"}})
    return "allowed prefix" in answer(client, wrong)[1]


@contextlib.contextmanager
def images_unguarded(env):
    """Lets policies name any image, for as long as the block runs: what Ostler itself makes of them."""
    name = "ostler-images"
    binding = env.k.get("ValidatingAdmissionPolicyBinding", name)
    env.k.delete("ValidatingAdmissionPolicyBinding", name)
    env.wait_until(lambda: not _refuses_images(env.k), 10, "policies may name any image")
    try:
        yield
    finally:
        metadata = {"name": name, "labels": binding["metadata"]["labels"]}
        env.k.create({**binding, "metadata": metadata})
        env.wait_until(lambda: _refuses_images(env.k), 10, "policies may not name any image")
