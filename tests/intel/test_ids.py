"""Ids follow from what they name."""

from __future__ import annotations

from uuid import UUID, uuid5

from intel.ids import NAMESPACE, account_id, article_id, base62, content_identity, ioc_id, submission_id


def test_the_id_of_an_indicator_is_the_same_on_every_installation() -> None:
    assert ioc_id("domain", "evil.example") == "f645756d-6225-5634-8f49-05f7a349e962"
    assert UUID(ioc_id("ip", "192.0.2.1")).version == 5


def test_the_id_of_an_indicator_is_a_uuid_of_version_5() -> None:
    for value in ("evil.example", "münchen.example", ""):
        assert ioc_id("domain", value) == str(uuid5(NAMESPACE, f"ioc\ndomain\n{value}"))


def test_ids_differ_by_everything_they_are_made_from() -> None:
    ids = {
        ioc_id("domain", "evil.example"),
        ioc_id("malware", "evil.example"),
        article_id("evil.example"),
        article_id("domain\nevil.example"),
        submission_id("one", "https://a.example/"),
        submission_id("two", "https://a.example/"),
        submission_id("one", "https://b.example/"),
    }
    assert len(ids) == 7
    assert ioc_id("domain", "evil.example") == ioc_id("domain", "evil.example")


def test_the_identity_of_a_file_is_its_content() -> None:
    assert content_identity(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert content_identity(b"a") != content_identity(b"b")


def test_the_id_of_an_account_is_16_letters_and_digits_whatever_the_case() -> None:
    assert account_id("Admin@Localhost ") == account_id("admin@localhost")
    assert account_id("admin@localhost") != account_id("admin@other")
    assert len(account_id("admin@localhost")) == 16
    assert account_id("admin@localhost").isalnum()


def test_base_62_has_a_fixed_length() -> None:
    assert base62(0, 3) == "000"
    assert base62(61, 3) == "00z"
    assert base62(62, 3) == "010"
    assert base62(62**3, 3) == "000"
