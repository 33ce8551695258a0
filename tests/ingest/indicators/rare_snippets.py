"""What only few write, and what only looks like an indicator, with what an analyst takes from it."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import ARTICLE, MD5, SHA1, S

GALE: Final = "domain gale-post.com"


RARE_SNIPPETS: Final = (
    S("looks", "10:00 Parsing at scale, Mara Holt (mara@galeworks.com)"),
    S("looks", "Our stand at the fair is run by Nora (nora@halvorsen.se), hall 4."),
    S(
        "looks",
        "Emotet was found on PC 12.\n\nThe disk is kept in the safe by Nora, nora@halvorsen.se, until Friday.",
        "malware Emotet",
    ),
    S("looks", "Emotet ran on one PC. Slides of the training are at tarnacademy.org.", "malware Emotet"),
    S(
        "looks",
        "Bonjour, j'ai reçu un SMS : « votre colis attend, payez sur colis-gale24.com ». Est-ce vrai ?",
        "domain colis-gale24.com",
    ),
    S(
        "looks",
        "Mein Vater bekam eine Nachricht: Ihr Konto wird gesperrt, gale-konto.online. Was tun?",
        "domain gale-konto.online",
    ),
    S("looks", "Ho ricevuto un SMS: il pacco è fermo, gale-pacco-mail.info", "domain gale-pacco-mail.info"),
    # --- registries that give out names only below their own
    S("registry", "hxxp://inetworx.co[.]za/a/b.zip", "url http://inetworx.co.za/a/b.zip", "domain inetworx.co.za"),
    S("registry", "hxxps://tarn-school.edu[.]np/x", "url https://tarn-school.edu.np/x", "domain tarn-school.edu.np"),
    S(
        "registry",
        "gale.co[.]jm, gale.com[.]mm, gale.ac[.]pg",
        "domain gale.co.jm",
        "domain gale.com.mm",
        "domain gale.ac.pg",
    ),
    # --- how a URL is written so that it does not work
    S("scheme", "hzzp://gale-post[.]com/a", "url http://gale-post.com/a", GALE),
    S("scheme", "hzzps://gale-post.com/a", "url https://gale-post.com/a", GALE),
    S("scheme", "http[s]://gale-post[.]com/x", "url https://gale-post.com/x", GALE),
    S("scheme", "[hxxp]://gale-post[.]com/x", "url http://gale-post.com/x", GALE),
    S("scheme", "[https]://gale-post[.]com/x", "url https://gale-post.com/x", GALE),
    S("scheme", "hxxp://[gale-post.com]/x", "url http://gale-post.com/x", GALE),
    S("scheme", "hxxp//gale-post[.]com/a", "url http://gale-post.com/a", GALE),
    S("scheme", "it asked hxxps//gale-post.com/a", "url https://gale-post.com/a", GALE),
    S("json", '{"url":"http:\\/\\/gale-post.com\\/x.php"}', "url http://gale-post.com/x.php", GALE),
    S("json", '{"url":"hxxps:\\/\\/gale-post[.]com\\/x\\/y"}', "url https://gale-post.com/x/y", GALE),
    S("wide", "hxxp:\uff0f\uff0fgale-post.com", "url http://gale-post.com", GALE),
    S("wide", "hxxp:\uff0f\uff0fgale-post\uff0ecom\uff0fa", "url http://gale-post.com/a", GALE),
    S("wide", "panel at gale-post\uff0ecom now", GALE),
    S("wide", "panel at gale-post\u2024com now", GALE),
    S("entity", "panel at gale-post&#46;com now", GALE),
    S("entity", "http&#58;&#47;&#47;gale-post&#x2e;com/a", "url http://gale-post.com/a", GALE),
    S("entity", "https://gale-post.com/in/?a=b&amp;c=d", "url https://gale-post.com/in/?a=b&c=d", GALE),
    S("path", "hxxps://gale-post[.]com/a[.]php?b=c[:]d", "url https://gale-post.com/a.php?b=c:d", GALE),
    S("path", "hxxps://gale-post[.]com/a?b=c[:]", "url https://gale-post.com/a?b=c", GALE),
    # --- and a dot or an at
    S("dot", "panel at gale-post<dot>com now", GALE),
    S("dot", "panel at gale-post<.>com now", GALE),
    S("dot", "panel at gale-post[d0t]com now", GALE),
    S("dot", "panel at gale-post [.] com now", GALE),
    S("dot", "it came from 185 [.] 220 [.] 101 [.] 47", "ip 185.220.101.47"),
    S("dot", "45.]1.]1.]1", "ip 45.1.1.1"),
    S("at", "mail to drop AT gale-post.com now", "email drop@gale-post.com", GALE),
    S("at", "THE PANEL AT gale-post.com", GALE),
    S("share", "net use \\\\45.9.1.2\\c$", "ip 45.9.1.2"),
    S("share", "\\\\45.9.1.2@8080\\share", "ip 45.9.1.2"),
    S("share", "copy \\\\gale-post.com\\in\\a.dll", GALE),
    S("share", "C:\\Users\\gale-post.com\\a.dll"),
    # --- what only looks like one
    S("path", "the key HKLM\\Software\\Microsoft\\.NET"),
    S("version", "runs kernel 5.15.0.91"),
    S("version", "the router has firmware 3.0.0.4"),
    S("code", "timezoneinfo.local.id"),
    S("service", "uploaded to any.run"),
    S("mailbox", "xmpp: crew@jabber.ru", "email crew@jabber.ru"),
    S("commit", f"commit {SHA1} fixes it"),
    S("resolver", "nslookup gale-post.com 8.8.8.8", GALE),
    S("resolver", "0.0.0.0 gale-post.com\n127.0.0.1 mist-post.com", GALE, "domain mist-post.com"),
    S("address", "the C2 host 10.0.0.5 is ours", "ip 10.0.0.5"),
    S("address", "127.0.0.1 is home", "ip 127.0.0.1"),
    S("address", "it asks 1.2.3[.]4:80/5.6.7[.]8:81", "ip 1.2.3.4", "ip 5.6.7.8"),
    S("glued", "203.0.113[.]120IPv4VPS at a host", "ip 203.0.113.120"),
    # --- hosts at which anyone may keep files
    S("service", "hxxps://docs.google[.]com/uc?id=1", "url https://docs.google.com/uc?id=1"),
    S("service", "hxxps://cdn.discordapp[.]com/a/1/a.exe", "url https://cdn.discordapp.com/a/1/a.exe"),
    S("service", "https://raw.githubusercontent.com/a/b.ps1", "url https://raw.githubusercontent.com/a/b.ps1"),
    S("service", "hxxps://www.dropbox[.]com/s/a", "url https://www.dropbox.com/s/a"),
    S("service", "it asked pastebin[.]com", "domain pastebin.com"),
    # --- names of malware
    S("malware", "the Snake keylogger", "malware Snake Keylogger"),
    S("malware", "Malware: emotet, cl0p", "malware Emotet", "malware Cl0p"),
    S("malware", "used Brute Ratel to stay", "malware Brute Ratel"),
    S("malware", "it is a loader for Snake", "malware Snake"),
    S("malware", "we call its operators Copper Finch"),
    # --- a host that ends in a number that no address ends in
    S("broken", '<a href="http://g)~)Aale-post.http://gale-post.cod4b7e85609f1a2c3b4d5e6f7'),
    # --- variants that a scanner numbers
    S(
        "variants",
        "=== Trojan.OrlopPipe.1\n\nfirst\n\n=== Trojan.OrlopPipe.2\n\nsecond\n\n=== Trojan.OrlopPipes.3\n\nthird\n",
        "malware Trojan.OrlopPipe",
    ),
    S("variants", "=== Trojan.OrlopPipe.1\n\nfirst\n", "malware Trojan.OrlopPipe.1"),
    # --- what of a program or an address has the length of a hash
    S("name in code", f"The method is called `_{MD5}` and begins:\nstatic void _{MD5}() {{"),
    S("name in code", f"Dropped as gale_{MD5}.exe", f"hash_md5 {MD5}"),
    S(
        "part of a URL",
        f"hxxps://5b8e2f1c-0d9a-4736-b1f2-0b3c4d5e6f70.gale-post[.]com/ugd/b90ce7_{MD5}.pdf",
        f"url https://5b8e2f1c-0d9a-4736-b1f2-0b3c4d5e6f70.gale-post.com/ugd/b90ce7_{MD5}.pdf",
        "domain 5b8e2f1c-0d9a-4736-b1f2-0b3c4d5e6f70.gale-post.com",
    ),
    S(
        "part of a URL",
        f"http://45.61.136.47/officeDocument/2006/relationships/templates.dotm,Gale,Gale,{MD5}",
        "ip 45.61.136.47",
        "url http://45.61.136.47/officeDocument/2006/relationships/templates.dotm",
        f"hash_md5 {MD5}",
    ),
    # --- what stands in a page of Markdown
    S("picture", ARTICLE + '\n<img src="https://pixel.gale-count.com/a.gif?h=1"/>\n'),
    S(
        "identifier",
        ARTICLE + "It posts to https://gale-post.zone/3f2a90c1-d4b7-4e85-b096-f1a2c3b4d5e6 and that server is the C2.",
        "url https://gale-post.zone/3f2a90c1-d4b7-4e85-b096-f1a2c3b4d5e6",
        "domain gale-post.zone",
    ),
    # --- where references end
    S(
        "references end",
        ARTICLE + "\n## References\n- https://mistwell.io/gale\n\n## Gates of it\n```\ngale-post.zone\n```\n",
        "domain gale-post.zone",
    ),
    S("references end", ARTICLE + "\n## References\n\n### Others\n```\ngale-post.zone\n```\n"),
    S(
        "references end",
        ARTICLE + "\nAutor: Kersti Gale\n\nThe C2 server is gale-post.zone.\n",
        "domain gale-post.zone",
    ),
    # --- where a sentence begins
    S(
        "sentence",
        ARTICLE + "They asked for a key.\ngale-post.zone\nmist-post.zone\n",
        "domain gale-post.zone",
        "domain mist-post.zone",
    ),
    # --- from where nobody is answered
    S("mailbox", ARTICLE + "\nSender: Post <noreply@gale-post.zone>", "email noreply@gale-post.zone"),
    # --- addresses that very many share, what a writer left out, and fields of authors
    S("shared", "The phishing page sits behind 104.21.44.12 (the CDN), the real C2 is 45.9.148.3.", "ip 45.9.148.3"),
    S("shared", "Malware: the page resolved to 172.67.12.9 in May; payload from 45.9.148.3.", "ip 45.9.148.3"),
    S("shared", "C2: 104.21.44.12\nC2: 45.9.148.3", "ip 104.21.44.12", "ip 45.9.148.3"),
    S("left out", "Malicious host xx.xx.xx.xx in the report, really 45.9.148.3", "ip 45.9.148.3"),
    S("left out", "The attacker came from 82.xxx.xxx.xxx in the night."),
    S(
        "author's field",
        "maintainer_email = 'jane@gale-labs.io'\nThe malicious package calls 45.9.148.3",
        "ip 45.9.148.3",
    ),
    S("author's field", "Author-email: bob@mist-works.org\nInfected wheel contacts 45.9.148.3", "ip 45.9.148.3"),
)
