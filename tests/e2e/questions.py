"""Random clusters and pods in Kubernetes' words, made so that every rule bites now and then.

All is drawn from a seed: the same seed asks the same. Each pod has one wish that its turn gives it,
and some more by chance, so that rules meet alone and together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from random import Random
from typing import Any, Final

from tests.e2e import disks

Json = dict[str, Any]

NAMESPACES: Final = ("east", "west")
NAME: Final = "kubernetes.io/metadata.name"
ODD: Final = "odd"
"""The namespace of pods whose answers differ; a Service there speaks of some of them."""
SERVICE: Final[Json] = {
    "metadata": {"name": "web", "namespace": ODD},
    "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
}
ZONE: Final = disks.ZONE
HOSTNAME: Final = "kubernetes.io/hostname"
GPU: Final = "example.com/gpu"
HUGE: Final = "hugepages-2Mi"
ZONES: Final = ("a", "b", "c")
RACKS: Final = ("r1", "r2", "r3", "r4")
DISKS: Final = ("ssd", "hdd")
GENERATIONS: Final = ("0", "1", "2", "7", "x")
APPS: Final = ("web", "db", "cache")
TIERS: Final = ("front", "back")
IMAGES: Final = {
    "reg.example:5000/web:latest": 900 << 20,
    "db:2": 300 << 20,
    "tool:latest": 60 << 20,
    "untagged": 500 << 20,  # never found: what pods ask for is `untagged:latest`
}
HEAVY: Final = "heavy"
RUNTIME_CLASS: Final[Json] = {
    "metadata": {"name": HEAVY},
    "handler": HEAVY,
    "overhead": {"podFixed": {"cpu": "700m", "memory": "900Mi", GPU: "1"}},
}
SCHEDULERS: Final = ("default-scheduler", "default-scheduler", "packing", "by-ratio", "by-company")
PROFILES: Final[list[Json]] = [
    {"schedulerName": "default-scheduler"},
    {
        "schedulerName": "packing",
        "pluginConfig": [
            {
                "name": "NodeResourcesFit",
                "args": {
                    "scoringStrategy": {
                        "type": "MostAllocated",
                        "resources": [{"name": "cpu", "weight": 3}, {"name": GPU, "weight": 5}],
                    }
                },
            },
            {
                "name": "NodeResourcesBalancedAllocation",
                "args": {"resources": [{"name": n} for n in ("cpu", "memory", GPU)]},
            },
        ],
    },
    {
        "schedulerName": "by-ratio",
        "pluginConfig": [
            {
                "name": "NodeResourcesFit",
                "args": {
                    "scoringStrategy": {
                        "type": "RequestedToCapacityRatio",
                        "resources": [
                            {"name": "memory", "weight": 2},
                            {"name": "ephemeral-storage", "weight": 1},
                        ],
                        "requestedToCapacityRatio": {
                            "shape": [
                                {"utilization": 10, "score": 0},
                                {"utilization": 55, "score": 9},
                                {"utilization": 90, "score": 3},
                            ]
                        },
                    }
                },
            },
            {
                "name": "NodeAffinity",
                "args": {
                    "addedAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
                            ]
                        },
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "weight": 7,
                                "preference": {
                                    "matchExpressions": [
                                        {"key": "disk", "operator": "In", "values": ["ssd"]}
                                    ]
                                },
                            }
                        ],
                    }
                },
            },
        ],
    },
    {
        "schedulerName": "by-company",
        "plugins": {"score": {"disabled": [{"name": "PodTopologySpread"}]}},
        "pluginConfig": [
            {
                "name": "InterPodAffinity",
                "args": {"hardPodAffinityWeight": 30, "ignorePreferredTermsOfExistingPods": True},
            }
        ],
    },
]


@dataclass(frozen=True)
class Running:
    """A pod on a node, with what is said of it there; it may be about to leave."""

    pod: Json
    status: Json
    leaves: bool


@dataclass(frozen=True)
class Cluster:
    """Nodes, pods that run there, and pods that ask for a place."""

    nodes: Sequence[Json]
    running: Sequence[Running]
    asking: Sequence[Json]
    limits: Mapping[str, int] = field(default_factory=dict)
    """How many volumes a node can attach; the others attach as many as asked."""


def cluster(number: int, *, nodes: int, running: int, asking: int) -> Cluster:
    """The cluster of that number. Names of nodes and of pods that ask occur in no other."""
    dice = Random(number)
    names = [f"n{number}-{index}" for index in range(nodes)]
    dice.shuffle(names)
    turn = dice.sample(WISHES, len(WISHES))
    return Cluster(
        nodes=[_node(dice, name) for name in names],
        running=[_running(dice, f"r{number}-{i}", dice.choice(names)) for i in range(running)],
        asking=[
            _asking(dice, f"q{number}-{index}", wish, names)
            for index, wish in enumerate(islice(cycle(turn), asking))
        ],
        limits={name: dice.choice((1, 1, 2)) for name in names if dice.random() < 0.6},
    )


def oddities() -> Cluster:
    """What is known to be answered otherwise, one pod for each."""
    names = [f"odd-{index}" for index in range(4)]
    nodes = [
        {
            "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone}},
            "status": {"allocatable": ROOMY, "capacity": ROOMY},
        }
        for name, zone in zip(names, ("a", "a", "b", "c"), strict=True)
    ]
    web = [_plain(f"web-{index}", {"app": "web"}, nodeName=names[0]) for index in range(3)]
    unreadable = {"key": "generation", "operator": "Gt", "values": ["-1"]}
    likes = [{"weight": 1, "preference": {"matchExpressions": [unreadable]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": likes}}
    return Cluster(
        nodes=nodes,
        running=[Running(pod, {"phase": "Running"}, leaves=False) for pod in web],
        asking=[
            _plain("of-a-service", {"app": "web"}),
            _plain("unreadable-preference", {}, affinity=affinity),
            _plain("waits-for-its-pod", {}, volumes=[_mounting("waiting")]),
        ],
    )


ROOMY: Final = {"cpu": "8", "memory": "16Gi", "pods": "110"}


def _plain(name: str, labels: Mapping[str, str], **more: object) -> Json:
    return {
        "metadata": {"name": name, "namespace": ODD, "labels": labels},
        "spec": {"containers": [_container("main", {"cpu": "100m"})], **more},
    }


def _node(dice: Random, name: str) -> Json:
    labels = {HOSTNAME: name}
    for key, values in ((ZONE, ZONES), ("rack", RACKS), ("disk", DISKS)):
        if dice.random() < 0.85:
            labels[key] = dice.choice(values)
    if dice.random() < 0.7:
        labels["generation"] = dice.choice(GENERATIONS)
    capacity = {
        "cpu": dice.choice(("2", "3500m", "4", "4", "6", "6", "0")),
        "memory": dice.choice(("4Gi", "6Gi", "8000M", "12Gi")),
        "pods": dice.choice(("2", "4", "110", "110", "110")),
    }
    for resource, amounts, chance in (
        ("ephemeral-storage", ("10Gi", "40Gi"), 0.8),
        (GPU, ("2", "4"), 0.5),
        (HUGE, ("256Mi", "1Gi"), 0.4),
    ):
        if dice.random() < chance:
            capacity[resource] = dice.choice(amounts)
    taints = dice.sample(TAINTS, dice.choice((0, 0, 0, 1, 1, 2)))
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": dice.random() < 0.1},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "images": [
                {"names": [image], "sizeBytes": size}
                for image, size in IMAGES.items()
                if dice.random() < 0.4
            ],
            "declaredFeatures": [RESTARTING] if dice.random() < 0.15 else [],
        },
    }


TAINTS: Final = (
    {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
    {"key": "gpu", "value": "no", "effect": "NoExecute"},
    {"key": "old", "effect": "NoExecute"},
    {"key": "slow", "value": "very", "effect": "PreferNoSchedule"},
    {"key": "hot", "effect": "PreferNoSchedule"},
)
RESTARTING: Final = "RestartAllContainersOnContainerExits"


RARE: Final = "-rare"


def with_a_rare_need(pod: Json) -> Json:
    """The same pod, to run only where kubelets declare what few of them do.

    That is asked after all other rules, so of each node it is told what else is wrong with it.
    """
    first, *others = pod["spec"]["containers"]
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    needy = {**first, "restartPolicy": "Never", "restartPolicyRules": [rule]}
    return {
        "metadata": {**pod["metadata"], "name": pod["metadata"]["name"] + RARE},
        "spec": {**pod["spec"], "containers": [needy, *others]},
    }


def _running(dice: Random, name: str, node: str) -> Running:
    """Placed by hand, whatever it asks: nodes may be overfull, and rules broken."""
    pod = _pod(dice, name)
    wishes = dice.sample(HEEDED, dice.choice((0, 0, 1, 1, 2)))
    for wish in sorted(wishes, key=HEEDED.index):
        wish(dice, pod["spec"], (node,))
    pod["spec"]["nodeName"] = node
    chance = dice.random()
    status: Json = {"phase": "Succeeded"} if chance < 0.1 else {"phase": "Running"}
    if chance > 0.8:
        status["containerStatuses"] = [_resized(dice)]
    return Running(pod, status, leaves=dice.random() < 0.15)


def _resized(dice: Random) -> Json:
    """What the kubelet holds for the container isn't what its pod asks for."""
    held = {"cpu": dice.choice(("50m", "1300m")), "memory": dice.choice(("64Mi", "2Gi"))}
    return {
        "name": "main",
        "image": "pause",
        "imageID": "pause",
        "ready": True,
        "restartCount": 0,
        "allocatedResources": held,
        "resources": {"requests": held},
    }


