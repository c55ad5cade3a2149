"""KubeSchedulerConfiguration v1, as far as it says where pods go: a profile for each scheduler name.

What isn't known is refused with the path to the field, and so is what is known and not served here,
with the way to get the same where there is one: nothing is ignored that would change a decision. What
only says how kube-scheduler works inside (parallelism, the share of nodes it scores) is accepted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from tutti.core.plugins import Plugin
from tutti.core.profile import Profile
from tutti.engine.plugin_args import args_of
from tutti.engine.plugin_sets import Plugins, Selected, selected

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
USUAL_NAME: Final = "default-scheduler"


class Misconfigured(ValueError):
    """The sentence names the field."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What of a file bears on decisions; profiles by scheduler name, in the file's order."""

    profiles: Mapping[str, Profile]
    initial_backoff: float = 1.0
    max_backoff: float = 10.0


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    pass


class _PluginConfig(_Strict, frozen=True, kw_only=True):
    name: str
    args: dict[str, Any] = {}


class _Profile(_Strict, frozen=True, kw_only=True):
    scheduler_name: str = USUAL_NAME
    percentage_of_nodes_to_score: int | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[_PluginConfig, ...] = ()


class _LeaderElection(_Strict, frozen=True, kw_only=True):
    leader_elect: bool = True
    lease_duration: str | None = None
    renew_deadline: str | None = None
    retry_period: str | None = None
    resource_lock: str | None = None
    resource_name: str | None = None
    resource_namespace: str | None = None


class _ClientConnection(_Strict, frozen=True, kw_only=True):
    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 0.0
    burst: int = 0


class _File(_Strict, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    parallelism: int = 16
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    profiles: tuple[_Profile, ...] = (_Profile(),)
    extenders: tuple[dict[str, Any], ...] = ()
    leader_election: _LeaderElection = _LeaderElection()
    client_connection: _ClientConnection = _ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False


def read(document: object, plugins: Mapping[str, Plugin] | None = None) -> Configuration:
    """The configuration in a parsed file; `plugins` are those of one's own, by name."""
    try:
        file = msgspec.convert(document, _File)
    except msgspec.ValidationError as error:
        raise Misconfigured(_worded(str(error))) from None
    _check_top(file)
    profiles: dict[str, Profile] = {}
    for index, one in enumerate(file.profiles):
        path = f"profiles[{index}]"
        if not one.scheduler_name:
            raise Misconfigured(f"{path}.schedulerName: Required value")
        if one.scheduler_name in profiles:
            name = f'"{one.scheduler_name}"'
            raise Misconfigured(f"{path}.schedulerName: Duplicate value: {name}")
        profiles[one.scheduler_name] = _profile(path, one, plugins or {})
    return Configuration(
        profiles, float(file.pod_initial_backoff_seconds), float(file.pod_max_backoff_seconds)
    )


def _profile(path: str, one: _Profile, plugins: Mapping[str, Plugin]) -> Profile:
    _check_percentage(f"{path}.percentageOfNodesToScore", one.percentage_of_nodes_to_score or 0)
    try:
        chosen: Selected = selected(one.plugins, f"{path}.plugins", plugins)
        seen: dict[str, dict[str, Any]] = {}
        for index, config in enumerate(one.plugin_config):
            if config.name in seen:
                raise ValueError(f'{path}.pluginConfig[{index}]: Duplicate value: "{config.name}"')
            seen[config.name] = config.args
            known = args_of(config.name, config.args, f"{path}.pluginConfig[{index}].args")
            chosen = known.applied_to(chosen)
    except msgspec.ValidationError as error:
        raise Misconfigured(f"{path}.pluginConfig: {_worded(str(error))}") from None
    except ValueError as error:
        raise Misconfigured(str(error)) from None
    return chosen.profile(one.scheduler_name)


def _check_top(file: _File) -> None:
    if (file.api_version, file.kind) != (API_VERSION, KIND):
        raise Misconfigured(f'no kind "{file.kind}" is known for version "{file.api_version}"')
    if not file.profiles:
        raise Misconfigured("profiles: Required value")
    if file.parallelism <= 0:
        raise Misconfigured("parallelism: should be an integer value greater than zero")
    _check_percentage("percentageOfNodesToScore", file.percentage_of_nodes_to_score)
    if file.pod_initial_backoff_seconds <= 0:
        raise Misconfigured("podInitialBackoffSeconds: must be greater than 0")
    if file.pod_max_backoff_seconds < file.pod_initial_backoff_seconds:
        raise Misconfigured(
            "podMaxBackoffSeconds: must be greater than or equal to PodInitialBackoffSeconds"
        )
    if file.extenders:
        raise Misconfigured(
            "extenders: not supported; a filter or a score can be a plugin (entry point tutti.plugins)"
        )
    if not file.leader_election.leader_elect:
        raise Misconfigured("leaderElection.leaderElect: there is always a Lease; it can't be off")
    if file.leader_election != _LeaderElection():
        raise Misconfigured("leaderElection: say it with --lease-duration instead")
    if file.client_connection.kubeconfig:
        raise Misconfigured("clientConnection.kubeconfig: say it with --kubeconfig instead")


def _check_percentage(path: str, value: int) -> None:
    if not 0 <= value <= 100:
        raise Misconfigured(f"{path}: Invalid value: {value}: not in valid range [0, 100]")


def _worded(sentence: str) -> str:
    """From msgspec's words to ours: the field first."""
    what, _, where = sentence.partition(" - at `$")
    what = what.replace("Object contains unknown field `", 'unknown field "').replace("`", '"')
    return f"{where.rstrip('`').lstrip('.')}: {what}" if where else what
