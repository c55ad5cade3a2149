"""Which objects a list or watch is about: label and field selectors, asked of stored bytes."""

from dataclasses import dataclass

from tutti.api import selectors, versions
from tutti.api.errors import BadRequest
from tutti.api.selectors import FieldSelector, LabelSelector
from tutti.server import selectable
from tutti.server.options import Listing
from tutti.server.routes import Target


@dataclass(frozen=True, slots=True)
class Selection:
    """What both selectors of a request ask for."""

    key: str
    labels: LabelSelector
    fields: FieldSelector

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.labels.everything and self.fields.everything

    @property
    def name(self) -> str | None:
        """The one name that can match, where the selector says so."""
        return self.fields.pinned("metadata.name")

    def matches(self, value: bytes | None) -> bool:
        """Whether a stored object is among those selected; what isn't there is not."""
        if value is None:
            return False
        if self.everything:
            return True
        labels, fields = selectable.attributes(self.key, value)
        return self.labels.matches(labels) and self.fields.matches(fields)


def of(target: Target, options: Listing) -> Selection:
    """The selection of a request; BadRequest where a field can't be selected by."""
    try:
        labels = selectors.parse_labels(options.labels)
        fields = selectors.parse_fields(options.fields)
    except ValueError as error:
        raise BadRequest(str(error)) from error
    terms = tuple((_known(target, field), value, wanted) for field, value, wanted in fields.terms)
    return Selection(target.storage.key, labels, FieldSelector(terms))


def _known(target: Target, field: str) -> str:
    """The field as the stored shape has it."""
    storage = target.storage
    if field == "spec.host" and storage.key == "pods":
        return "spec.nodeName"
    if field == "metadata.name" or (field == "metadata.namespace" and storage.namespaced):
        return field
    stored = versions.stored_field(storage, target.group, field)
    foreign = target.group != storage.group and field == stored
    if stored in storage.selectable and (not foreign or field in _IN_BOTH):
        return stored
    if storage.selectable:
        raise BadRequest(f"field label not supported: {field}")
    raise BadRequest(
        f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


_IN_BOTH = ("reason", "type")  # what events are called by in both of their groups
