"""A real Elasticsearch with TLS of an authority of its own, used with the role of the documents and nothing more."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli.cluster_findings import look_at_privileges
from intel.errors import ConfigurationError, CredentialsRefused, StoreUnavailable
from intel.settings import load_settings
from intel.store import condition_of, open_store
from tests.contract.limiter.redis_server import RedisServer
from tests.contract.store.builders import make_article, make_submission, publish, search
from tests.end_to_end.processes import Installation
from tests.engines.authority import make_certificates
from tests.engines.elasticsearch_cluster import ElasticsearchCluster, elasticsearch_cluster
from tests.engines.engine import NotToBeHad

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SECRET = {"IOC_SECRET_KEY": "a secret of this test alone"}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ElasticsearchCluster]:
    certificates = make_certificates(tmp_path_factory.mktemp("certificates"))
    try:
        with elasticsearch_cluster(certificates=certificates) as cluster:
            yield cluster
    except NotToBeHad as reason:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no Elasticsearch to secure: {reason}")


@pytest.mark.promise("operations.least-privileges")
async def test_the_role_suffices_for_everything(secured: ElasticsearchCluster, own_redis: RedisServer) -> None:
    settings = load_settings({**secured.environment, **SECRET, "REDIS_URL": own_redis.url})
    store = open_store(settings)
    try:
        await store.setup()
        await store.ping()
        saved = await publish(store, make_article("one"), "domain evil.example")
        await store.submissions.add(make_submission("one"))
        assert await search(store, "evil.example") == ["evil.example"]
        await store.reindex(lambda *_: None)
        assert await search(store, "evil.example") == ["evil.example"]
        assert (await store.articles.remove(saved.id)) is not None
        assert (await store.totals()).iocs == 0
    finally:
        await store.close()


@pytest.mark.promise("operations.least-privileges")
def test_nothing_else_is_allowed(secured: ElasticsearchCluster) -> None:
    with secured.client() as client:
        for method, path in (
            ("PUT", "/somebody-elses"),
            ("PUT", "/_cluster/settings"),
            ("POST", "/_security/user/another"),
            ("DELETE", "/*"),
        ):
            answer = client.request(method, secured.urls[0] + path, json={} if method != "DELETE" else None)
            assert answer.status_code in (400, 403), (method, path, answer.text)


async def test_what_cannot_be_trusted_or_does_not_trust_us_is_told_apart(
    secured: ElasticsearchCluster, tmp_path: Path
) -> None:
    other = make_certificates(tmp_path / "other")
    given = {**secured.environment, **SECRET, "REDIS_URL": "redis://127.0.0.1:9"}
    for change, error in (
        ({"ELASTICSEARCH_CA_CERTS": str(other.authority)}, StoreUnavailable),
        ({"ELASTICSEARCH_CA_CERTS": "/nowhere/ca.crt"}, ConfigurationError),
        ({"ELASTICSEARCH_PASSWORD": "wrong"}, CredentialsRefused),
        ({"ELASTICSEARCH_USERNAME": "", "ELASTICSEARCH_API_KEY": "bm9ib2R5OmtleQ=="}, CredentialsRefused),
    ):
        with pytest.raises(error):
            store = open_store(load_settings({**given, **change}))
            try:
                await store.ping()
            finally:
                await store.close()


@pytest.mark.promise("operations.least-privileges", "cli.doctor")
async def test_what_the_role_does_not_allow_is_told(secured: ElasticsearchCluster) -> None:
    given = {**secured.environment, **SECRET, "REDIS_URL": "redis://127.0.0.1:9"}
    allowed, other = (
        load_settings(given | {"ELASTICSEARCH_INDEX_PREFIX": prefix}).elasticsearch for prefix in ("", "other-")
    )
    assert allowed is not None and other is not None
    assert await look_at_privileges(allowed) == []
    (finding,) = await look_at_privileges(other)
    assert not finding.well and "write on other-accounts" in finding.found and "monitor" not in finding.found
    assert "elasticsearch_role.yml" in finding.advice


@pytest.mark.promise("operations.layout", "cli.doctor")
async def test_shards_copies_and_refresh_are_as_set_and_the_doctor_tells_them(
    secured: ElasticsearchCluster, own_redis: RedisServer, tmp_path: Path
) -> None:
    given = {**secured.environment, **SECRET, "REDIS_URL": own_redis.url, "IOC_DATA_DIR": str(tmp_path)}
    here = Installation(tmp_path, given)
    here.environment |= {"ELASTICSEARCH_SHARDS": "3", "ELASTICSEARCH_REPLICAS": "0"}
    assert here.run("reindex", seconds=150).returncode == 0
    here.environment["ELASTICSEARCH_REFRESH_SECONDS"] = "45"
    items = json.loads(here.run("doctor", "--json", seconds=100).stdout)["items"]
    told = {item["what"]: item for item in items}
    assert told["Elasticsearch"]["found"] == "1 node with data, green", told
    assert told["clock"]["well"] and "privileges" not in told
    assert "expires" in told["certificates"]["found"] and "Renew" in told["certificates"]["advice"]
    assert "shards 3 × 1" in told["layout"]["found"] and "refresh every 45 s" in told["layout"]["found"]
    settings = secured.get("/iocs/_settings").json().values()
    assert [one["settings"]["index"]["refresh_interval"] for one in settings] == ["45s"]

    secured.put("/iocs/_settings", {"index.blocks.read_only_allow_delete": True})
    secured.put("/articles/_settings", {"index": {"auto_expand_replicas": False, "number_of_replicas": 1}})
    del here.environment["ELASTICSEARCH_REPLICAS"]
    ended = here.run("doctor", "--json", seconds=100)
    told = {item["what"]: item for item in json.loads(ended.stdout)["items"]}
    assert ended.returncode == 1 and not told["writes"]["well"] and "read_only_allow_delete" in told["writes"]["advice"]
    assert "yellow" in told["Elasticsearch"]["found"] and "ELASTICSEARCH_REPLICAS" in told["Elasticsearch"]["advice"]
    secured.put("/iocs/_settings", {"index.blocks.read_only_allow_delete": None})
    settings_read = load_settings(given).elasticsearch
    assert settings_read is not None
    condition = await condition_of(settings_read)
    assert condition.blocked == () and condition.unassigned == 3
