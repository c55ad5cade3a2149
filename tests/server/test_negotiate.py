"""What clients want to read, by the headers that they really send."""

import pytest

from tutti.api.errors import NotAcceptable
from tutti.server import negotiate
from tutti.server.negotiate import Wanted

KUBECTL_GET = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
CLIENT_GO = "application/vnd.kubernetes.protobuf,application/json"
DISCOVERY = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", Wanted()),
        ("*/*", Wanted()),
        ("application/json", Wanted()),
        (CLIENT_GO, Wanted()),
        ("application/json;stream=watch,application/vnd.kubernetes.protobuf;stream=watch", Wanted()),
        (KUBECTL_GET, Wanted("Table")),
        ("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
         "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Wanted("PartialObjectMetadata")),
        ("application/json;as=Pie;v=v1;g=meta.k8s.io,application/json", Wanted()),
        ("application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io", Wanted("Table")),
        ("application/json;pretty=1", Wanted(pretty=True)),
    ],
)  # fmt: skip
def test_the_first_shape_that_can_be_served(accept: str, wanted: Wanted) -> None:
    assert negotiate.answer(accept) == wanted


@pytest.mark.parametrize(
    "accept",
    [
        "application/vnd.kubernetes.protobuf",
        "text/html",
        "application/json;as=Table;v=v2;g=meta.k8s.io",
        "application/json;stream=lines",
    ],
)
def test_what_cannot_be_written_is_not_acceptable(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="only the following media types are accepted"):
        negotiate.answer(accept)


def test_aggregated_discovery_is_given_to_who_asks_for_it() -> None:
    assert negotiate.discovery(DISCOVERY) == "v2"
    assert negotiate.discovery("application/json") is None
    assert negotiate.discovery("") is None


@pytest.mark.parametrize(
    ("header", "media_type"),
    [
        ("", "application/json"),
        ("application/json; charset=utf-8", "application/json"),
        ("Application/Merge-Patch+JSON", "application/merge-patch+json"),
    ],
)
def test_the_media_type_of_a_body(header: str, media_type: str) -> None:
    assert negotiate.content_type(header) == media_type