def _asking(dice: Random, name: str, wish: "Wish", nodes: Sequence[str]) -> Json:
    pod = _pod(dice, name)
    spec = pod["spec"]
    spec["schedulerName"] = dice.choice(SCHEDULERS)
    if dice.random() < 0.6:
        spec["tolerations"] = [{"operator": "Exists", "effect": "NoSchedule"}]
    others = [other for other in WISHES if other is not wish]
    wishes = (wish, *dice.sample(others, dice.choice((0, 0, 1, 2, 4))))
    for each in sorted(wishes, key=WISHES.index):
        each(dice, spec, nodes)
    return pod


def _pod(dice: Random, name: str) -> Json:
    labels = {"app": dice.choice(APPS)}
    if dice.random() < 0.6:
        labels["tier"] = dice.choice(TIERS)
    requests = {
        "cpu": dice.choice(("0", "100m", "250m", "0.5", "1")),
        "memory": dice.choice(("0", "128Mi", "300M", "1Gi", "1.5Gi")),
    }
    if dice.random() < 0.2:
        del requests[dice.choice(("cpu", "memory"))]
    return {
        "metadata": {
            "name": name,
            "namespace": dice.choice((*NAMESPACES, NAMESPACES[0])),
            "labels": labels,
        },
        "spec": {"containers": [_container("main", requests)]},
    }


