"""Every kind of object that a server keeps, as it says itself: what collects and empties goes by this."""

from tutti.api.registry import Storage
from tutti.kube.client import Client

NEEDED = frozenset({"delete", "get", "list", "patch", "watch"})


class Catalogue:
    """The kinds that can be listed, watched, patched and deleted, each in one version."""

    def __init__(self, storages: tuple[Storage, ...] = ()) -> None:
        self.storages = storages
        self._by_kind = {(storage.group, storage.kind): storage for storage in storages}

    def of_kind(self, group: str, kind: str) -> Storage | None:
        return self._by_kind.get((group, kind))


async def read(client: Client) -> Catalogue:
    """What is served now; an API that doesn't answer is an error, so that nothing is taken for absent."""
    found: dict[tuple[str, str], Storage] = {}
    for resource in (await client.discover()).resources:
        if NEEDED.issubset(resource.verbs) and "/" not in resource.plural:
            storage = Storage(
                group=resource.group,
                versions=(resource.version,),
                kind=resource.kind,
                plural=resource.plural,
                singular=resource.kind.lower(),
                namespaced=resource.namespaced,
                verbs=resource.verbs,
            )
            found.setdefault((resource.group, resource.plural), storage)
    return Catalogue(tuple(found.values()))
