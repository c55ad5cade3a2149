"""OpenAPI v3 documents, made from the schemas: one per group and version, as a real server has them.

What clients look at is all there: paths with their actions and query options, kinds, types, required
fields, list types and patch keys. Descriptions are absent by design.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tutti.api import registry, shapes
from tutti.api.registry import Storage
from tutti.api.shapes import Field, Leaf, List, Map, Message, Nested, Scalar, Shape

Json = dict[str, Any]

_META: Final = "meta/v1"
_JSON_TYPES: Final[dict[str, Json]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
}
_LEAF_NAMES: Final = {
    "Time": "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    "MicroTime": "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
    "Duration": "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
    "FieldsV1": "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "Quantity": "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "IntOrString": "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "RawExtension": "io.k8s.apimachinery.pkg.runtime.RawExtension",
}
_LEAF_TYPES: Final[dict[str, Json]] = {
    "Time": {"type": "string", "format": "date-time"},
    "MicroTime": {"type": "string", "format": "date-time"},
    "Duration": {"type": "string"},
    "FieldsV1": {"type": "object"},
    "Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "IntOrString": {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"},
    "RawExtension": {"type": "object"},
}
_WRITE: Final = ("dryRun", "fieldManager", "fieldValidation")
_LIST: Final = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
_DELETE: Final = ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
_VERBS: Final[dict[str, tuple[str, tuple[str, tuple[str, ...]]]]] = {
    "create": ("post", ("post", _WRITE)),
    "get": ("get", ("get", ())),
    "update": ("put", ("put", _WRITE)),
    "patch": ("patch", ("patch", (*_WRITE, "force"))),
    "delete": ("delete", ("delete", _DELETE)),
}
"""Verb to method, and to the action and its query options."""
_KINDS_OF_OPTIONS: Final = {
    **dict.fromkeys(("allowWatchBookmarks", "orphanDependents", "sendInitialEvents"), "boolean"),
    **dict.fromkeys(("watch", "force"), "boolean"),
    **dict.fromkeys(("gracePeriodSeconds", "limit", "timeoutSeconds"), "integer"),
}
_PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)


def document(group: str, version: str, storages: Iterable[Storage]) -> Json:
    """The document of a group and version that serves these storages."""
    paths: Json = {}
    roots = [Nested(_META, "Status"), Nested(_META, "DeleteOptions"), Nested(_META, "ListMeta")]
    lists: Json = {}
    for storage in storages:
        kind = Nested(_package(group, version), storage.kind)
        roots.append(kind)
        lists[_name(kind) + "List"] = _list_schema(group, version, storage.kind, kind)
        paths |= _paths(group, version, storage, kind, roots)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": shapes.kubernetes_version()},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted({**_schemas(roots), **lists}.items()))},
    }


def _paths(group: str, version: str, storage: Storage, kind: Nested, roots: list[Nested]) -> Json:
    """Every path of a storage; kinds that only its subresources have are added to `roots`."""
    about = _about(group, version, storage.kind)
    collection = storage.path(version, "{namespace}", group=group)
    one = storage.path(version, "{namespace}", "{name}", group=group)
    paths = {collection: _collection(storage, about, kind), one: _object(storage, about, kind)}
    if storage.namespaced:
        everywhere = _operations({"get": ("list", _LIST)}, storage, about, f"{_name(kind)}List")
        paths[storage.path(version, group=group)] = everywhere
    for name in storage.subresources:
        other = registry.subresource_kind(storage, name)
        body = Nested(_package(other.group, other.version), other.kind) if other else kind
        roots.append(body)
        concerning = _about(other.group, other.version, other.kind) if other else about
        verbs = registry.subresource_verbs(name)
        paths[f"{one}/{name}"] = _subresource(verbs, storage, concerning, body)
    return paths


def _collection(storage: Storage, about: Json, kind: Nested) -> Json:
    actions = {"get": ("list", _LIST), "post": ("post", _WRITE)}
    if "deletecollection" in storage.verbs:
        actions["delete"] = ("deletecollection", (*_DELETE, *_LIST))
    item = _operations(actions, storage, about, _name(kind))
    item["get"] = _operation("list", _LIST, about, f"{_name(kind)}List")
    return item


def _object(storage: Storage, about: Json, kind: Nested) -> Json:
    actions = dict(_VERBS[verb] for verb in ("get", "update", "patch", "delete"))
    return _operations(actions, storage, about, _name(kind), named=True)


def _subresource(verbs: tuple[str, ...], storage: Storage, about: Json, body: Nested) -> Json:
    actions = dict(_VERBS[verb] for verb in verbs)
    return _operations(actions, storage, about, _name(body), named=True)


def _operations(
    actions: dict[str, tuple[str, tuple[str, ...]]],
    storage: Storage,
    about: Json,
    schema: str,
    *,
    named: bool = False,
) -> Json:
    """The actions of one path, with the parts of the path as parameters."""
    parts = [name for name, there in (("name", named), ("namespace", storage.namespaced)) if there]
    item: Json = {
        method: _operation(action, options, about, schema)
        for method, (action, options) in actions.items()
    }
    item["parameters"] = [
        {"name": part, "in": "path", "required": True, "schema": {"type": "string"}}
        for part in parts
    ]
    return item


def _operation(action: str, options: tuple[str, ...], about: Json, schema: str) -> Json:
    answer = {"$ref": f"#/components/schemas/{schema}"}
    operation: Json = {
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": _KINDS_OF_OPTIONS.get(name, "string")}}
            for name in options
        ],
        "responses": {
            "200": {"description": "OK", "content": {"application/json": {"schema": answer}}}
        },
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": about,
    }
    if action == "patch":
        anything = {"schema": {"type": "object"}}
        operation["requestBody"] = {"content": dict.fromkeys(_PATCHES, anything), "required": True}
    elif action in ("post", "put"):
        operation["requestBody"] = {"content": {"*/*": {"schema": answer}}, "required": True}
    return operation


def _about(group: str, version: str, kind: str) -> Json:
    return {"group": group, "version": version, "kind": kind}


# -- schemas ---------------------------------------------------------------------------------------


def _schemas(roots: Iterable[Nested]) -> Json:
    """The schemas of these types and of all that they are made of."""
    schemas: Json = {}
    wanted: list[Shape] = list(roots)
    while wanted:
        match wanted.pop():
            case List(of) | Map(of):
                wanted.append(of)
            case Leaf(kind):
                schemas[_LEAF_NAMES[kind]] = _LEAF_TYPES[kind]
            case Nested() as nested:
                if _name(nested) not in schemas:
                    schemas[_name(nested)] = _schema(nested.message)
                    wanted += [field.shape for field in nested.message.fields.values()]
            case Scalar():
                pass
    return schemas


def _schema(message: Message) -> Json:
    properties = {field.name: _property(field) for field in message.fields.values()}
    schema: Json = {"type": "object"}
    if message.is_object:
        text = {"type": "string"}
        properties = {"apiVersion": text, "kind": text, **properties}
        group, version = _group_version(message.package)
        schema["x-kubernetes-group-version-kind"] = [_about(group, version, message.name)]
    if properties:
        schema["properties"] = dict(sorted(properties.items()))
    if needed := [field.name for field in message.fields.values() if field.required]:
        schema["required"] = needed
    return schema


def _property(field: Field) -> Json:
    described = _described(field.shape)
    facts = {
        "default": field.default,
        "x-kubernetes-list-type": field.list_type,
        "x-kubernetes-list-map-keys": list(field.keys),
        "x-kubernetes-map-type": field.map_type,
        "x-kubernetes-patch-strategy": ",".join(field.patch),
        "x-kubernetes-patch-merge-key": field.merge_key,
    }
    told = {name: value for name, value in facts.items() if value}
    if "$ref" in described:
        described = {"allOf": [described]}
    return {**described, **told}


def _described(shape: Shape) -> Json:
    match shape:
        case Scalar(kind):
            return dict(_JSON_TYPES[kind])
        case Leaf(kind):
            return {"$ref": f"#/components/schemas/{_LEAF_NAMES[kind]}"}
        case Nested():
            return {"$ref": f"#/components/schemas/{_name(shape)}"}
        case List(of):
            return {"type": "array", "items": _described(of)}
        case Map(of):
            return {"type": "object", "additionalProperties": _described(of)}


def _list_schema(group: str, version: str, kind: str, item: Nested) -> Json:
    text = {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "apiVersion": text,
            "items": {"type": "array", "items": _described(item)},
            "kind": text,
            "metadata": {"allOf": [_described(Nested(_META, "ListMeta"))]},
        },
        "required": ["items"],
        "x-kubernetes-group-version-kind": [_about(group, version, f"{kind}List")],
    }


def _name(kind: Nested) -> str:
    if kind.package == _META:
        return f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind.name}"
    return f"io.k8s.api.{kind.package.replace('/', '.')}.{kind.name}"


def _package(group: str, version: str) -> str:
    return f"{group.partition('.')[0] or 'core'}/{version}"


def _group_version(package: str) -> tuple[str, str]:
    folder, _, version = package.partition("/")
    plain = {"core": "", "meta": "", "batch": "batch", "policy": "policy", "apps": "apps"}
    return plain.get(folder, f"{folder}.k8s.io"), version
