"""What a namespace that can't go yet says about itself."""

from tests.controllers.space import Space, pod_on
from tutti.api.core_v1 import Namespace
from tutti.api.meta import ObjectMeta
from tutti.api.registry import CONFIG_MAPS, NAMESPACES, POD_GROUPS, PODS
from tutti.controllers.namespaces import conditions
from tutti.controllers.owners import Anything


def thing(*finalizers: str) -> Anything:
    return Anything(metadata=ObjectMeta(finalizers=finalizers))


def test_what_remains_is_named_in_kubernetes_words():
    said = conditions({POD_GROUPS: [thing("a/b"), thing("a/b")], CONFIG_MAPS: [thing()]})
    assert said["NamespaceContentRemaining"].message == (
        "Some resources are remaining: configmaps. has 1 resource instances, "
        "podgroups.scheduling.k8s.io has 2 resource instances"
    )
    assert said["NamespaceFinalizersRemaining"].message == (
        "Some content in the namespace has finalizers remaining: a/b in 2 resource instances"
    )


def test_where_no_finalizer_holds_anything_up_that_is_said_too():
    said = conditions({CONFIG_MAPS: [thing()]})["NamespaceFinalizersRemaining"]
    assert (said.status, said.reason) == ("False", "ContentHasNoFinalizers")


async def gone(space: Space) -> None:
    await space.until(NAMESPACES, Namespace, lambda there: space.name not in there)


async def test_a_deleted_namespace_is_emptied_and_goes(space: Space):
    await space.create(CONFIG_MAPS, "a")
    gang = {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}
    await space.create(POD_GROUPS, "train", gang)
    await space.create(PODS, "p", pod_on("node-0", group="train"))
    await space.client.delete(NAMESPACES, None, space.name)
    await gone(space)


async def test_a_namespace_waits_for_what_holds_on_and_says_what(space: Space):
    await space.create(CONFIG_MAPS, "held", {"metadata": {"finalizers": ["example.com/wait"]}})
    await space.client.delete(NAMESPACES, None, space.name)

    def says_what(there: dict[str, Namespace]) -> bool:
        said = {c.type: c.message for c in there[space.name].status.conditions}
        return "example.com/wait in 1 " in said.get("NamespaceFinalizersRemaining", "")

    await space.until(NAMESPACES, Namespace, says_what)
    await space.client.patch(CONFIG_MAPS, space.name, "held", {"metadata": {"finalizers": None}})
    await gone(space)