def _container(name: str, requests: Mapping[str, str], **more: object) -> Json:
    limits = {key: value for key, value in requests.items() if key in (GPU, HUGE)}
    return {
        "name": name,
        "image": "pause",
        "resources": {"requests": dict(requests), "limits": limits},
        **more,
    }


def _is_large(dice: Random, spec: Json, _: Sequence[str]) -> None:
    requests = {
        "cpu": dice.choice(("900m", "1900m", "3", "3501m")),
        "memory": dice.choice(("500Mi", "3Gi", "5Gi", "9Gi")),
    }
    if dice.random() < 0.6:
        requests["ephemeral-storage"] = dice.choice(("2Gi", "11Gi", "30Gi"))
    spec["containers"].append(_container("large", requests))


def _takes_devices(dice: Random, spec: Json, _: Sequence[str]) -> None:
    requests = {GPU: dice.choice(("1", "1", "2", "3"))}
    if dice.random() < 0.4:
        requests = {HUGE: dice.choice(("128Mi", "512Mi")), "cpu": "200m"}
    spec["containers"].append(_container("devices", requests))


def _asks_for_nothing(_: Random, spec: Json, __: Sequence[str]) -> None:
    spec["containers"] = [_container("main", {})]


def _starts_in_steps(dice: Random, spec: Json, _: Sequence[str]) -> None:
    steps = [
        _container("first", {"cpu": dice.choice(("1", "2500m")), "memory": "256Mi"}),
        _container("beside", {"cpu": "600m", "memory": "700Mi"}, restartPolicy="Always"),
        _container("then", {"cpu": "300m", "memory": dice.choice(("2Gi", "4Gi"))}),
        _container("watch", {"memory": "800Mi"}, restartPolicy="Always"),
    ]
    dice.shuffle(steps)
    spec["initContainers"] = steps[: dice.randint(1, 4)]


def _has_overhead(_: Random, spec: Json, __: Sequence[str]) -> None:
    spec["runtimeClassName"] = HEAVY


def _asks_as_a_whole(dice: Random, spec: Json, _: Sequence[str]) -> None:
    amounts = {"cpu": dice.choice(("1700m", "3"))}
    if dice.random() < 0.5:
        amounts["memory"] = dice.choice(("2500Mi", "5Gi"))
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        requests = container["resources"]["requests"]
        requests.update((name, least) for name, least in LEAST if name in requests)
    spec["resources"] = {"requests": amounts}


LEAST: Final = (("cpu", "100m"), ("memory", "100Mi"))
"""What containers ask for that must not ask for more than their pod."""


