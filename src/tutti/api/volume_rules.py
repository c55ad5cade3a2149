"""The rules of volumes, claims, storage classes, and of what drivers say about nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tutti.api import names, quantity
from tutti.api.errors import FieldError, duplicate, forbidden, invalid, not_supported, required
from tutti.api.gates import Gates

Json = dict[str, Any]

IMMUTABLE: Final = "field is immutable"

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
_POLICIES: Final = ("Delete", "Recycle", "Retain")
_CLASS_POLICIES: Final = ("Delete", "Retain")
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
_POSITIVE: Final = "must be greater than zero"
_LONGEST_NODE_ID: Final = 256
# What of a volume's spec says which volume it is; the rest says how it is used.
_USE: Final = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)


def volume(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from _access_modes(spec)
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield required("spec.capacity")
    if set(capacity) != {"storage"}:
        yield not_supported("spec.capacity", capacity or None, ("storage",))
    for name, amount in capacity.items():
        yield from _positive(f"spec.capacity[{name}]", amount)
    yield from _one_of(spec, "persistentVolumeReclaimPolicy", _POLICIES)
    source = _source(spec)
    if not source:
        yield required("spec", "must specify a volume type")
    yield from _class_name(spec)
    yield from _one_of(spec, "volumeMode", _VOLUME_MODES)
    if old is not None:
        before = old.get("spec") or {}
        if source != _source(before):
            said = "spec.persistentvolumesource is immutable after creation"
            yield forbidden("spec.persistentvolumesource", said)
        yield from _same("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))


def claim(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    yield from _claim_spec(spec)
    if old is None:
        return
    before = old.get("spec") or {}
    is_bound = (new.get("status") or {}).get("phase") == "Bound"
    if _fixed(spec, before, is_bound=is_bound) != _fixed(before, before, is_bound=is_bound):
        yield forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims",
        )
    yield from _same("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))


def storage_class(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    provisioner = new.get("provisioner") or ""
    if not provisioner:
        yield required("provisioner")
    else:
        for problem in names.qualified_name(provisioner.lower()):
            yield invalid("provisioner", provisioner.lower(), problem)
    for field, known in (
        ("reclaimPolicy", _CLASS_POLICIES),
        ("volumeBindingMode", _BINDING_MODES),
    ):
        if (said := new.get(field)) is not None and said not in known:
            yield not_supported(field, said, known)
    if old is not None:
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            if (new.get(field) or None) != (old.get(field) or None):
                yield invalid(field, None, IMMUTABLE)


def csi_node(new: Json, old: Json | None, gates: Gates) -> Iterator[FieldError]:
    known: set[str] = set()
    for index, driver in enumerate((new.get("spec") or {}).get("drivers") or ()):
        path, name = f"spec.drivers[{index}]", driver.get("name") or ""
        if not name:
            yield required(f"{path}.name")
        node_id = driver.get("nodeID") or ""
        if not node_id:
            yield required(f"{path}.nodeID")
        elif len(node_id) > _LONGEST_NODE_ID:
            said = f"must be {_LONGEST_NODE_ID} characters or less"
            yield invalid(f"{path}.nodeID", node_id, said)
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            yield invalid(f"{path}.allocatable.count", count, "must be greater than or equal to 0")
        if name in known:
            yield duplicate(f"{path}.name", name)
        known.add(name)


def _claim_spec(spec: Json) -> Iterator[FieldError]:
    if not spec.get("accessModes"):
        yield required("spec.accessModes", "at least 1 access mode is required")
    yield from _access_modes(spec)
    amount = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if amount is None:
        yield required("spec.resources[storage]")
    else:
        yield from _positive("spec.resources[storage]", amount)
    yield from _class_name(spec)
    yield from _one_of(spec, "volumeMode", _VOLUME_MODES)


def _access_modes(spec: Json) -> Iterator[FieldError]:
    modes = spec.get("accessModes") or ()
    for mode in modes:
        if mode not in _ACCESS_MODES:
            yield not_supported("spec.accessModes", mode, _ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(
        mode in _ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes
    ):
        yield forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes")


def _class_name(spec: Json) -> Iterator[FieldError]:
    name = spec.get("storageClassName") or ""
    for problem in names.subdomain(name) if name else ():
        yield invalid("spec.storageClassName", name, problem)


def _positive(path: str, amount: str) -> Iterator[FieldError]:
    if quantity.parse(amount) <= 0:
        yield invalid(path, amount, _POSITIVE)


def _one_of(spec: Json, field: str, known: tuple[str, ...]) -> Iterator[FieldError]:
    said = spec.get(field)
    if said is not None and said not in known:
        yield not_supported(f"spec.{field}", said, known)


def _same(path: str, new: Any, old: Any) -> Iterator[FieldError]:
    if (new or None) != (old or None):
        yield invalid(path, new, IMMUTABLE)


def _source(spec: Json) -> Json:
    return {field: value for field, value in spec.items() if field not in _USE}


def _fixed(spec: Json, before: Json, *, is_bound: bool) -> Json:
    """What of a claim may not change: all but the volume's name, once, and the size of a bound one."""
    fixed = {**spec}
    if not before.get("volumeName"):
        fixed.pop("volumeName", None)
    if is_bound:
        fixed.pop("volumeAttributesClassName", None)
        fixed["resources"] = {
            **(spec.get("resources") or {}),
            "requests": (before.get("resources") or {}).get("requests"),
        }
    return fixed
