"""The end of a phase as lines that can be compared: what there is, without what differs from
life to life and means nothing."""

import re

from names import OPERANDS

KINDS = (
    ("Node", None),
    ("GpuClusterPolicy", None),
    ("DaemonSet", OPERANDS),
    ("ControllerRevision", OPERANDS),
    ("Service", OPERANDS),
    ("Pod", OPERANDS),
    ("RuntimeClass", None),
)
# Resources that Ostler makes: how often must not depend on faults.
MADE = ("daemonsets", "controllerrevisions", "services", "runtimeclasses")

# The same table as tests/sweep/oracle.c has, for what a real control plane and KWOK say. An index
# is [].
SKIPPED = re.compile(
    "|".join(
        f"({kind}) ({path})"
        for kind, path in (
            (r"\w+", r"metadata\.(resourceVersion|creationTimestamp|uid)"),
            (r"\w+", r"metadata\.managedFields\[\]\.time"),
            (
                r"\w+",
                r"metadata\.annotations\.ostler\.dev/intent",
            ),  # a hash over times and uids too
            ("Pod", r"metadata\.(name|generateName)"),
            ("Pod", r"metadata\.generation"),
            ("Pod", r"metadata\.labels\.pod-template-generation"),
            ("Pod", r"spec\.volumes.*"),  # with the name of the account's token
            ("Pod", r"spec\.containers\[\]\.volumeMounts.*"),
            ("Pod", r"status\.observedGeneration|status\.conditions\[\]\.observedGeneration"),
            ("Service", r"spec\.clusterIPs?(\[\])?"),
            # Edits that come soon after one another may be taken as one.
            ("DaemonSet", r"metadata\.generation|status\.observedGeneration"),
            ("DaemonSet", r"metadata\.annotations\.deprecated\.daemonset\.template\.generation"),
            ("GpuClusterPolicy", r"status\.firstCauses\[\]\.pod"),
        )
    )
)
# What a plan lets others write bears this in its name, and is looked at apart.
FOREIGN = "foreign.example.com/"
COUNT = "count of "
STRANGER = "(uid of something else)"
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _controller(obj):
    return next(
        (o for o in obj["metadata"].get("ownerReferences", []) if o.get("controller")), None
    )


def _key(obj):
    meta = obj["metadata"]
    owner = _controller(obj)
    if obj["kind"] == "Pod" and owner:
        return f"Pod {owner['name']}@{obj['spec'].get('nodeName', '')}"
    return f"{obj['kind']} {meta['name']}"


def _own_fields(obj):
    """Of the owners of fields only Ostler is of interest: who of the others came first is
    chance."""
    meta = obj["metadata"]
    fields = [f for f in meta.get("managedFields", []) if f["manager"] == "ostler"]
    return {**obj, "metadata": {**meta, "managedFields": fields}}


class _Walk:
    """The lines of one object. Lists are compared without their order."""

    def __init__(self, kind, identities):
        self._kind = kind
        self._identities = identities
        self.lines = []

    def walk(self, value, path=""):
        """Adds the lines of a value."""
        if SKIPPED.fullmatch(f"{self._kind} {path}"):
            return
        if isinstance(value, dict):
            for key, member in value.items():
                self.walk(member, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for element in value:
                self.walk(element, path + "[]")
        else:
            self.lines.append(f"{path} = {self._said(value)}")

    def _said(self, value):
        if not isinstance(value, str):
            return str(value)
        if TIME.fullmatch(value):
            return "(time)"
        return UID.sub(lambda m: self._identities.get(m[0], STRANGER), value)


def _is_compared(obj):
    """The DaemonSet controller keeps its own history, in which edits that were taken as one are
    one."""
    return obj["kind"] != "ControllerRevision" or not _controller(obj)


def _split(obj):
    """(the object without what others wrote on it, the set of what they wrote)."""
    meta, spec, foreign = dict(obj["metadata"]), dict(obj.get("spec", {})), set()
    for holder, field in (
        (meta, "labels"),
        (meta, "annotations"),
        (meta, "finalizers"),
        (spec, "taints"),
    ):
        marks = holder.get(field, [])
        names = [m["key"] if isinstance(m, dict) else m for m in marks]
        foreign |= {f"{field} {n}" for n in names if n.startswith(FOREIGN)}
        if isinstance(marks, dict):
            holder[field] = {n: v for n, v in marks.items() if not n.startswith(FOREIGN)}
        else:
            holder[field] = [m for n, m in zip(names, marks) if not n.startswith(FOREIGN)]
    return {**obj, "metadata": meta, "spec": spec}, foreign


def snapshot(client):
    """({object: its lines}, {object: what others wrote on it})."""
    objects = []
    for kind, namespace in KINDS:
        objects += [{**o, "kind": kind} for o in client.list(kind, namespace)]
    identities = {o["metadata"]["uid"]: f"(uid of {_key(o)})" for o in objects}
    found, foreign = {}, {}
    for obj in filter(_is_compared, objects):
        key = _key(obj)
        bare, foreign[key] = _split(obj)
        walk = _Walk(obj["kind"], identities)
        walk.walk(_own_fields(bare))
        found[key] = sorted(
            found.get(key, []) + walk.lines
        )  # a second pod on a node is more of the same
    return found, foreign


def is_at_rest(found):
    """Whether nothing of a snapshot is on its way out: being deleted, or owned by something that
    is gone."""
    leaving = ("metadata.deletionTimestamp", f"metadata.ownerReferences[].uid = {STRANGER}")
    return not any(line.startswith(leaving) for lines in found.values() for line in lines)


def counts(audit, user, since):
    """{"count of creations of daemonsets driver-x": ["1"], …}: what Ostler made and took away,
    by the audit log."""
    found = {}
    for request in audit.requests(
        user=user, since=since, writes=True, where=lambda r: r.resource in MADE
    ):
        if request.code == 201 or (request.verb == "delete" and request.code == 200):
            key = (
                f"{COUNT}{'creations' if request.code == 201 else 'deletions'} of"
                f" {request.resource} {request.name}"
            )
            found[key] = [str(int(found.get(key, ["0"])[0]) + 1)]
    return found


def without_counts(found):
    """The same end, however often things were made on the way."""
    return {key: lines for key, lines in found.items() if not key.startswith(COUNT)}


def differences(wanted, got):
    """What the one has and the other has not, as lines to print."""
    lines = []
    for key in sorted(wanted.keys() | got.keys()):
        if wanted.get(key) == got.get(key):
            continue
        missing = "not there" if key not in got else "different"
        lines.append(f"  {key} is {'there only here' if key not in wanted else missing}")
        if key in wanted and key in got:
            lines += [
                f"    without faults  {line}" for line in sorted(set(wanted[key]) - set(got[key]))
            ]
            lines += [
                f"    here            {line}" for line in sorted(set(got[key]) - set(wanted[key]))
            ]
    return lines
