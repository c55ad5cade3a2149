"""What a cluster has of the API of gangs; one that has none of it: tests/e2e/test_implied.py."""

from tutti.controllers.offer import Offer
from tutti.kube.client import Client


async def test_a_cluster_that_has_all_of_it_lacks_nothing(client: Client):
    assert await Offer.found(client, await client.discover(), "tutti") == Offer()