def _selects(dice: Random, spec: Json, _: Sequence[str]) -> None:
    key, values = dice.choice(((ZONE, ZONES), ("disk", DISKS), ("rack", RACKS)))
    spec["nodeSelector"] = {key: dice.choice(values)}


def _requirement(dice: Random, bounds: Sequence[str] = ("0", "1", "5")) -> Json:
    key, values = dice.choice(((ZONE, ZONES), ("disk", DISKS), ("generation", GENERATIONS)))
    operator = dice.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    if key == "generation" and dice.random() < 0.7:
        return {
            "key": key,
            "operator": dice.choice(("Gt", "Lt")),
            "values": [dice.choice(bounds)],
        }
    rule: Json = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        rule["values"] = dice.sample(values, dice.randint(1, 2))
    return rule


def _needs_a_kind_of_node(dice: Random, spec: Json, _: Sequence[str]) -> None:
    _add_node_terms(
        spec,
        [
            {
                "matchExpressions": [
                    # A bound that is no number: the server takes it, and no node meets the term.
                    _requirement(dice, ("0", "1", "5", "many"))
                    for _ in range(dice.choice((1, 1, 2)))
                ]
            }
            for _ in range(dice.choice((1, 1, 2)))
        ],
    )


def _names_nodes(dice: Random, spec: Json, nodes: Sequence[str]) -> None:
    terms = []
    for _ in range(dice.choice((1, 2, 3))):
        operator = dice.choice(("In", "In", "In", "NotIn"))
        named = [{"key": "metadata.name", "operator": operator, "values": [dice.choice(nodes)]}]
        if dice.random() < 0.2:
            named.append({"key": "metadata.name", "operator": "In", "values": [nodes[0]]})
        term: Json = {"matchFields": named}
        if dice.random() < 0.3:
            term["matchExpressions"] = [_requirement(dice)]
        terms.append(term)
    _add_node_terms(spec, terms)


def _add_node_terms(spec: Json, terms: list[Json]) -> None:
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    required = affinity.setdefault(
        "requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": []}
    )
    required["nodeSelectorTerms"] += terms


def _likes_nodes(dice: Random, spec: Json, _: Sequence[str]) -> None:
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
        {
            "weight": dice.randint(1, 100),
            "preference": {"matchExpressions": [_requirement(dice)]},
        }
        for _ in range(dice.randint(1, 3))
    ]


def _tolerates(dice: Random, spec: Json, _: Sequence[str]) -> None:
    choices: list[Json] = [
        {"key": "gpu", "operator": "Equal", "value": "yes"},
        {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "old", "operator": "Exists"},
        {"key": "slow", "value": "very", "effect": "PreferNoSchedule"},
        {"key": "slow", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "hot", "operator": "Exists"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
    ]
    spec["tolerations"] = dice.sample(choices, dice.randint(0, 3))


def _takes_ports(dice: Random, spec: Json, _: Sequence[str]) -> None:
    ports = [
        {
            "hostPort": port,
            "containerPort": port,
            "protocol": dice.choice(("TCP", "TCP", "UDP")),
            **dice.choice(({}, {"hostIP": "10.0.0.1"}, {"hostIP": "0.0.0.0"})),
        }
        for port in dice.sample((80, 81, 82), dice.randint(1, 2))
    ]
    sidecar = dice.random() < 0.3
    where = "initContainers" if sidecar else "containers"
    more = {"restartPolicy": "Always"} if sidecar else {}
    spec.setdefault(where, []).append(_container("ports", {}, ports=ports, **more))


def _selector(dice: Random) -> Json:
    return dice.choice(
        (
            {"matchLabels": {"app": dice.choice(APPS)}},
            {"matchLabels": {"app": dice.choice(APPS)}},
            {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]},
            {
                "matchExpressions": [
                    {"key": "tier", "operator": dice.choice(("Exists", "DoesNotExist"))}
                ]
            },
            {},
        )
    )


def _constraint(dice: Random, key: str, when: str) -> Json:
    constraint: Json = {
        "maxSkew": dice.choice((1, 1, 2)),
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": _selector(dice),
    }
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if dice.random() < 0.4:
            constraint[policy] = dice.choice(("Honor", "Ignore"))
    if dice.random() < 0.25 and "tier" not in str(constraint):
        constraint["matchLabelKeys"] = ["tier"]
    if when == "DoNotSchedule" and dice.random() < 0.3:
        constraint["minDomains"] = dice.choice((2, 4, 5))
    return constraint


def _must_spread(dice: Random, spec: Json, _: Sequence[str]) -> None:
    _spreads(dice, spec, "DoNotSchedule")


def _would_spread(dice: Random, spec: Json, _: Sequence[str]) -> None:
    _spreads(dice, spec, "ScheduleAnyway")


