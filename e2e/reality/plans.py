"""What goes wrong in which life: rows as the sweeps have them, each with the simulator's case of
the same kind at that write."""

import dataclasses
import json
import signal
import threading

from proxy import ANSWERED, BEFORE, COMMITTED, POINTS, Fault, Lost, status_reply
from reality.simulated import AtNotification, AtWrite

# Writes of the life by what they say: method, path, body.
WRITES = {
    "finalizer": r'/gpuclusterpolicies/default\?.*"finalizers":\["',
    "record": r"^PATCH \S*/controllerrevisions/stack-",
    "mark": r'^PATCH \S*/nodes/noble-1\?.*"add","path":"/metadata/labels/ostler\.dev~1driver"',
    "driver": r"^PATCH \S*/daemonsets/driver-",
    "toolkit": r"^PATCH \S*/daemonsets/toolkit-",
    "exporter": r"^PATCH \S*/daemonsets/exporter",
    "service": r"^PATCH \S*/services/exporter",
    "runtime-class": r"^PATCH \S*/runtimeclasses/nvidia",
    "status": r"^PATCH \S*/gpuclusterpolicies/default/status",
    "other-taint": (
        r'^PATCH \S*/nodes/jammy-1\?.*"add","path":"/spec/taints","value":\[.*"example\.com/gpu"'
    ),
    "exporter-goes": r"^DELETE \S*/daemonsets/exporter",
    "unmark": r'^PATCH \S*/nodes/noble-1\?.*"remove","path":"/metadata/labels/ostler\.dev~1stack"',
    "last-unmark": (
        r'^PATCH \S*/nodes/jammy-1\?.*"remove","path":"/metadata/annotations/ostler\.dev~1marks"'
    ),
    "driver-goes": r"^DELETE \S*/daemonsets/driver-",
    "record-goes": r"^DELETE \S*/controllerrevisions/stack-",
    "finalizer-off": r'/gpuclusterpolicies/default\?.*"finalizers":\[\]',
    "finalizer-off-but-one": r'/gpuclusterpolicies/default\?.*"finalizers":\["foreign[^,]*\]',
}
ANY = ""

STALE_S = 3.0  # how long a view is old; the simulator, where time costs nothing, takes longer
LATE_S = 3.0  # how long a request is on its way after the death of who sent it
OUTAGE_S = 20.0  # longer than the lease lasts


@dataclasses.dataclass(frozen=True)
class Plan:
    """One life with what goes wrong in it."""

    name: str
    about: str
    faults: object  # function of the Life: its Faults
    case: object = None  # of the simulator; None: it has no sweep for this
    elects: bool = False  # with a lease: whoever comes after a crash waits for it
    replicas: int = 1
    loose: bool = False  # how often objects were made may differ from the life without faults
    slow: bool = False  # takes half a minute


REFERENCE = Plan("reference", "nothing goes wrong", lambda life: [])


def _crash(point, write, **more):
    def faults(life):
        return [Fault(point, WRITES[write], 1, lambda exchange, reply: life.kill(exchange))]

    when = {
        BEFORE: "before it reaches the server",
        COMMITTED: "after it was committed, before the answer",
        ANSWERED: "after its answer",
    }
    return Plan(
        f"crash-{point}-{write}",
        f"the process dies {when[point]}",
        faults,
        AtWrite("crash-sweep", len(POINTS), POINTS.index(point), WRITES[write], 1),
        **more,
    )


# How a write or its answer gets lost, in the order of tests/sweep/sweep_crash.c: (name, what,
# point, what happens).
LOSSES = (
    ("dropped", "its answer is lost", COMMITTED, lambda exchange, reply: exchange.drop()),
    (
        "reset",
        "the connection breaks after it was committed",
        COMMITTED,
        lambda exchange, reply: exchange.reset(),
    ),
    (
        "504",
        "it is committed and answered with 504",
        COMMITTED,
        lambda exchange, reply: status_reply(504, "Timeout"),
    ),
    ("half", "half of its answer comes", COMMITTED, lambda exchange, reply: exchange.half(reply)),
    ("lost", "it is lost on its way", BEFORE, lambda exchange, reply: exchange.drop()),
    (
        "500",
        "it is refused with 500",
        BEFORE,
        lambda exchange, reply: status_reply(500, "InternalError"),
    ),
    (
        "409",
        "it is refused with 409",
        BEFORE,
        lambda exchange, reply: status_reply(409, "Conflict"),
    ),
    (
        "429",
        "it is refused with 429",
        BEFORE,
        lambda exchange, reply: status_reply(429, "TooManyRequests"),
    ),
)


