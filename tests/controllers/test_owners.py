"""Who owns whom, and whose case has to be looked at when something changes."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tutti.api.meta import ObjectMeta, OwnerReference
from tutti.api.registry import CONFIG_MAPS, NODES, Storage
from tutti.controllers.owners import FOREGROUND, Graph, Item

DELETED = datetime(2026, 1, 1, tzinfo=UTC)


def item(
    uid: str,
    *owners: str,
    storage: Storage = CONFIG_MAPS,
    namespace: str = "default",
    deleted: bool = False,
    finalizers: tuple[str, ...] = (),
    blocking: bool = False,
) -> Item:
    return Item(
        storage,
        ObjectMeta(
            name=uid,
            namespace=namespace,
            uid=uid,
            deletion_timestamp=DELETED if deleted else None,
            finalizers=finalizers,
            owner_references=tuple(
                OwnerReference(kind="ConfigMap", name=o, uid=o, block_owner_deletion=blocking)
                for o in owners
            ),
        ),
    )


def test_when_an_owner_goes_its_dependents_are_looked_at():
    graph = Graph()
    graph.seen(item("owner"))
    graph.seen(item("a", "owner"))
    graph.seen(item("b", "owner"))
    assert graph.gone("owner") == {"a", "b"}


def test_dependents_may_be_seen_before_their_owner():
    graph = Graph()
    graph.seen(item("a", "owner"))
    graph.seen(item("owner"))
    assert [dependent.meta.uid for dependent in graph.dependents("owner")] == ["a"]


def test_an_owner_that_waits_is_looked_at_when_a_dependent_goes():
    graph = Graph()
    graph.seen(item("a", "owner", blocking=True))
    news = graph.seen(item("owner", deleted=True, finalizers=(FOREGROUND,)))
    assert news == {"owner", "a"}
    assert [blocker.meta.uid for blocker in graph.blocking("owner")] == ["a"]
    assert graph.gone("a") == {"owner"}
    assert graph.blocking("owner") == []


def test_a_dependent_that_does_not_block_holds_nobody_up():
    graph = Graph()
    graph.seen(item("a", "owner"))
    graph.seen(item("owner", deleted=True, finalizers=(FOREGROUND,)))
    assert graph.blocking("owner") == []


def test_an_owner_is_in_reach_in_its_own_namespace_or_in_the_whole_cluster():
    dependent = item("a", "owner")
    assert item("owner").is_in_reach_of(dependent)
    assert not item("owner", namespace="elsewhere").is_in_reach_of(dependent)
    assert item("owner", storage=NODES, namespace="").is_in_reach_of(dependent)


uids = st.sampled_from("abcdef")


@given(st.lists(st.tuples(uids, st.none() | st.lists(uids, unique=True, max_size=3))))
def test_the_graph_knows_exactly_what_it_was_told(news):
    graph, known = Graph(), {}
    for uid, owners in news:
        if owners is None:
            graph.gone(uid)
            known.pop(uid, None)
        else:
            graph.seen(item(uid, *owners))
            known[uid] = owners
    for uid in "abcdef":
        dependents = [d.meta.uid for d in graph.dependents(uid)]
        assert dependents == sorted(d for d, owners in known.items() if uid in owners)
    assert graph.owned() == {uid for uid, owners in known.items() if owners}
