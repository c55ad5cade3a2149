"""Who may do what: the one place that is asked, for every request.

For now whoever has a token may do everything. Rules, when they come, go here.
"""

from tutti.api.errors import Forbidden
from tutti.server.routes import Target
from tutti.web.tokens import User


def authorize(
    user: User, verb: str, resource: str, namespace: str | None, name: str | None
) -> bool:
    """Whether the user may do this. The resource is qualified, `pods` or `podgroups.scheduling.k8s.io`."""
    return True


def check(user: User | None, verb: str, target: Target) -> None:
    """Raises Forbidden in Kubernetes' words where the user may not."""
    if user is None:
        return
    resource = target.storage.key
    if target.subresource is not None:
        resource += f"/{target.subresource}"
    if authorize(user, verb, resource, target.namespace, target.name):
        return
    where = (
        f' in the namespace "{target.namespace}"' if target.namespace else " at the cluster scope"
    )
    raise Forbidden.of(
        target.storage.key,
        target.name or "",
        f'User "{user.name}" cannot {verb} resource "{target.storage.plural}" '
        f'in API group "{target.group}"{where}',
    )