def _loss(name, write, **more):
    number = [row[0] for row in LOSSES].index(name)
    _, about, point, act = LOSSES[number]
    return Plan(
        f"{name}-{write}",
        about,
        lambda life: [Fault(point, WRITES[write], 1, act)],
        AtWrite("lost-response-sweep", len(LOSSES), number, WRITES[write], 1),
        **more,
    )


def _late(write):
    """The process dies, another one has done the same, and then the write arrives."""

    def faults(life):
        def act(exchange, _):
            arrive = threading.Event()
            life.later(LATE_S, arrive.set)
            life.sender(exchange).kill()
            exchange.hold(arrive)

        return [Fault(BEFORE, WRITES[write], 1, act)]

    return Plan(
        f"late-{write}",
        "the process dies, and the write arrives when another one has done the same",
        faults,
    )


def _undone(write, undoing):
    """The process dies, another one does the same and later undoes it, and then the first write
    arrives."""

    def faults(life):
        arrive = threading.Event()

        def act(exchange, _):
            life.sender(exchange).kill()
            exchange.hold(arrive)

        return [
            Fault(BEFORE, WRITES[write], 1, act),
            Fault(COMMITTED, WRITES[undoing], 1, lambda exchange, reply: life.later(1, arrive.set)),
        ]

    return Plan(
        f"late-{write}-undone",
        "the process dies, and the write arrives when another one has undone it",
        faults,
        loose=True,
    )


# The order of tests/sweep/sweep_view.c.
STALENESS = ("all", "kind", "travel", "replica")
LATER_MAX = 4


def _stale(write, resource="*"):
    def faults(life):
        def act(exchange, _):
            view = exchange.proxy.view
            view.freeze(resource)
            life.later(STALE_S, view.thaw)

        return [Fault(ANSWERED, WRITES[write], 1, act)]

    how = "all" if resource == "*" else "kind"
    about = (
        "all watches stand still" if resource == "*" else f"the watch of {resource} stands still"
    )
    return Plan(
        f"stale-{how}-{write}",
        f"after it {about} for a while",
        faults,
        AtNotification(
            "stale-sweep",
            LATER_MAX * len(STALENESS),
            STALENESS.index(how),
            WRITES[write],
            1,
            resource,
        ),
        loose=True,
    )


def _past(how, write, later):
    """The process dies at a later write and starts on the state of then; how "travel": and
    watches bring nothing new."""

    def faults(life):
        then = {}

        def remember(_, reply):
            then["version"] = json.loads(reply.body)["metadata"]["resourceVersion"]

        def go_back(exchange, _):
            view = exchange.proxy.view
            view.go_back(then["version"], still=how == "travel")
            life.later(STALE_S + 1, life.return_to_now, view)
            life.kill(exchange)

        first = Fault(COMMITTED, WRITES[write], 1, remember)
        return [first, Fault(ANSWERED, ANY, later, go_back, after=first)]

    about = {
        "travel": (
            "Ostler starts anew on the state of then, and its watches stand still for a while"
        ),
        "replica": "Ostler starts anew, and a replica that is behind answers its lists",
    }[how]
    offset = (later - 1) * len(STALENESS) + STALENESS.index(how)
    return Plan(
        f"stale-{how}-{write}",
        about,
        faults,
        AtNotification("stale-sweep", LATER_MAX * len(STALENESS), offset, WRITES[write], 1),
        loose=True,
    )


