"""What every cluster has from its first start: its namespaces and the system priority classes."""

from typing import Any

from tutti.api import registry
from tutti.server import creating
from tutti.server.context import Context
from tutti.server.routes import Target

Object = dict[str, Any]

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_CLASSES = (
    (
        "system-node-critical",
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
)


async def plant(context: Context) -> None:
    """Let the view see what is there, and make what is missing."""
    for key in context.view.resources:
        page = await context.objects.store.list(key, "")
        for row in page.rows:
            context.view.saw(key, row.name, row.value)
    for name in _NAMESPACES:
        await _make(context, Target(registry.NAMESPACES, "", "v1"), {"metadata": {"name": name}})
    for name, value, description in _CLASSES:
        found = {"metadata": {"name": name}, "value": value, "description": description}
        place = Target(registry.PRIORITY_CLASSES, "scheduling.k8s.io", "v1")
        await _make(context, place, found)


async def _make(context: Context, place: Target, new: Object) -> None:
    if await context.objects.find(place.named(new["metadata"]["name"])) is None:
        await creating.made(context, place, new, dry_run=False)
