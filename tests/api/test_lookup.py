"""`/iocs/lookup`: many values at once."""

from __future__ import annotations

import pytest

from intel.records import Sighting
from tests.api.running import Running
from tests.cases import each


@pytest.mark.promise("lookup.order", "lookup.needs-key")
async def test_values_are_answered_in_the_order_asked_also_twice(api: Running) -> None:
    await api.publish("one", "domain evil.example", "ip 203.0.113.9", "url https://evil.example/a")
    asked = ["203[.]0[.]113[.]9", "nothing.example", "EVIL[.]example", "hxxps://evil[.]example/a", "evil.example", "??"]
    answer = await api.post("/iocs/lookup", {"values": asked}, await api.key())
    assert answer.status_code == 200
    items = answer.json()["items"]
    assert [item["value"] for item in items] == asked
    assert [item["found"] for item in items] == [True, False, True, True, True, False]
    assert [[ioc["value"] for ioc in item["iocs"]] for item in items] == [
        ["203.0.113.9"], [], ["evil.example"], ["https://evil.example/a"], ["evil.example"], []
    ]  # fmt: skip
    assert items[0]["iocs"][0]["article"]["title"] == "A loader report"


async def test_any_name_of_a_family_finds_the_records_of_all_its_names(api: Running) -> None:
    await api.publish("one", "malware XLoader", "malware FormBook", "malware Emotet")
    key = await api.key()
    asked = ["xloader", "Form-Book", "Geodo", "Qilin"]
    items = (await api.post("/iocs/lookup", {"values": asked}, key)).json()["items"]
    found = [sorted(ioc["value"] for ioc in item["iocs"]) for item in items]
    assert found == [["FormBook", "XLoader"], ["FormBook", "XLoader"], ["Emotet"], []]
    for name in ("value", "q"):
        records = (await api.get("/iocs", key, **{name: "formbook"})).json()["items"]
        assert sorted(ioc["value"] for ioc in records) == ["FormBook", "XLoader"]


@pytest.mark.promise("lookup.at-most-1000")
async def test_one_to_a_thousand_values_may_be_asked_for(api: Running) -> None:
    key = await api.key()
    await api.publish("one", "domain d0.example", "domain d999.example")
    thousand = [f"d{n}.example" for n in range(1000)]
    items = (await api.post("/iocs/lookup", {"values": thousand}, key)).json()["items"]
    assert [item["value"] for item in items] == thousand
    assert [item["value"] for item in items if item["found"]] == ["d0.example", "d999.example"]
    for values in ([], [*thousand, "one-more.example"]):
        answer = await api.post("/iocs/lookup", {"values": values}, key)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "values")


@pytest.mark.promise("lookup.at-most-1000")
@each("values", ["evil.example", None, {"a": "b"}, [5], [None], [["a"]], ["a\0b"], ["a" * 2049], [True]])
async def test_values_of_another_form_are_refused(api: Running, key: dict[str, str], values: object) -> None:
    answer = await api.post("/iocs/lookup", {"values": values}, key)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")


@pytest.mark.promise("lookup.order")
@each(
    "value", ["", " ", "*", '"', "\ud83d", "\u202e", "a" * 2048, "ﷺ" * 2000, "[" * 2048, "http://[", "%00", "' OR 1=1"]
)
async def test_any_text_can_be_looked_up(api: Running, key: dict[str, str], value: str) -> None:
    answer = await api.post("/iocs/lookup", {"values": [value]}, key)
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 200:
        assert answer.json()["items"][0]["found"] is False


COINED = Sighting("malware", "QuietHarbor", "A backdoor that we call QuietHarbor.")


@pytest.mark.parametrize("spelling", ["QuietHarbor", "quietharbor", " QUIETHARBOR ", "Quiet\u200bHarbor"])
async def test_a_name_that_only_a_text_coined_is_found_in_any_case(api: Running, spelling: str) -> None:
    key = await api.key()
    await api.publish("one", COINED, "domain evil.example", title="QuietHarbor again")
    await api.publish("two", "malware Emotet", title="On QuietHarbor")
    assert await api.values(value=spelling) == ["QuietHarbor"]
    answer = (await api.post("/iocs/lookup", {"values": [spelling, "evil.example", "Quiet"]}, key)).json()
    found = [[(ioc["type"], ioc["value"]) for ioc in item["iocs"]] for item in answer["items"]]
    assert found == [[("malware", "QuietHarbor")], [("domain", "evil.example")], []]


async def test_what_nobody_calls_malware_is_not_read_as_a_name(api: Running) -> None:
    await api.publish("one", COINED, "domain evil.example")
    for value in ("hello", "evil.example", "192.0.2.1", "??", "Quiet Harbor"):
        answer = (await api.get("/iocs", value=value)).json()
        assert "malware" not in [named["type"] for named in answer["query"]["reads_as"]], value


async def test_a_coined_name_is_found_among_very_many_that_hold_its_words(api: Running) -> None:
    await api.publish("many", *(Sighting("malware", f"Harbor {n:03}", "It.") for n in range(230)))
    await api.publish("one", Sighting("malware", "Harbor", "It."), at=-9)
    assert await api.values(value="harbor") == ["Harbor"]
