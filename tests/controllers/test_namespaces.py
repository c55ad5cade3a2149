"""What a namespace that can't go yet says about itself."""

from tutti.api.meta import ObjectMeta
from tutti.api.registry import CONFIG_MAPS, POD_GROUPS
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
