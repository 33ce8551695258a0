"""Which watermark a disk is past, as Elasticsearch itself reckons."""

from __future__ import annotations

from typing import Any

from intel.store.elastic.watermarks import passed
from tests.cases import each

GB = 1 << 30
LIKE_SENT = {"low": "85%", "high": "90%", "flood_stage": "95%"}
HEADROOM = {"low": {"max_headroom": "200gb"}, "high": {"max_headroom": "150gb"}, "flood_stage": {"max_headroom": "-1"}}


def told(watermark: dict[str, Any], enabled: str = "true") -> dict[str, Any]:
    disk = {"threshold_enabled": enabled, "watermark": watermark}
    return {"cluster": {"routing": {"allocation": {"disk": disk}}}}


@each(
    ("disk", "stage"),
    [((100, 20), ""), ((100, 14), "low"), ((100, 9), "high"), ((100, 4), "flood_stage"), ((10_000, 1_200), "")],
)
def test_a_share_of_the_disk_bounded_by_the_headroom(disk: tuple[int, int], stage: str) -> None:
    headroom = {f"{name}.max_headroom": each["max_headroom"] for name, each in HEADROOM.items()}
    settings = {"defaults": told({**LIKE_SENT, **headroom})}
    assert passed(settings, [(500 * GB, 400 * GB), (disk[0] * GB, disk[1] * GB)]) == stage


def test_what_was_set_holds_before_what_is_so_by_default() -> None:
    settings = {"defaults": told(LIKE_SENT), "persistent": told({"low": "30gb"}), "transient": told({"high": "0.5"})}
    assert passed(settings, [(100 * GB, 40 * GB)]) == "high"
    assert passed({"persistent": told({"low": "30gb"})}, [(100 * GB, 20 * GB)]) == "low"


def test_without_thresholds_no_disk_is_past_any() -> None:
    assert passed({"defaults": told(LIKE_SENT, "false")}, [(100 * GB, 0)]) == ""
