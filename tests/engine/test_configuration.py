"""KubeSchedulerConfiguration: what a file may say, and what it is told (behaviours 121 to 123)."""

import pytest

from tests.core.support import cluster, node, pod, sized, trial
from tests.engine.stage import Stage
from tests.engine.stage import node as stage_node
from tests.engine.stage import pod as stage_pod
from tutti.api import core_v1 as api
from tutti.core.columns import mask
from tutti.core.decide import plan
from tutti.core.filters import FILTERS, Filter
from tutti.core.groups import Batch, Leaf
from tutti.core.plan import Placed, Refusal
from tutti.core.profile import DEFAULT, Profile
from tutti.core.scores import NodeScore
from tutti.core.scores.resources import MostAllocated, RequestedToCapacityRatio
from tutti.engine.configuration import Misconfigured, read
from tutti.engine.settings import Settings

Document = dict[str, object]


def document(*profiles: Document, **more: object) -> Document:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **({"profiles": list(profiles)} if profiles else {}),
        **more,
    }


def one(**profile: object) -> Profile:
    """The only profile of a file that says this."""
    (made,) = read(document(profile)).profiles.values()
    return made


def args(plugin: str, **said: object) -> Document:
    return {"pluginConfig": [{"name": plugin, "args": said}]}


def weights(profile: Profile) -> dict[str, int]:
    rules = (*profile.node_scores, *profile.load_scores, *profile.relation_scores)
    return {rule.plugin: rule.weight for rule in rules}


def test_121_an_empty_file_means_kube_schedulers_defaults() -> None:
    configuration = read(document())

    (profile,) = configuration.profiles.values()
    assert list(configuration.profiles) == ["default-scheduler"]
    assert (configuration.initial_backoff, configuration.max_backoff) == (1.0, 10.0)
    assert profile.filters == DEFAULT.filters
    assert profile.node_scores == DEFAULT.node_scores
    assert profile.load_scores == DEFAULT.load_scores
    assert profile.relation_scores == DEFAULT.relation_scores
    assert weights(profile) == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "ImageLocality": 1,
        "NodeResourcesFit": 1,
        "NodeResourcesBalancedAllocation": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
    }


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"kind": "Pod"}, 'no kind "Pod" is known'),
        (document(parallelism=0), "parallelism: should be an integer value greater than zero"),
        (document(percentageOfNodesToScore=101), "percentageOfNodesToScore: Invalid value: 101"),
        (document(podInitialBackoffSeconds=0), "podInitialBackoffSeconds: must be greater than 0"),
        (
            document(podInitialBackoffSeconds=5, podMaxBackoffSeconds=4),
            "podMaxBackoffSeconds: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        (document(profiles=[]), "profiles: Required value"),
        (document({}, {}), 'profiles[1].schedulerName: Duplicate value: "default-scheduler"'),
        (document({"schedulerName": ""}), "profiles[0].schedulerName: Required value"),
        (document({"colour": 1}), 'profiles[0]: unknown field "colour"'),
        (document({"schedulerName": 7}), "profiles[0].schedulerName: Expected "),
        (document(extenders=[{"urlPrefix": "http://x"}]), "extenders: not supported; a filter"),
        (document(leaderElection={"leaderElect": False}), "leaderElection.leaderElect"),
        (document(leaderElection={"leaseDuration": "9s"}), "--lease-duration"),
        (document(clientConnection={"kubeconfig": "/x"}), "--kubeconfig"),
        (
            document({"plugins": {"filter": {"enabled": [{"name": "Unheard"}]}}}),
            'profiles[0].plugins.filter.enabled[0].name: no plugin "Unheard" is known',
        ),
        (
            document({"plugins": {"score": {"enabled": [{"name": "ImageLocality"}] * 2}}}),
            'profiles[0].plugins.score.enabled[1]: plugin "ImageLocality" is enabled twice',
        ),
        (
            document({"plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}}),
            "NodeResourcesFit can't be disabled: no plan may overfill a node",
        ),
        (
            document({"plugins": {"permit": {"disabled": [{"name": "*"}]}}}),
            "profiles[0].plugins.permit.disabled: not supported",
        ),
        (document(args("NodeResourcesFit", ignoredResources=["a/b"])), "ignoredResources: not"),
        (
            document(args("NodeResourcesFit", scoringStrategy={"type": "Odd"})),
            'profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: "Odd"',
        ),
        (
            document(
                args(
                    "NodeResourcesFit",
                    scoringStrategy={"resources": [{"name": "cpu", "weight": 0}]},
                )
            ),
            "resource weight of cpu not in valid range (0, 100]",
        ),
        (
            document(
                args("NodeResourcesFit", scoringStrategy={"type": "RequestedToCapacityRatio"})
            ),
            "requestedToCapacityRatio: Required value",
        ),
        (document(args("InterPodAffinity", hardPodAffinityWeight=101)), "hardPodAffinityWeight"),
        (
            document(
                args("NodeResourcesBalancedAllocation", resources=[{"name": "cpu", "weight": 2}])
            ),
            "resources[0].weight: must be 1",
        ),
        (document(args("PodTopologySpread", defaultConstraints=[{}])), "defaultConstraints: not"),
        (document(args("NodeName")), 'no arguments are known for plugin "NodeName"'),
        (
            document({"pluginConfig": [{"name": "VolumeBinding"}] * 2}),
            'profiles[0].pluginConfig[1]: Duplicate value: "VolumeBinding"',
        ),
    ],
)
def test_121_what_is_wrong_is_named(said: Document, sentence: str) -> None:
    with pytest.raises(Misconfigured) as told:
        read(said)

    assert sentence in str(told.value)


def test_122_weights_are_overridden_and_plugins_disabled() -> None:
    profile = one(
        plugins={
            "multiPoint": {
                "enabled": [{"name": "ImageLocality", "weight": 9}],
                "disabled": [{"name": "InterPodAffinity"}],
            },
            "score": {
                "enabled": [{"name": "NodeAffinity", "weight": 7}],
                "disabled": [{"name": "NodeAffinity"}, {"name": "PodTopologySpread"}],
            },
        }
    )

    assert weights(profile) == {
        "TaintToleration": 3,
        "NodeAffinity": 7,
        "ImageLocality": 9,
        "NodeResourcesFit": 1,
        "NodeResourcesBalancedAllocation": 1,
    }
    assert [rule.plugin for rule in profile.relation_filters] == ["PodTopologySpread"] * 2
    assert profile.filters == FILTERS


def test_122_a_star_disables_all_but_what_is_enabled() -> None:
    profile = one(
        plugins={
            "multiPoint": {"disabled": [{"name": "*"}]},
            "filter": {"enabled": [{"name": "NodePorts"}, {"name": "NodeResourcesFit"}]},
            "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 4}]},
        }
    )

    assert weights(profile) == {"NodeResourcesFit": 4}
    assert profile.filters == ()


def test_122_strategies_and_their_shapes() -> None:
    most = one(**args("NodeResourcesFit", scoringStrategy={"type": "MostAllocated"}))
    ratio = one(
        **args(
            "NodeResourcesFit",
            scoringStrategy={
                "type": "RequestedToCapacityRatio",
                "resources": [{"name": "nvidia.com/gpu", "weight": 3}],
                "requestedToCapacityRatio": {
                    "shape": [
                        {"utilization": 0, "score": 0},
                        {"utilization": 100, "score": 10},
                    ]
                },
            },
        )
    )

    assert most.load_scores[0].score == MostAllocated()
    assert ratio.load_scores[0].score == RequestedToCapacityRatio(
        ((0, 0), (100, 100)), (("nvidia.com/gpu", 3),)
    )


def test_111_added_affinity_holds_for_every_pod_and_before_its_own() -> None:
    here = cluster(node("a", labels={"pool": "batch"}), node("b"))
    required = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["web"]}]}
        ]
    }
    profile = one(
        **args(
            "NodeAffinity",
            addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": required},
        )
    )
    root = Leaf(
        "pod", (Batch(here.class_of(pod(node_selector={"pool": "gpu"})), ("uid",)),), quorum=1
    )

    decided = plan(trial(here, profile=profile), root)

    assert isinstance(decided, Refusal)
    assert decided.message == (
        "0/2 nodes are available: 2 node(s) didn't match scheduler-enforced node affinity."
    )


