"""Pretend kubelets run the pods of pretend nodes, and touch no others."""

from tests.controllers.space import Space, pod_on
from tutti.api.core_v1 import Pod
from tutti.api.registry import NODES, PODS
from tutti.pretend import kubelet


def running(*names: str):
    def so(there: dict[str, Pod]) -> bool:
        return all(name in there and there[name].status.phase == "Running" for name in names)

    return so


async def test_a_bound_pod_runs_with_an_address_of_its_own(space: Space):
    await space.create(PODS, "a", pod_on("node-0"))
    await space.create(PODS, "b", pod_on("node-1"))
    pods = await space.until(PODS, Pod, running("a", "b"))
    assert pods["a"].status.pod_ip != pods["b"].status.pod_ip
    assert pods["a"].status.host_ip.startswith("172.16.")
    assert {c.type: c.status for c in pods["a"].status.conditions}["Ready"] == "True"


async def test_pods_of_nodes_that_are_not_pretended_are_left_alone(space: Space):
    foreign = f"foreign-{space.name[-6:]}"
    await space.client.create(NODES, {"metadata": {"name": foreign}})
    await space.create(PODS, "foreign", pod_on(foreign))
    await space.create(PODS, "ours", pod_on("node-0"))
    pods = await space.until(PODS, Pod, running("ours"))
    assert pods["foreign"].status.phase == "Pending"


async def test_a_pod_that_waited_for_its_node_runs_when_that_is_there(space: Space):
    late = f"late-{space.name[-6:]}"
    await space.create(PODS, "early", pod_on(late))
    labels = {"tutti.dev/pretend": "true"}
    await space.client.create(NODES, {"metadata": {"name": late, "labels": labels}})
    await space.until(PODS, Pod, running("early"))


async def test_pods_are_lost_with_their_node(space: Space):
    doomed = f"doomed-{space.name[-6:]}"
    labels = {"tutti.dev/pretend": "true"}
    await space.client.create(NODES, {"metadata": {"name": doomed, "labels": labels}})
    await space.create(PODS, "lost", pod_on(doomed))
    await space.create(PODS, "kept", pod_on("node-0"))
    await space.until(PODS, Pod, running("lost", "kept"))
    await space.client.delete(NODES, None, doomed)
    await space.until_left(PODS, "kept")


async def test_a_deleted_pod_ends_and_goes(space: Space):
    await space.create(PODS, "a", pod_on("node-0"))
    await space.until(PODS, Pod, running("a"))
    await space.delete(PODS, "a")
    await space.until_left(PODS)


async def test_a_pod_may_take_its_time_to_end(space: Space):
    content = pod_on("node-0", annotations={kubelet.STOPS_AFTER: "2"})
    await space.create(PODS, "slow", content)
    await space.create(PODS, "quick", pod_on("node-0"))
    await space.until(PODS, Pod, running("slow", "quick"))
    await space.delete(PODS, "slow")
    await space.delete(PODS, "quick")
    await space.until_left(PODS, "slow")
    await space.until_left(PODS)
