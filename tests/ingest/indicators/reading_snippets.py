"""How an indicator stands in its token: in scripts without blanks, at broken lines, among typesetters' signs."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import ARTICLE, MD5, S

GALE: Final = "domain gale-post.com"
MIST: Final = "domain mist-post.top"
SPREAD: Final = (
    "This set also comes back if we look at the domain used to spread the RAT from the galecon.com domain.\n"
)


READING_SNIPPETS: Final = (
    # --- no blanks between words
    S("unspaced", "木马回连C2为gale-post[.]com。", GALE),
    S("unspaced", "备用域名gale-post[.]com和mist-post[.]top已失效", GALE, MIST),
    S("unspaced", "样本从45.61.136[.]47下载第二阶段", "ip 45.61.136.47"),
    S("unspaced", "主控IP（45.61.136.47）、端口8080", "ip 45.61.136.47"),
    S("unspaced", "感染後、gale-post[.]comに接続し、命令を待つ", GALE),
    S("unspaced", "通信先は45.61.136[.]47です。", "ip 45.61.136.47"),
    S("unspaced", "악성코드는 gale-post[.]com에 접속한다", GALE),
    S("unspaced", "从hxxp://gale-post[.]com/in/a.exe下载", "url http://gale-post.com/in/a.exe", GALE),
    S("unspaced", "hxxps://gale-post[.]com/beaconに接続", "url https://gale-post.com/beacon", GALE),
    S("unspaced", "hxxps://gale-post[.]com/にアクセス", "url https://gale-post.com/", GALE),
    S("unspaced", "hxxps://gale-post[.]com/a에서 내려받는다", "url https://gale-post.com/a", GALE),
    S("unspaced", "钓鱼邮箱drop@gale-post[.]com发送", "email drop@gale-post.com", GALE),
    S("unspaced", "利用CVE-2024-3400漏洞投放Emotet木马", "cve CVE-2024-3400", "malware Emotet"),
    S("unspaced", "样本MD5为" + MD5 + "，回连gale-post[.]com", f"hash_md5 {MD5}", GALE),
    S("unspaced", "hxxp://gale-post[.]com/名单.zip", "url http://gale-post.com/名单.zip", GALE),
    S("unspaced", "hxxp://gale-post[.]com/下载a.exe", "url http://gale-post.com/下载a.exe", GALE),
    S("unspaced", "hxxp://gale-post[.]com/a?名=值", "url http://gale-post.com/a?名=值", GALE),
    S("unspaced", "例え[.]jp", "domain xn--r8jz45g.jp"),
    S("unspaced", "移动[.]中国", "domain xn--6frz82g.xn--fiqs8s"),
    S("unspaced", "пример[.]рф", "domain xn--e1afmkfd.xn--p1ai"),
    S("unspaced", "固件版本号为3.0.0.4，已过期"),
    S("unspaced", "请升级到7.0.0.12版本"),
    S("unspaced", "バージョン5.1.0.9以前"),
    # --- hyphens and dashes of typesetters
    S("hyphen", "panel at gale\u2010post[.]com now", GALE),
    S("hyphen", "panel at gale\u2011post[.]com now", GALE),
    S("hyphen", "panel at gale\u2013post[.]com now", GALE),
    S("hyphen", "hxxp://gale\u2011post[.]com/in\u2011box/a", "url http://gale-post.com/in-box/a", GALE),
    S("hyphen", "mail from drop@gale\u2011post[.]com", "email drop@gale-post.com", GALE),
    S("hyphen", "gale-post[.]com\u2013mist-post[.]top", GALE, MIST),
    S("hyphen", "45.61.136[.]47\u201345.61.136[.]49", "ip 45.61.136.47", "ip 45.61.136.49"),
    S("hyphen", "the gale\u2011post[.]com\u2011based panel", GALE),
    S("hyphen", "servers\u2013gale-post[.]com\u2013went away", GALE),
    S("hyphen", "The C2\u2013gale-post[.]com\u2013went away", GALE),
    S("hyphen", "a server\u2014gale-post[.]com\u2014went away", GALE),
    # --- figures of footnotes
    S("footnote", "it asked gale-post[.]com\u00b9 and 45.61.136[.]47\u00b2", GALE, "ip 45.61.136.47"),
    S("footnote", "hxxp://gale-post[.]com/a.exe\u00b3", "url http://gale-post.com/a.exe", GALE),
    S("footnote", "CVE-2024-3400\u00b9\u00b2 and " + MD5 + "\u2074", "cve CVE-2024-3400", f"hash_md5 {MD5}"),
    S("footnote", "it asked gale-post[.]com\u2020", GALE),
    # --- what a line breaks in two
    S("broken line", "the packages came from gale-\npost[.]com and more", GALE),
    S("broken line", "hxxp://gale-\npost[.]com/a", "url http://gale-post.com/a", GALE),
    S("broken line", "it asked 45[.]61[.]136[.]\n47 and 45[.]61[.]\n136[.]49.", "ip 45.61.136.47", "ip 45.61.136.49"),
    S("broken line", "gale-post[.]\ncom\nmist-post[.]\ntop/a", GALE, MIST, "url http://mist-post.top/a"),
    S("broken line", "hxxp://45[.]61[.]136[.]\n47/a", "url http://45.61.136.47/a", "ip 45.61.136.47"),
    S("broken line", "it exploits CVE-2024-\n3400 at once", "cve CVE-2024-3400"),
    # --- flaws and techniques as tags and in short
    S("tag", "Tags: cve.2021.1675, spooler", "cve CVE-2021-1675"),
    S("tag", "tags:\n  - attack.initial_access\n  - cve.2020.0601", "cve CVE-2020-0601"),
    S("tag", "CVE.2024.3400の悪用", "cve CVE-2024-3400"),
    S("tag", "cve.2021.1675.5 and cve.1821.1675 and xcve.2021.1675 and cve.2021.16"),
    S("in short", "T1059.001/003 ran first", "mitre_attack T1059.001", "mitre_attack T1059.003"),
    S("in short", "T1059.001/.003/005", *(f"mitre_attack T1059.00{n}" for n in (1, 3, 5))),
    S("in short", "as of T1059.001/2024", "mitre_attack T1059.001"),
    S("broken line", "PowerShell (T1059.\n001) ran", "mitre_attack T1059.001"),
    S("broken line", "a script (T1059.\n2024 was quiet)", "mitre_attack T1059"),
    S("broken line", "with command-\nand-control at gale-post[.]com", GALE),
    S("broken line", "Domains-\ngale-post[.]com", GALE),
    S("broken line", "the c2-\ngale-post[.]com", GALE),
    S("broken line", "- first list -\ngale-post[.]com", GALE),
    S("broken line", "mist-post[.]top-\ngale-post[.]com", GALE, MIST),
    S("broken line", "hxxp://gale-post[.]com/a[.]\ntop of the page", "url http://gale-post.com/a", GALE),
    S("broken line", "it asked gale-post[.]com[.]\nThe end", GALE),
    # --- rows of values with commas between them
    S("row", "url,http://45.61.136.47/a/b.ps1,stage 1", "url http://45.61.136.47/a/b.ps1", "ip 45.61.136.47"),
    S("row", "http://45.61.136.47/b.exe,payload,2024-01-01", "url http://45.61.136.47/b.exe", "ip 45.61.136.47"),
    S("row", "url,hxxp://gale-post[.]com/gate,stage", "url http://gale-post.com/gate", GALE),
    S("row", "hxxp://gale-post[.]com/gate,payload,2024-01-01", "url http://gale-post.com/gate", GALE),
    S("row", "hxxp://gale-post[.]com/news,123", "url http://gale-post.com/news,123", GALE),
    S("row", "hxxp://gale-post[.]com/a?b=1,2,3", "url http://gale-post.com/a?b=1,2,3", GALE),
    S("row", "hxxp://gale-post[.]com/a,b/c.html", "url http://gale-post.com/a,b/c.html", GALE),
    # --- ports and logs
    S("port", "45.61.136[.]47:53/udp, gale-post[.]com:443/tcp", "ip 45.61.136.47", GALE),
    S("port", "45.61.136[.]47:53/udp/a", "url http://45.61.136.47:53/udp/a", "ip 45.61.136.47"),
    S("port", "gale-post[.]com:443/tcp-gate", "url http://gale-post.com:443/tcp-gate", GALE),
    S("port", "gale-post[.]com/tcp", "url http://gale-post.com/tcp", GALE),
    S("port", "45.61.136[.]47/48/49", "ip 45.61.136.47"),
    # --- signs of markup around it
    S("markup", "write to ++gale_drop@seznam.cz++ soon", "email gale_drop@seznam.cz"),
    S("markup", "write to _drop@seznam.cz_ soon", "email drop@seznam.cz"),
    S("markup", "write to __drop@seznam.cz__ soon", "email drop@seznam.cz"),
    S("markup", "write to _drop@seznam.cz soon", "email _drop@seznam.cz"),
    S("markup", "it asked _gale-post[.]com_ first", GALE),
    # --- what leads to a host
    S("lead", "file://45.61.136.47/share/a.lnk", "ip 45.61.136.47"),
    S("lead", "location:\\\\45.61.136.47@80\\x", "ip 45.61.136.47"),
    S("lead", "C:\\\\45.61.136.47\\\\lib.dll"),
    S("lead", "/opt/45.61.136.47/lib"),
    S("range", "scans from 45[.]61[.]136[.]47-49", "ip 45.61.136.47"),
    S("range", "the package is 1.2.3.4-9"),
    # --- a blank before the hyphen, and Chinese right before a CVE
    S("spaced CVE", "最严重的漏洞是CVE -2023-31001和CVE 2023-31002", "cve CVE-2023-31001", "cve CVE-2023-31002"),
    S("spaced CVE", "XCVE -2023-31001 is no number of a flaw"),
    # --- a product behind a full stop, and a path with blanks
    S("name of a product", ARTICLE + "监测发现.windows server 组件被攻击者利用"),
    S("path with blanks", "Indicators\n\n* /Applications/Gale Scan X6.app\n* gale-x6.app\n", "domain gale-x6.app"),
    # --- an article that speaks of a host again means it
    S("spoken of again", ARTICLE + f"It asked gale-post[.]com first.\n{SPREAD}", GALE),
    S(
        "spoken of again",
        ARTICLE
        + f"It asked gale-post[.]com first.\n{SPREAD}The second address resolved to the domain galecon.com in May.\n",
        GALE,
        "domain galecon.com",
    ),
    S("network", "The answers were 2200:: and 2a0b:1306::9 today", "ip 2a0b:1306::9"),
)