def _hidden(write, resource):
    def faults(life):
        def act(exchange, _):
            view = exchange.proxy.view
            view.freeze(resource)
            life.later(STALE_S, view.end, resource, True)

        return [Fault(ANSWERED, WRITES[write], 1, act)]

    about = f"what happens to {resource} after it is never seen: the watch is too old (410)"
    return Plan(
        f"hidden-{resource}-{write}",
        about,
        faults,
        AtNotification("unobserved-sweep", 1, 0, WRITES[write], 1, resource),
    )


def _closed(write):
    def faults(_):
        return [
            Fault(ANSWERED, WRITES[write], 1, lambda exchange, reply: exchange.proxy.view.end())
        ]

    return Plan(f"closed-{write}", "after it the server ends all watches", faults)


def _outage(write):
    def faults(life):
        def act(exchange, _):
            exchange.proxy.leave()
            life.later(OUTAGE_S, exchange.proxy.come_back)
            raise Lost

        return [Fault(BEFORE, WRITES[write], 1, act)]

    return Plan(
        f"outage-{write}",
        f"the API server is away for {OUTAGE_S:.0f} s when it is sent",
        faults,
        AtWrite("outage", 2, 0, WRITES[write], 1),
        elects=True,
        slow=True,
    )


def _paused(seconds, write, offset):
    def faults(life):
        def act(exchange, _):
            sender = life.sender(exchange)
            sender.operator.signal(signal.SIGSTOP)
            life.later(seconds, sender.operator.signal, signal.SIGCONT)

        return [Fault(BEFORE, WRITES[write], 1, act)]

    about = f"the leader stands still for {seconds} s when it sends it, and another one waits"
    return Plan(
        f"paused-{seconds}s-{write}",
        about,
        faults,
        AtWrite("two-leaders", 3, offset, WRITES[write], 1),
        elects=True,
        replicas=2,
        slow=True,
    )


def _foreign(write, node):
    def faults(life):
        return [Fault(BEFORE, WRITES[write], 1, lambda exchange, reply: life.mark("Node", node))]

    about = (
        "another client writes a label, an annotation and a taint between Ostler's read and its"
        " write"
    )
    return Plan(f"foreign-{write}", about, faults)


def _foreign_finalizer():
    def faults(life):
        policy = ("GpuClusterPolicy", "default")
        return [
            Fault(BEFORE, WRITES["finalizer"], 1, lambda exchange, reply: life.mark(*policy)),
            Fault(
                COMMITTED,
                WRITES["finalizer-off-but-one"],
                1,
                lambda exchange, reply: life.later(1, life.let_go, *policy),
            ),
        ]

    return Plan(
        "foreign-finalizer",
        "another client adds a finalizer between Ostler's read and its write",
        faults,
    )


# Long ones first: no world is then left alone with one of them.
PLANS = (
    _outage("driver"),
    _paused(20, "toolkit", 2),
    _loss("dropped", "service", slow=True),
    _loss("lost", "toolkit", slow=True),
    _crash(COMMITTED, "mark", elects=True, slow=True),
    _paused(9, "other-taint", 0),
    _crash(BEFORE, "finalizer"),
    _crash(COMMITTED, "record"),
    _crash(COMMITTED, "finalizer-off"),
    _crash(ANSWERED, "driver"),
    _crash(COMMITTED, "other-taint"),
    _crash(COMMITTED, "unmark"),
    _loss("reset", "mark"),
    _loss("504", "driver"),
    _loss("half", "record"),
    _loss("500", "runtime-class"),
    _loss("409", "other-taint"),
    _loss("429", "status"),
    _loss("504", "driver-goes"),
    _late("mark"),
    _undone("exporter", "exporter-goes"),
    _stale("record"),
    _stale("mark", "pods"),
    _past("travel", "record", 3),
    _past("replica", "unmark", 1),
    _hidden("driver", "daemonsets"),
    _closed("driver"),
    _foreign("mark", "noble-1"),
    _foreign("last-unmark", "jammy-1"),
    _foreign_finalizer(),
)
