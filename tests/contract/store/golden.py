"""Searches and what an analyst expects of them."""

from __future__ import annotations

from intel.records import Article, Sighting
from tests.contract.store.builders import make_article

MD5 = "44d88612fea8a8f36de82e1278abb02f"
SHA1 = "3395856ce81f2b7382dee72602f798b642f14140"
SHA256 = "275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f"


def near(indicator: str, *malware: str) -> Sighting:
    """An indicator with the malware named beside it."""
    type, _, value = indicator.partition(" ")
    return Sighting(type, value, f"It used {value} then.", malware)


# Articles of several sources, the later ones newer.
ARTICLES: tuple[tuple[Article, list[str | Sighting]], ...] = (
    (
        make_article("loader", at=0, source="Kestrel Weekly", title="Harbour thieves bring a new loader"),
        [
            near("domain evil.test", "Emotet"),
            near("url https://evil.test/gate.php?id=7", "Emotet"),
            near("malware Emotet", "Emotet"),
            "email drop+spam@evil.test",
            f"hash_sha256 {SHA256}",
            f"hash_md5 {MD5}",
        ],
    ),
    (
        make_article("again", at=10, source="Agency", title="What evil.test was used for"),
        [
            "domain evil.test",
            "domain cdn.mail.evil.test",
            "url http://cdn.mail.evil.test:8080/a/b",
            "ip 192.0.2.77",
        ],
    ),
    (
        make_article("network", at=20, source="Agency", title="Scans from one network"),
        [
            "ip 198.51.100.7",
            "ip 198.51.100.200",
            "ip 2001:db8:0:7::1",
            "url http://198.51.100.7:8080/bot",
            "url http://[2001:db8:0:7::1]/v6",
            "ip 203.0.113.5",
        ],
    ),
    (
        make_article("bugs", at=30, source="Example Blog", title="Firewall bug under attack"),
        [
            "cve CVE-2024-3400",
            "cve CVE-2024-34001",
            "mitre_attack T1566",
            "mitre_attack T1566.001",
            "mitre_attack T1059.001",
            f"hash_sha1 {SHA1}",
        ],
    ),
    (
        make_article("names", at=40, source="分析 Times", title="新型ランサムウェアの分析 and Überfall in Málaga"),
        [
            near("domain xn--mnchen-3ya.test", "QakBot"),
            near("domain evil-corp.test", "Cobalt Strike", "QakBot"),
            near("malware Cobalt Strike", "QakBot"),
            near("malware QakBot", "QakBot"),
        ],
    ),
    (
        make_article("cyrillic", at=50, source="Kestrel Weekly", title="Вредоносный код крадёт пароли"),
        [
            "domain xn--e1afmkfd.test",
            "domain notevil.test",
            "domain evil.test.invalid",
            "url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    (
        make_article("parts", at=60, source="Day & Night", title="Loader update: update-check and over-the-air"),
        [
            "domain update-check.test",
            "domain loader-update.test",
            "email o'neil@loader-update.test",
        ],
    ),
    (
        make_article("quiet", at=70, source="Quiet"),
        [
            "domain zz.example",
        ],
    ),
)
# What is typed, how many indicators it finds, and the first of them in order, each with how it was found.
GOLDEN: tuple[tuple[str, int, list[str]], ...] = (
    (
        "evil.test",
        8,
        [
            "exact domain evil.test",
            "word domain evil.test.invalid",
            "word url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    (
        "EVIL.TEST",
        8,
        [
            "exact domain evil.test",
            "word domain evil.test.invalid",
            "word url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    (
        "evil[.]test",
        8,
        [
            "exact domain evil.test",
            "word domain evil.test.invalid",
            "word url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    (
        "evil(dot)test",
        8,
        [
            "exact domain evil.test",
            "word domain evil.test.invalid",
            "word url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    ("hxxps://evil[.]test/gate.php?id=7", 1, ["exact url https://evil.test/gate.php?id=7"]),
    ("https://evil.test/gate.php", 1, ["word url https://evil.test/gate.php?id=7"]),
    ("evil.test/gate.php?id=7", 1, ["exact url https://evil.test/gate.php?id=7"]),
    ("mail.evil.test", 2, ["subdomain url http://cdn.mail.evil.test:8080/a/b", "subdomain domain cdn.mail.evil.test"]),
    ("cdn.mail.evil.test", 2, ["exact domain cdn.mail.evil.test", "host url http://cdn.mail.evil.test:8080/a/b"]),
    ("http://cdn.mail.evil.test:8080/a/b", 1, ["exact url http://cdn.mail.evil.test:8080/a/b"]),
    (
        "test",
        15,
        [
            "word domain evil.test",
            "word email o'neil@loader-update.test",
            "word domain update-check.test",
        ],
    ),
    ("192.0.2.77", 1, ["exact ip 192.0.2.77"]),
    ("192[.]0[.]2[.]77", 1, ["exact ip 192.0.2.77"]),
    ("198.51.100.7", 2, ["exact ip 198.51.100.7", "host url http://198.51.100.7:8080/bot"]),
    ("198.51.100.0/24", 2, ["network ip 198.51.100.200", "network ip 198.51.100.7"]),
    ("198[.]51[.]100[.]0/25", 1, ["network ip 198.51.100.7"]),
    ("198.51.100.200/32", 1, ["exact ip 198.51.100.200"]),
    ("2001:db8:0:7::1", 2, ["exact ip 2001:db8:0:7::1", "host url http://[2001:db8:0:7::1]/v6"]),
    ("2001:DB8:0000:7:0:0:0:1", 2, ["exact ip 2001:db8:0:7::1", "host url http://[2001:db8:0:7::1]/v6"]),
    ("2001:db8::/32", 1, ["network ip 2001:db8:0:7::1"]),
    ("[2001:db8:0:7::1]", 2, ["exact ip 2001:db8:0:7::1", "host url http://[2001:db8:0:7::1]/v6"]),
    ("44D88612FEA8A8F36DE82E1278ABB02F", 1, [f"exact hash_md5 {MD5}"]),
    ("3395856CE81F2B7382DEE72602F798B642F14140", 1, [f"exact hash_sha1 {SHA1}"]),
    ("275A021BBFB6489E54D471899F7DB9D1663FC695EC2FE2A2C4538AABF651FD0F", 1, [f"exact hash_sha256 {SHA256}"]),
    ("44d88612*", 1, [f"prefix hash_md5 {MD5}"]),
    ("CVE-2024-3400", 1, ["exact cve CVE-2024-3400"]),
    ("cve‑2024‑3400", 1, ["exact cve CVE-2024-3400"]),
    ("CVE 2024 3400", 1, ["exact cve CVE-2024-3400"]),
    ("cve–2024–3400", 1, ["exact cve CVE-2024-3400"]),
    ("2024-3400", 1, ["word cve CVE-2024-3400"]),
    ("CVE-2024*", 2, ["prefix cve CVE-2024-3400", "prefix cve CVE-2024-34001"]),
    ("T1566", 2, ["exact mitre_attack T1566", "word mitre_attack T1566.001"]),
    ("t1566.001", 1, ["exact mitre_attack T1566.001"]),
    ("T1566/001", 1, ["exact mitre_attack T1566.001"]),
    ("T1059", 1, ["word mitre_attack T1059.001"]),
    ("Emotet", 3, ["exact malware Emotet", "malware domain evil.test", "malware url https://evil.test/gate.php?id=7"]),
    ("geodo", 3, ["exact malware Emotet", "malware domain evil.test", "malware url https://evil.test/gate.php?id=7"]),
    ("EMOTET", 3, ["exact malware Emotet", "malware domain evil.test", "malware url https://evil.test/gate.php?id=7"]),
    (
        "Geodo malware",
        3,
        ["exact malware Emotet", "malware domain evil.test", "malware url https://evil.test/gate.php?id=7"],
    ),
    (
        "Qbot",
        4,
        [
            "exact malware QakBot",
            "malware malware Cobalt Strike",
            "malware domain xn--mnchen-3ya.test",
        ],
    ),
    ("cobalt strike", 2, ["exact malware Cobalt Strike", "malware domain evil-corp.test"]),
    ('"cobalt strike"', 2, ["exact malware Cobalt Strike", "malware domain evil-corp.test"]),
    ("CobaltStrike", 2, ["exact malware Cobalt Strike", "malware domain evil-corp.test"]),
    ("strike cobalt", 2, ["word malware Cobalt Strike", "malware domain evil-corp.test"]),
    ("cobaltst*", 0, []),
    ("drop+spam@evil.test", 1, ["exact email drop+spam@evil.test"]),
    ("drop+spam[@]evil[.]test", 1, ["exact email drop+spam@evil.test"]),
    ("o'neil@loader-update.test", 1, ["exact email o'neil@loader-update.test"]),
    (
        "@evil.test",
        9,
        [
            "word domain evil.test",
            "word domain evil.test.invalid",
            "word url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    (
        "loader",
        10,
        [
            "word email o'neil@loader-update.test",
            "word domain loader-update.test",
            "article domain evil.test",
        ],
    ),
    (
        "loader update",
        3,
        ["word email o'neil@loader-update.test", "word domain loader-update.test", "title domain update-check.test"],
    ),
    (
        '"loader update"',
        3,
        ["word email o'neil@loader-update.test", "word domain loader-update.test", "title domain update-check.test"],
    ),
    (
        '"new loader"',
        6,
        [
            "article domain evil.test",
            f"title hash_sha256 {SHA256}",
            "title url https://evil.test/gate.php?id=7",
        ],
    ),
    ('"loader new"', 0, []),
    (
        '"update check"',
        3,
        ["word domain update-check.test", "title email o'neil@loader-update.test", "title domain loader-update.test"],
    ),
    (
        "update-check",
        3,
        ["word domain update-check.test", "title email o'neil@loader-update.test", "title domain loader-update.test"],
    ),
    (
        "updat*",
        3,
        [
            "prefix email o'neil@loader-update.test",
            "prefix domain update-check.test",
            "prefix domain loader-update.test",
        ],
    ),
    (
        "harbour thieves",
        6,
        [
            "article domain evil.test",
            f"title hash_sha256 {SHA256}",
            "title url https://evil.test/gate.php?id=7",
        ],
    ),
    (
        "HARBOUR",
        6,
        [
            "article domain evil.test",
            f"title hash_sha256 {SHA256}",
            "title url https://evil.test/gate.php?id=7",
        ],
    ),
    (
        "kestrel",
        10,
        [
            "article domain evil.test",
            "source domain notevil.test",
            "source domain evil.test.invalid",
        ],
    ),
    (
        '"kestrel weekly"',
        10,
        [
            "article domain evil.test",
            "source domain notevil.test",
            "source domain evil.test.invalid",
        ],
    ),
    (
        "agency scans",
        6,
        [
            "source ip 203.0.113.5",
            "source url http://198.51.100.7:8080/bot",
            "source ip 2001:db8:0:7::1",
        ],
    ),
    (
        "evil loader",
        3,
        ["article domain evil.test", "title url https://evil.test/gate.php?id=7", "title email drop+spam@evil.test"],
    ),
    (
        "evil.test kestrel",
        5,
        [
            "article domain evil.test",
            "source domain evil.test.invalid",
            "source url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    (
        "evil*",
        9,
        [
            "prefix domain evil.test",
            "prefix domain evil.test.invalid",
            "prefix url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    ("münchen.test", 1, ["exact domain xn--mnchen-3ya.test"]),
    ("MÜNCHEN", 1, ["word domain xn--mnchen-3ya.test"]),
    ("xn--mnchen-3ya.test", 1, ["exact domain xn--mnchen-3ya.test"]),
    ("münch*", 1, ["prefix domain xn--mnchen-3ya.test"]),
    ("пример.test", 1, ["exact domain xn--e1afmkfd.test"]),
    (
        "пароли",
        4,
        [
            "title domain notevil.test",
            "title domain evil.test.invalid",
            "title domain xn--e1afmkfd.test",
        ],
    ),
    (
        "ВРЕДОНОСНЫЙ код",
        4,
        [
            "title domain notevil.test",
            "title domain evil.test.invalid",
            "title domain xn--e1afmkfd.test",
        ],
    ),
    (
        "вред*",
        4,
        [
            "title domain notevil.test",
            "title domain evil.test.invalid",
            "title domain xn--e1afmkfd.test",
        ],
    ),
    ("情報", 0, []),
    (
        "分析",
        4,
        [
            "title malware QakBot",
            "title malware Cobalt Strike",
            "title domain xn--mnchen-3ya.test",
        ],
    ),
    (
        '"ランサムウェアの分析"',
        4,
        [
            "title malware QakBot",
            "title malware Cobalt Strike",
            "title domain xn--mnchen-3ya.test",
        ],
    ),
    (
        "分析 times",
        4,
        [
            "title malware QakBot",
            "title malware Cobalt Strike",
            "title domain xn--mnchen-3ya.test",
        ],
    ),
    (
        "überfall",
        4,
        [
            "title malware QakBot",
            "title malware Cobalt Strike",
            "title domain xn--mnchen-3ya.test",
        ],
    ),
    ("uberfall", 0, []),
    (
        "MÁLAGA",
        4,
        [
            "title malware QakBot",
            "title malware Cobalt Strike",
            "title domain xn--mnchen-3ya.test",
        ],
    ),
    ("malaga", 0, []),
    ("setup_v2", 1, ["word url https://files.test/evil.test/setup_v2.exe"]),
    ("setup v2", 1, ["word url https://files.test/evil.test/setup_v2.exe"]),
    (
        "day & night",
        3,
        [
            "source email o'neil@loader-update.test",
            "source domain update-check.test",
            "source domain loader-update.test",
        ],
    ),
    (
        "over-the-air",
        3,
        ["title email o'neil@loader-update.test", "title domain update-check.test", "title domain loader-update.test"],
    ),
    ("198.51.100.0/24 scans", 2, ["title ip 198.51.100.200", "title ip 198.51.100.7"]),
    ("??", 0, []),
    ("*", 0, []),
    ('"" *', 0, []),
    ("evil.test AND agency", 0, []),
    (
        "evil.test agency",
        4,
        [
            "source domain evil.test",
            "source url http://cdn.mail.evil.test:8080/a/b",
            "source domain cdn.mail.evil.test",
        ],
    ),
    ("firewall bug T1566", 2, ["title mitre_attack T1566", "title mitre_attack T1566.001"]),
    ("203.0.113.5 198.51.100.7", 0, []),
    ("evil-corp.test", 1, ["exact domain evil-corp.test"]),
    ("notevil.test", 1, ["exact domain notevil.test"]),
    (
        "ｅｖｉｌ．ｔｅｓｔ",
        8,
        [
            "exact domain evil.test",
            "word domain evil.test.invalid",
            "word url https://files.test/evil.test/setup_v2.exe",
        ],
    ),
    ("zz.example", 1, ["exact domain zz.example"]),
    ("quiet", 1, ["source domain zz.example"]),
    ("nowhere.test", 0, []),
)
