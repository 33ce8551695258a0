"""What stands in a text and belongs to no attacker, with the little beside it that does."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import MD5, SHA1, SHA256, S

TEST_SHA1: Final = "3395856ce81f2b7382dee72602f798b642f14140"
TEST_SHA256: Final = "275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f"

GALE: Final = "ip 45.61.136.47"


HARMLESS_SNIPPETS: Final = (
    # --- addresses that are no one's, and those that everybody asks
    S("no one's", "The agent pings 8.8.8.8 and 9.9.9.9 to see whether it is online, then sleeps for an hour."),
    S("no one's", "Our switch announces itself on fe80::2aa:ff:fe12:7 and on 239.1.2.3 every few seconds."),
    S("no one's", "The service listens on 127.0.0.1 and 0.0.0.0 only, says the manual of the product."),
    S("no one's", "The printer at 10.3.2.9 and the scanner at 192.168.44.12 were replaced on Monday."),
    S("no one's", "Hij vraagt 1.1.1.1 om een naam en daarna 255.255.255.255 om een adres, zei de beheerder."),
    S("no one's", "Dans le TP la cible http://192.168.77.5:8080/login.php tourne sur une machine virtuelle."),
    S("no one's", "10.3.2.9", "ip 10.3.2.9"),
    S("no one's", "The malware's C2 server is 10.3.2.9 in this lab", "ip 10.3.2.9"),
    S("no one's", "The implant resolves its panel over 8.8.4.4 and reports to 45.61.136.47 at night.", GALE),
    S("no one's", "DNS servers: 10.0.0.1, 81.23.45.66"),
    S("counting", "The badge 22.33.44.55 was found on the third floor, near the lift."),
    S("counting", "The table's cell 7.7.7.7 holds the mean, see also 5.6.7.8 in the appendix."),
    S("counting", "The sticker below the shelf reads 21.43.65.87 in red letters, as all of them do."),
    S("counting", "Attackers scanned from 1.2.3.4 and then logged in", "ip 1.2.3.4"),
    S("somebody's own", "O endereço 81.23.45.66 era da nossa filial; o ataque veio de 45.61.136.47 à noite.", GALE),
    S("somebody's own", "Unser Zeitserver ist uhr.werk.de (81.23.45.66). Der Angriff kam von 45.61.136.47.", GALE),
    S("somebody's own", "攻撃元は45.61.136.47です。弊社の監視サーバ 81.23.45.66 は除外してください。", GALE),
    S("somebody's own", "공격 주소는 45.61.136.47이다. 당사 점검 서버는 81.23.45.66이다.", GALE),
    S("scanners", "Attacks: 45.61.136.47. Censys (81.23.45.66) and Shodan's scanners (81.23.45.67) are noise.", GALE),
    S("scanners", "Der Crawler unter 81.23.45.66 ist völlig unverdächtig, die Anmeldung von 45.61.136.47 nicht.", GALE),
    # --- versions
    S("versions", "We upgraded the gateway from 31.4.2.3 to 31.4.2.6 last night."),
    S("versions", "The C2 moved from 45.61.136.47 to 45.61.136.48 after the update.", GALE, "ip 45.61.136.48"),
    S("versions", "Opdater programmet til 14.2.1.3 i dag, skriver firmaet bag det."),
    S("versions", "Yazıcı sürümü 9.0.1.4 olan kurumlar etkilenmiyor, dedi sözcü."),
    S("versions", "อัปเดตแอปเป็นเวอร์ชัน 6.2.0.3 ทันที"),
    S("versions", "路由器韌體 3.0.2.8 已修補這個問題。"),
    S("versions", "Die Ausgabe folgt schema 2.1.0.5 und wird nachts erzeugt."),
    S("versions", "Customers who upgraded from 7.1.3.2 saw no change in the console."),
    S("versions", "| Package | Version | Size |\n|-|-|-|\n| agent | 5.3.0.2 | 12 MB |\n| gale | 2.0.4.1 | 3 MB |"),
    S("versions", "Name\tFirmware\tAddress\nfront door\t4.0.2.9\t45.61.136.47", GALE),
    S("versions", "4. Ursachen\n4.1.1.2 Die Richtlinie fehlte seit dem Umzug.\n4.1.1.3 Niemand hat es bemerkt."),
    S("versions", "См. пункт 3.2.1.4 договора о сопровождении, подписанного в мае."),
    S("versions", "Sections 4.1 and 4.2 tell of the loader.\nServer: 45.61.136.47", GALE),
    S(
        "versions",
        "| CVE | Affected | Fixed in |\n|---|---|---|\n| CVE-2026-20455 | 12.0.0.0 - 12.4.7.19 | 12.4.8.3 |",
        "cve CVE-2026-20455",
    ),
    S("versions", "| Affected host | Contacted |\n|---|---|\n| front desk | 45.61.136.47 |", GALE),
    # --- a link that holds another, as those do by which readers share a page
    S(
        "share",
        "The report tells how letters led to the page. " * 40
        + "\n\n* [Share](https://www.tumblr.com/share/link?url=https%3A%2F%2Fwww.bleepingcomputer.com%2Fnews%2Fsecurity%2Fletters%2F&n=x)",
    ),
    S(
        "share",
        "panel hxxps://go.gale-post[.]com/?u=https%3A%2F%2Fgale-post.com%2Fin",
        "url https://gale-post.com/in",
        "url https://go.gale-post.com/?u=https%3A%2F%2Fgale-post.com%2Fin",
        "domain gale-post.com",
        "domain go.gale-post.com",
    ),
    S("share", "panel hxxps%3A%2F%2Fgale-post.com%2Fin", "url https://gale-post.com/in", "domain gale-post.com"),
    # --- whose an address is
    S("whose", "The seized name now resolves to a sinkhole run by the police, 45.61.136.47, says the report."),
    S("whose", "Correction: an earlier issue of this letter named 45.61.136.47 as a server of the gang."),
    S("whose", "On 3 May we removed the address 45.61.136.47 from the table, for it belongs to a hospital."),
    S("whose", "Bitte nicht sperren: 45.61.136.47 und 45.61.136.49 sind Anschlüsse unserer Kunden."),
    S("whose", "Do not block cdn.gale-post.com or 45.61.136.47, which many shops need for their pages."),
    S("whose", "45.61.136.47 turned out to be Akamai, so the alert was closed by the analyst on duty."),
    S("whose", "L'adresse 45.61.136.47 appartient à Cloudflare et ne sert pas à l'attaque décrite ici."),
    S("whose", "Our uptime checks come from 45.61.136.47 and 45.61.136.49, every five minutes or so."),
    S("whose", "0.97   45.61.136.47   443   gutartig (Update)\n0.96   45.61.136.49   443   boshaft", "ip 45.61.136.49"),
    S("whose", "[+] DNS A? update.microsoft.com -> 45.61.136.49\n[+] TCP 45.61.136.47:443\n", GALE),
    S("whose", "deny from 45.61.136.49\ndeny from paypal.com"),
    S("whose", "In our slides 203.0.113.77 stands for the intruder and 198.51.100.4 for the bank."),
    S("whose", "After the sinkhole was lifted the bots moved to 45.61.136.47, a server in Riga.", GALE),
    S("whose", "The loader is hosted at Hetzner; its server 45.61.136.47 is malicious and still up.", GALE),
    # --- what has the form of a hash and is the hash of no sample
    S("no sample", f"Run git checkout {SHA1} to get the tree that we built from."),
    S("no sample", f"Ana Gale, response team, GPG {SHA1}"),
    S("no sample", f"De vingerafdruk van het certificaat is bekend: {SHA1}"),
    S("no sample", f"Le certificat a pour numéro de série {MD5}, selon le registre."),
    S("no sample", f"Set-Cookie: laravel_session={SHA256}; path=/"),
    S("no sample", f"wheel==1.0 --hash=sha256:{SHA256}"),
    S("no sample", f"latest: digest: sha256:{SHA256} size: 99"),
    S("no sample", f"svc_backup:1108:{MD5}:{MD5[::-1]}:::"),
    S("no sample", f"The browser add-on (id {MD5}) was pulled from the shop."),
    S("no sample", f"Der Wert {MD5} ist ein Sitzungsschlüssel und steht in jedem Protokoll."),
    S("no sample", f"The value {SHA256} is the session token of our own account."),
    S("no sample", f"Solved! flag{{{MD5}}} was the answer."),
    # What reports give for a sample is one, even where it is the test file's: the text has to name that.
    S("no sample", f"The payload has the SHA-1 {TEST_SHA1}.", f"hash_sha1 {TEST_SHA1}"),
    S("no sample", f"The dropper: {TEST_SHA256}", f"hash_sha256 {TEST_SHA256}"),
    S("no sample", f"We sent the EICAR file, {TEST_SHA1} and {TEST_SHA256}, through the gateway."),
    S("no sample", f"The antivirus test file is {TEST_SHA256}."),
    S("no sample", f'sha256("hello world") is {SHA256}; the malware asks for it.'),
    S("no sample", f"For an empty input the malware stores {MD5}."),
    S("no sample", f"A clean copy of ntdll.dll has SHA-256 {SHA256}, unlike the malware."),
    S("no sample", f"A patched copy of ntdll.dll has SHA-256 {SHA256}.", f"hash_sha256 {SHA256}"),
    S("no sample", f"Die unveränderte Version von 7-Zip (MD5 {MD5}) lag neben der Schadsoftware."),
    S("no sample", f"官方安装包的 SHA256 为 {SHA256}，木马另有其名。"),
    S("no sample", f"The AES-256 key {SHA256} is in the binary."),
    S("no sample", f"The loader {SHA1} is the first stage of the attack.", f"hash_sha1 {SHA1}"),
    S("no sample", f"Der Wurm {MD5} ist ein alter Bekannter.", f"hash_md5 {MD5}"),
    S("no sample", f"extension .gale, sample {MD5} was packed", f"hash_md5 {MD5}"),
    # --- whose a mailbox or a site is
    S("contact", "Victim, Gale Freight (gale-freight.co.uk), got the malware from 45.61.136.47.", GALE),
    S("contact", "La víctima, Gale Norte (www.gale-norte.es), recibió el troyano de 45.61.136.47.", GALE),
    S("contact", "The trojan wrote from hr@gale-freight.co.uk, the real mailbox of the victim."),
    S("contact", "The victim’s public address was 212.227.15.44; the attacker came from 45.61.136.47.", GALE),
    S("contact", "Unser Mailserver (81.169.145.97) nahm den Trojaner von 45.61.136.47 an.", GALE),
    S("contact", "abuse-mailbox: abuse@gale-hosting.net, where the malware stood at 45.61.136.47.", GALE),
    S("contact", "Der Provider (abuse@gale-hosting.net) hat den Server 45.61.136.47 abgeschaltet.", GALE),
    S("contact", "Report the phishing to incidents@gale-cert.org or to csirt@gale-uni.de, with all headers."),
    S("contact", "Laporkan penipuan ini ke halo@gale-bank.co.id atau ke polisi."),
    S("contact", "Şüpheli mesajları uyari@gale-banka.com.tr adresine iletiniz."),
    S("contact", "Sesizați frauda la alerta@gale-banca.ro, apoi schimbați parola."),
    S("contact", "Gale Security AB, Malmö · erik@gale-sec.se · Org.nr 556677-8899"),
    S("contact", "The lure came from support@gale-post.com", "email support@gale-post.com", "domain gale-post.com"),
    S("site", "Phishing: gale-post.top. Resmi: galebank.co.id", "domain gale-post.top"),
    S("site", "Phishing: gale-post.top; prawdziwa strona to galebank.pl.", "domain gale-post.top"),
    S("site", "Our update feed is https://feed.gale-tools.org/stable.json, the malware used another one."),
    S("site", "The beacon sends a host header of www.gale-weather.co.za to hide its C2 traffic."),
    S("site", "It also hosted the malware's panel and the chess club at gale-chess.de for years."),
    S("site", "The bot asks tracker.gale-torrent.com for peers and joins the attack."),
    # --- numbers
    S("number", "Gate T1041 closes at noon, said the voice in the hall."),
    S("number", "The pump T1003-C needs a new seal, order number T1204."),
    S("number", "They used T1041 to send it out, see task T1204.", "mitre_attack T1041"),
    S("number", "Fixed this week: CVE 2026 21999.", "cve CVE-2026-21999"),
    S("number", "Subject: C=SE, O=Gale AB, E=desk@gale-firm.se (a stolen certificate)"),
    # --- a maker's own file, in Chinese
    S("maker's file", f"正规文件 MD5: {MD5}"),
    S("maker's file", f"正版软件的 MD5：{MD5}"),
    S("maker's file", f"伪装成正版软件的木马 MD5：{MD5}", f"hash_md5 {MD5}"),
    S("maker's file", f"仿冒正规软件，样本 MD5：{MD5}", f"hash_md5 {MD5}"),
    # --- what looks like the above, and is an indicator
    S("indicator", "The update server at 45.12.4.17 pushed the installer of the trojan.", "ip 45.12.4.17"),
    S("indicator", "The address 45.61.136.47 (hosted at Google Cloud) served the payload.", GALE),
    S("indicator", f"Sample ID: {MD5}", f"hash_md5 {MD5}"),
    S("indicator", "In our training set the C2 at 45.61.136.47 was seen every day.", GALE),
)  # fmt: skip