def _spreads(dice: Random, spec: Json, when: str) -> None:
    keys = dice.sample((ZONE, "rack", HOSTNAME), dice.choice((1, 1, 2)))
    spec.setdefault("topologySpreadConstraints", []).extend(
        _constraint(dice, key, when) for key in keys
    )


def _term(dice: Random) -> Json:
    term: Json = {
        "topologyKey": dice.choice((ZONE, "rack", HOSTNAME)),
        "labelSelector": _selector(dice),
    }
    if dice.random() < 0.3:
        term["namespaces"] = dice.sample(NAMESPACES, dice.randint(1, 2))
    if dice.random() < 0.35:
        term["namespaceSelector"] = dice.choice(
            (
                {},
                {"matchLabels": {NAME: dice.choice(NAMESPACES)}},
                {"matchExpressions": [{"key": NAME, "operator": "NotIn", "values": ["west"]}]},
            )
        )
    if dice.random() < 0.2 and "tier" not in str(term):
        term[dice.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["tier"]
    return term


def _must_be_near(dice: Random, spec: Json, _: Sequence[str]) -> None:
    near = spec.setdefault("affinity", {}).setdefault("podAffinity", {})
    near["requiredDuringSchedulingIgnoredDuringExecution"] = [
        _term(dice) for _ in range(dice.choice((1, 1, 2)))
    ]


def _must_be_alone(dice: Random, spec: Json, _: Sequence[str]) -> None:
    away = spec.setdefault("affinity", {}).setdefault("podAntiAffinity", {})
    away["requiredDuringSchedulingIgnoredDuringExecution"] = [
        _term(dice) for _ in range(dice.choice((1, 1, 2)))
    ]


def _has_likes_and_dislikes(dice: Random, spec: Json, _: Sequence[str]) -> None:
    affinity = spec.setdefault("affinity", {})
    for side in dice.choice(
        (("podAffinity",), ("podAntiAffinity",), ("podAffinity", "podAntiAffinity"))
    ):
        affinity.setdefault(side, {})["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": dice.randint(1, 100), "podAffinityTerm": _term(dice)}
            for _ in range(dice.randint(1, 2))
        ]


def _brings_images(dice: Random, spec: Json, _: Sequence[str]) -> None:
    for index, image in enumerate(dice.sample(list(IMAGES), dice.randint(1, 3))):
        spec["containers"].append(
            {**_container(f"image-{index}", {}), "image": image.removesuffix(":latest")}
        )
    if dice.random() < 0.3:
        image = {"reference": dice.choice(list(IMAGES)), "pullPolicy": "IfNotPresent"}
        spec.setdefault("volumes", []).append({"name": "image", "image": image})


def _mounts_claims(dice: Random, spec: Json, _: Sequence[str]) -> None:
    claims = dice.sample(disks.BOUND, dice.choice((1, 1, 2, 3)))
    if dice.random() < 0.15:
        claims[0] = dice.choice((*disks.UNBOUND, "nowhere"))
    spec.setdefault("volumes", []).extend(_mounting(claim) for claim in claims)


def _holds_claims(dice: Random, spec: Json, _: Sequence[str]) -> None:
    """Now and then one that is for a single pod."""
    several = tuple(claim for claim in disks.BOUND if claim != disks.SOLE)
    claims = [disks.SOLE] if dice.random() < 0.1 else dice.sample(several, dice.choice((1, 2)))
    spec.setdefault("volumes", []).extend(_mounting(claim) for claim in claims)


def _mounting(claim: str) -> Json:
    return {"name": claim, "persistentVolumeClaim": {"claimName": claim}}


Wish = Callable[[Random, Json, Sequence[str]], None]

WISHES: Final[tuple[Wish, ...]] = (
    _is_large,
    _takes_devices,
    _asks_for_nothing,
    _starts_in_steps,
    _has_overhead,
    _selects,
    _needs_a_kind_of_node,
    _names_nodes,
    _likes_nodes,
    _tolerates,
    _takes_ports,
    _must_spread,
    _would_spread,
    _must_be_near,
    _must_be_alone,
    _has_likes_and_dislikes,
    _brings_images,
    _mounts_claims,
    _asks_as_a_whole,
)
HEEDED: Final[tuple[Wish, ...]] = (
    _is_large,
    _takes_devices,
    _starts_in_steps,
    _has_overhead,
    _takes_ports,
    _must_be_near,
    _must_be_alone,
    _has_likes_and_dislikes,
    _holds_claims,
    _asks_as_a_whole,
)
"""What others have to heed in a pod that runs."""