def test_123_two_profiles_decide_side_by_side_and_see_each_others_takes() -> None:
    here = cluster(node("a", "4"), node("b", "4"))
    profiles = read(
        document(
            {"schedulerName": "spreading"},
            {
                "schedulerName": "packing",
                **args("NodeResourcesFit", scoringStrategy={"type": "MostAllocated"}),
                "plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}},
            },
        )
    ).profiles
    turn = trial(here)

    def lone(number: int, name: str) -> str:
        root = Leaf("pod", (Batch(here.class_of(sized("1")), (str(number),)),), quorum=1)
        decided = plan(turn, root, profiles[name])
        assert isinstance(decided, Placed)
        return decided.bindings[0][1]

    first = lone(0, "packing")
    assert lone(1, "packing") == first
    assert lone(2, "spreading") != first
    assert lone(3, "packing") == first


def test_a_plugin_of_ones_own_is_switched_on_by_name() -> None:
    here = cluster(*(node(name, labels={"age": str(len(name))}) for name in ("a", "bb", "ccc")))
    own = {
        "NotTheOldest": Filter(
            "NotTheOldest",
            "node(s) were the oldest",
            lambda nodes, _: nodes.present & ~_is(nodes, "3"),  # type: ignore[no-untyped-call]
        ),
        "PreferOld": NodeScore("PreferOld", 1, lambda nodes, _: _is(nodes, "2") * 5),
    }
    said = document(
        {
            "plugins": {
                "filter": {"enabled": [{"name": "NotTheOldest"}]},
                "score": {"enabled": [{"name": "PreferOld", "weight": 50}]},
            }
        }
    )

    (profile,) = read(said, own).profiles.values()

    root = Leaf("pods", (Batch(here.class_of(pod()), ("x", "y")),), quorum=2)
    decided = plan(trial(here, profile=profile), root)
    assert isinstance(decided, Placed)
    assert {name for _, name in decided.bindings} == {"bb"}


def _is(nodes, value):  # type: ignore[no-untyped-def]
    label = nodes.labels.get("age")
    return (
        mask(len(nodes)) if label is None else label.codes == label.code_of.get(value, len(nodes))
    )


def test_123_pods_are_routed_to_the_profile_of_their_scheduler_name() -> None:
    profiles = read(
        document(
            {"schedulerName": "tutti"},
            {
                "schedulerName": "bold",
                "plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}},
            },
        )
    ).profiles
    stage = Stage(settings=Settings(scheduler_names=tuple(profiles), profiles=profiles))
    taint = api.Taint(key="gpu", effect="NoSchedule")
    stage.add(stage_node("n0", taints=[taint]))
    stage.add(*(stage_pod(name, scheduler=name) for name in ("tutti", "bold", "nobody")))

    stage.play()

    assert [name for name, one in stage.pods.items() if one.spec.node_name] == ["pod-bold"]
