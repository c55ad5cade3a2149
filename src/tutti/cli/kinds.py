"""What a person means by `pods`, `po`, `podgroup` or `pod/train-0`: the kinds that we know, then those the server names."""

from collections.abc import Sequence
from typing import NamedTuple

from tutti.api import registry
from tutti.api.registry import Storage
from tutti.cli.output import Trouble
from tutti.kube.client import Client


class Wanted(NamedTuple):
    """Objects of one kind: those of these names, or all."""

    storage: Storage
    names: tuple[str, ...]


async def named(client: Client, text: str) -> Storage:
    """The kind that goes by this name, plural, singular or short, with its group or without."""
    if storage := registry.named(text):
        return storage
    from tutti.controllers import catalogue

    name, _, group = text.lower().partition(".")
    for storage in (await catalogue.read(client)).storages:
        names = (storage.plural, storage.singular, storage.kind.lower())
        if name in names and group in ("", storage.group):
            return storage
    raise Trouble(f'the server doesn\'t have a resource type "{text}"')


async def objects(client: Client, words: Sequence[str]) -> list[Wanted]:
    """`KIND[,KIND] [NAME…]` or `KIND/NAME…`, as kubectl reads them."""
    if any("/" in word for word in words):
        pairs = [word.partition("/") for word in words]
        if any(not (kind and slash and name) for kind, slash, name in pairs):
            raise Trouble("say either KIND NAME… or KIND/NAME…, not both")
        return [Wanted(await named(client, kind), (name,)) for kind, _, name in pairs]
    kinds, *names = words
    if names and "," in kinds:
        raise Trouble("names go with one kind only")
    return [Wanted(await named(client, kind), tuple(names)) for kind in kinds.split(",")]


async def the_object(client: Client, text: str) -> tuple[Storage, str]:
    """`KIND/NAME`."""
    kind, slash, name = text.partition("/")
    if not (kind and slash and name):
        raise Trouble(f"{text!r} names no object: say KIND/NAME, like podgroup/train-0")
    return await named(client, kind), name
