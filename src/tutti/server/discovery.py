"""What is served, said in every way that clients ask: group lists, resource lists, aggregated, OpenAPI v3."""

import base64
import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from tutti.api import registry
from tutti.api.registry import Storage
from tutti.server import negotiate
from tutti.server.gates import Gates
from tutti.server.open_api import OpenApi
from tutti.web.app import Request, Response

Object = dict[str, Any]

VERSION = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.0+tutti",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}

_AGGREGATED = (
    b"content-type",
    b"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
)
_NEWEST_FIRST = ("v1", "v1beta1", "v1alpha3")


class Discovery:
    """Answers for one set of gates, made when first asked for."""

    def __init__(self, gates: Gates) -> None:
        self._storages = [one for one in registry.STORAGES if gates.serve(one.key)]
        places = (
            (group, version) for group in ("", *self._groups()) for version in self._versions(group)
        )
        self._open_api = OpenApi(places, self._in)

    def answer(self, request: Request) -> Response | None:
        """The answer to a discovery path; None where the path is none, or not served."""
        accept = (request.header(b"accept") or b"").decode("latin-1")
        aggregated = negotiate.discovery(accept) is not None
        found: Object | None
        match request.path.rstrip("/").split("/")[1:]:
            case ["version"]:
                found = VERSION
            case ["api"]:
                if aggregated:
                    return _json(_discovery_list([self._group_discovery("")]), _AGGREGATED)
                found = _core_versions(request)
            case ["apis"]:
                if aggregated:
                    groups = [self._group_discovery(group) for group in self._groups()]
                    return _json(_discovery_list(groups), _AGGREGATED)
                found = _group_list([self._group(group) for group in self._groups()])
            case ["openapi", *rest]:
                return self._open_api.answer(rest)
            case ["api", version]:
                found = self._resource_list("", version)
            case ["apis", group] if group in self._groups():
                found = {"kind": "APIGroup", "apiVersion": "v1", **self._group(group)}
            case ["apis", group, version]:
                found = self._resource_list(group, version)
            case _:
                found = None
        return None if found is None else _json(found)

    def _groups(self) -> list[str]:
        groups = {group for storage in self._storages for group, _ in storage.served}
        return sorted(groups - {""})

    def _versions(self, group: str) -> list[str]:
        served = {version for one in self._storages for its, version in one.served if its == group}
        return [version for version in _NEWEST_FIRST if version in served]

    def _in(self, group: str, version: str) -> list[Storage]:
        found = [storage for storage in self._storages if (group, version) in storage.served]
        return sorted(found, key=lambda storage: storage.plural)

    def _group(self, group: str) -> Object:
        versions = [
            {"groupVersion": f"{group}/{version}", "version": version}
            for version in self._versions(group)
        ]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _resource_list(self, group: str, version: str) -> Object | None:
        storages = self._in(group, version)
        if not storages:
            return None
        resources = [entry for one in storages for entry in _resource_entries(one)]
        return {
            "kind": "APIResourceList",
            **({"apiVersion": "v1"} if group else {}),
            "groupVersion": registry.api_version(group, version),
            "resources": resources,
        }

    def _group_discovery(self, group: str) -> Object:
        versions = [
            {
                "version": version,
                "resources": [_resource_discovery(one) for one in self._in(group, version)],
                "freshness": "Current",
            }
            for version in self._versions(group)
        ]
        return {"metadata": {"name": group} if group else {}, "versions": versions}


def _core_versions(request: Request) -> Object:
    host = (request.header(b"host") or b"").decode("latin-1")
    address = {"clientCIDR": "0.0.0.0/0", "serverAddress": host}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [address]}


def _group_list(groups: list[Object]) -> Object:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _discovery_list(groups: list[Object]) -> Object:
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": groups,
    }


def _resource_entries(storage: Storage) -> Iterable[Object]:
    """A resource and its subresources, in the list of one version."""
    entry: Object = {
        "name": storage.plural,
        "singularName": storage.singular,
        "namespaced": storage.namespaced,
        "kind": storage.kind,
        "verbs": storage.verbs,
    }
    if storage.short_names:
        entry["shortNames"] = storage.short_names
    if storage.categories:
        entry["categories"] = storage.categories
    entry["storageVersionHash"] = _version_hash(storage)
    yield entry
    for name in storage.subresources:
        special = registry.subresource_kind(storage, name)
        elsewhere = special is not None and special.group != storage.group
        yield {
            "name": f"{storage.plural}/{name}",
            "singularName": "",
            "namespaced": storage.namespaced,
            **(
                {"group": special.group, "version": special.version}
                if special and elsewhere
                else {}
            ),
            "kind": special.kind if special else storage.kind,
            "verbs": registry.subresource_verbs(name),
        }


def _resource_discovery(storage: Storage) -> Object:
    """A resource as aggregated discovery has it."""
    entry: Object = {
        "resource": storage.plural,
        "responseKind": {"group": "", "version": "", "kind": storage.kind},
        "scope": "Namespaced" if storage.namespaced else "Cluster",
        "singularResource": storage.singular,
        "verbs": storage.verbs,
    }
    if storage.short_names:
        entry["shortNames"] = storage.short_names
    if storage.categories:
        entry["categories"] = storage.categories
    if storage.subresources:
        entry["subresources"] = [_subresource(storage, name) for name in storage.subresources]
    return entry


def _subresource(storage: Storage, name: str) -> Object:
    special = registry.subresource_kind(storage, name)
    elsewhere = special is not None and special.group != storage.group
    return {
        "subresource": name,
        "responseKind": {
            "group": special.group if special and elsewhere else "",
            "version": special.version if special and elsewhere else "",
            "kind": special.kind if special else storage.kind,
        },
        "verbs": registry.subresource_verbs(name),
    }


def _version_hash(storage: Storage) -> str:
    """Equal for equal storage: by it clients see whether stored objects are of another form."""
    said = f"{storage.group}/{storage.versions[0]}/{storage.kind}"
    return base64.b64encode(hashlib.sha256(said.encode()).digest()[:8]).decode()


def _json(found: Object, content_type: tuple[bytes, bytes] | None = None) -> Response:
    body = msgspec.json.encode(found)
    return Response(200, body, (content_type,)) if content_type else Response(200, body)
