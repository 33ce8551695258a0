"""`/export`: whole lists and searches in every format."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.annotating import Annotations
from api.formats.blocking import HostsFile, PolicyZone, SuricataRules
from api.formats.exporting import FILES
from intel.query import IocQuery
from intel.records import Sighting
from tests.api.running import Running, running
from tests.api.test_filters import take_in

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RULE = re.compile(
    r'alert (?:ip|dns|http|tls) \$HOME_NET any -> \S+ any \(msg:"[^";\\|]*"; '
    r'(?:[^"();]*(?:"[A-Za-z0-9._/?=&%+~,@|-]*")?; )+'
    r"sid:[0-9]{10}; rev:1;\)"
)


@pytest.mark.promise("export.whole")
async def test_an_export_holds_all_that_match_in_order(api: Running) -> None:
    found = [f"domain d{number}.kestrel-cdn.net" for number in range(300)]
    await api.publish("one", *found, "ip 185.220.101.4", title="Kestrel")
    key = await api.key()
    lines = [json.loads(line) for line in (await api.get("/export", key)).text.splitlines()]
    assert len(lines) == 301
    by_id = {one["id"]: one for one in await api.items("/iocs", key, limit=50)}
    assert all(by_id.get(one["id"], one) == one for one in lines)
    assert [one["id"] for one in lines] == sorted(one["id"] for one in lines)
    some = (await api.get("/export", key, q="kestrel", type="ip", fields="type,value")).text
    assert [json.loads(line) for line in some.splitlines()] == [{"type": "ip", "value": "185.220.101.4"}]
    table = [*csv.DictReader(io.StringIO((await api.get("/export", key, format="csv")).text))]
    assert len(table) == 301
    assert {"status", "warnings", "false_positives", "sources", "permalink"} <= set(table[0])
    bundle = (await api.get("/export", key, format="stix", type="ip")).json()
    assert [one["confidence"] for one in bundle["objects"] if one["type"] == "indicator"] == [30]
    bundle = (await api.get("/export", key, format="stix", q="nothing-of-it")).json()
    assert [one["type"] for one in bundle["objects"] if one["type"] == "identity"] == ["identity"]


@pytest.mark.promise("export.blocking")
async def test_what_blocks_leaves_out_what_is_warned_of_unless_it_is_asked_for(api: Running) -> None:
    await take_in(api, "one", "domain kestrel-cdn.net", "domain github.com", "url https://kestrel-cdn.net/a?b=1")
    key = await api.key()
    for format, written in (("txt", "github.com"), ("hosts", "0.0.0.0 github.com"), ("rpz", "*.github.com IN CNAME .")):
        without = (await api.get("/export", key, format=format)).text
        warned_too = (await api.get("/export", key, format=format, include="warned")).text
        assert "kestrel-cdn.net" in without and "github.com" not in without
        assert written in warned_too.splitlines()


@pytest.mark.promise("export.limits")
async def test_exports_have_a_bucket_of_their_own_and_need_a_key(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_rate_export="2/hour") as api:
        assert (await api.get("/export")).status_code == 401
        key = await api.key()
        answers = [await api.get("/export", key, format=format) for format in ("txt", "hosts", "csv")]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].headers["RateLimit-Policy"] == '"export";q=2;w=3600'
        assert int(answers[2].headers["Retry-After"]) > 0
        assert (await api.get("/iocs", key)).headers["X-RateLimit-Remaining"] == "99"
        buckets = (await api.get("/usage", key)).json()["buckets"]
        assert {one["name"]: one["remaining"] for one in buckets} == {"key": 99, "export": 0}


async def test_unknown_formats_and_inclusions_are_refused_and_files_are_named(api: Running) -> None:
    key = await api.key()
    for name, asked in (("format", {"format": "xls"}), ("include", {"include": "all"})):
        answer = await api.get("/export", key, **asked)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, name)
    for format, (media_type, ending) in FILES.items():
        head = (await api.client.head(f"/api/v1/export?format={format}", headers=key)).headers
        assert head["Content-Type"] == media_type
        assert head["Content-Disposition"] == f'attachment; filename="iocs-20261120T1200Z.{ending}"'


@pytest.mark.promise("export.hostile")
async def test_hostile_values_stay_in_their_place(api: Running) -> None:
    hostile = [
        'http://kestrel-cdn.net/a";sid:1;)\nalert ip any any -> any any (x|41|',
        "http://kestrel-cdn.net:8080/%22?q=\\;'",
        "https://[2001:db8::7]/x",
        "http://" + "a" * 300 + ".net/",
    ]
    await api.publish(
        "one",
        *(Sighting("url", value, "=cmd()") for value in hostile),
        Sighting("domain", "evil.net\n0.0.0.0 bank.com", ""),
        "domain xn--mnchen-3ya.net",
        "domain _dmarc.kestrel-cdn.net",
        "ip 2606:4700::1111",
        "ip ::ffff",
        "ip 185.220.101.4",
        title="=1+1",
    )
    iocs = (await api.store.iocs.find(IocQuery(limit=50))).items
    noted, writer = Annotations(NOW, {}, {}), SuricataRules("https://ioc.example", NOW)
    rules = writer.some(iocs, noted).decode()
    lines = rules.splitlines()
    assert writer.begin() == b"# IOC Intelligence\n"
    assert len(lines) == len(rules.split("\n")) - 1 >= 7
    assert all(RULE.fullmatch(line) for line in lines), lines
    assert len({re.findall(r"sid:(\d+)", line)[0] for line in lines}) == len(lines)
    zone = PolicyZone("", NOW).some(iocs, noted).decode()
    assert all(re.fullmatch(r"[a-z0-9_.*-]+ IN CNAME \.", line) for line in zone.splitlines())
    assert {"128.1111.zz.4700.2606.rpz-ip", "128.ffff.zz.rpz-ip", "32.4.101.220.185.rpz-ip"} <= {
        line.split()[0] for line in zone.splitlines()
    }
    hosts = HostsFile("", NOW).some(iocs, noted).decode()
    assert sorted(hosts.splitlines()) == ["0.0.0.0 _dmarc.kestrel-cdn.net", "0.0.0.0 xn--mnchen-3ya.net"]
