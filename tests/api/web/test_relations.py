"""The graph of what is named together."""

from __future__ import annotations

from itertools import combinations

from api.web.relations import HEIGHT, MOST_NODES, WIDTH, relations
from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.cases import each
from tests.contract.store.builders import the_ioc


async def test_the_graph_counts_shared_articles_in_two_steps(api: Running, visitor: Reader) -> None:
    await api.publish("one", "domain gale.example", "ip 192.0.2.7", "cve CVE-2024-3400", at=1)
    await api.publish("two", "domain gale.example", "ip 192.0.2.7", at=2)
    await api.publish("three", "ip 192.0.2.7", "malware Emotet", at=3)
    page = await visitor.open("/ioc/domain/gale.example")
    page = await visitor.open(page.links()["Relation graph"])
    rows = [[cell.text_content().strip() for cell in row.xpath("th|td")][1:4] for row in page.tree.xpath("//tbody/tr")]
    assert rows == [
        ["192[.]0[.]2[.]7", "gale[.]example", "2"],
        ["CVE-2024-3400", "gale[.]example", "1"],
        ["Emotet", "192[.]0[.]2[.]7", "1"],
    ]
    drawn = [(one.get("href"), one.get("aria-label")) for one in page.tree.xpath("//svg/a")]
    assert drawn[2] == ("/ioc/malware/Emotet", "Malware Emotet, 1 shared article")
    of_source = await visitor.open("/graph/source/Example%20Blog")
    assert len(of_source.tree.xpath("//svg/a")) == 4


async def test_a_large_graph_has_at_most_sixty_nodes_each_with_a_place_of_its_own(api: Running) -> None:
    for number in range(12):
        named = [f"{type} {value}" for n in range(20) for type, value in _some(number * 3 + n)]
        await api.publish(f"r{number}", *dict.fromkeys(named), at=number)
    center = await the_ioc(api.store, "domain gale-5.example")
    mentions, _ = await api.store.iocs.mentions_of(center.id, 20)
    nodes = await relations(api.store, [one.article.id for one in mentions], center)
    assert 30 < len(nodes) < MOST_NODES
    assert len({node.ioc.id for node in nodes} | {center.id}) == len(nodes) + 1
    assert all(0 < node.x < WIDTH and 0 < node.y < HEIGHT for node in nodes)
    assert all(abs(a.x - b.x) + abs(a.y - b.y) > 8 for a, b in combinations(nodes, 2))
    labels = [node.label_box for node in nodes]
    assert not [
        (a, b) for a, b in combinations(labels, 2) if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def _some(number: int) -> list[tuple[str, str]]:
    return [("domain", f"gale-{number}.example"), ("ip", f"192.0.2.{number}"), ("cve", f"CVE-2024-{1000 + number}")]


@each("path", ["/graph/domain/never.example", "/graph/nothing/x", "/graph/source/Nobody", "/graph/ip/x"])
async def test_there_is_no_graph_around_what_no_article_names(visitor: Reader, path: str) -> None:
    assert (await visitor.open(path)).status == 404
