"""How texts of several languages name malware: what no list has, and everyday words."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import S

NAMING_SNIPPETS: Final = (
    S("named", "Der Trojaner namens NebelFalke stiehlt Passwörter.", "malware NebelFalke"),
    S("named", "El malware denominado PatoNegro roba contraseñas de los clientes.", "malware PatoNegro"),
    S("named", "Un ransomware appelé « GrandeOurse » a touché la mairie.", "malware GrandeOurse"),
    S("named", "Il malware, da noi chiamato LupoGrigio, legge la posta.", "malware LupoGrigio"),
    S("named", "Троян под названием MedvedBot крадёт пароли.", "malware MedvedBot"),
    S("named", "Keluarga malware ini sering disebut KucingRAT oleh peneliti.", "malware KucingRAT"),
    S("named", "The notice is about FENWALLOW ransomware and those who pay for it.", "malware FENWALLOW"),
    S("named", "Two implants: BRIARHOOK (loader) and SEDGELARK (silent backdoor on IIS).",
      "malware BRIARHOOK", "malware SEDGELARK"),
    S("named", "SpyOtter is stalkerware that its maker sells to parents.", "malware SpyOtter"),
    S("named", "The group called BlueOtters uses malware of others."),
    S("named", "URGENT malware warning: call the desk."),
    S("everyday", "El grupo Hive cifró los servidores del ayuntamiento.", "malware Hive"),
    S("everyday", "Medusa verschlüsselte die Daten der Stadtwerke.", "malware Medusa"),
    S("everyday", "该组织使用的木马名为Denis，已有多年。", "malware Denis"),
    S("everyday", "La colmena, hive en inglés, cifra su valor en miles de abejas."),
    # --- what an everyday word is used as, who did it, and what the text speaks of
    S("serves", "They chose Havoc as their open C2 server of choice.", "malware Havoc"),
    S("serves", "They chose Havoc as a title for the film."),
    S("serves", "攻撃者は Mythic をフレームワークとして利用した。", "malware Mythic"),
    S("serves", "공격자는 Sliver 프레임워크로 명령을 보냈다.", "malware Sliver"),
    S("serves", "攻击者随后部署了Pegasus间谍软件。", "malware Pegasus"),
    S("serves", "公司部署了新的网关，并使用 Spring 框架。"),
    S("serves", "Seen: LockBit、Beast和Trinity等新型勒索软件", "malware LockBit", "malware beast", "malware Trinity"),
    S("serves", "the Osiris Banking Trojan and the Osiris of old Egypt", "malware Osiris"),
    S("serves", "They deployed Chaos Monkey and installed Hive Metastore."),
    S("extortion", "Il riscatto è alto: l'attacco è rivendicato da Lynx.", "malware Lynx"),
    S("extortion", "Il libro è stato rivendicato da Lynx, un autore."),
    S("extortion", "Le gang Cactus a publié la rançon demandée.", "malware Cactus"),
    S("extortion", "Le groupe Cactus joue du jazz au théâtre."),
    S("extortion", "Group: Play\nVictim: a dairy\nSource: ransomware leak site", "malware Play"),
    S("extortion", "Group: Play\nAge: six and seven"),
    S("extortion", "Akira publicó los datos robados del puerto.", "malware Akira"),
    S("extortion", "Akira publicó su tercer disco."),
    S("row", "C2 45.61.136.47:31337 (Sliver)", "ip 45.61.136.47", "malware Sliver"),
    S("row", "b3c1d0e8b7a95d24c1be0f6a7d8c9b0e - Donut", "hash_md5 b3c1d0e8b7a95d24c1be0f6a7d8c9b0e", "malware Donut"),
    S("chain", "IcedID > Cobalt Strike > Akira", "malware IcedID", "malware Cobalt Strike", "malware Akira"),
    S("deeds", "Operation Emotet and the campaign Ursnif ended; files end in .locky or .lockbit now."),
    S("deeds", "Emotet came back in Operation Endgame.", "malware Emotet"),
    S("share a name", "Kimsuky, also Black Banshee, sold coins at Kraken. Press Backspace; keep the lockfile."),
    S("share a name", "the Banshee stealer and the Kraken ransomware", "malware BANSHEE", "malware Kraken"),
    # --- hosts and mailboxes that the words before them give away
    S("host", "ถูกควบคุมจากเซิร์ฟเวอร์ควบคุมที่ gale-post.xyz มานาน", "domain gale-post.xyz"),
    S("host", "Trojan łączy się z gale-post.xyz co godzinę.", "domain gale-post.xyz"),
    S("host", "Falešná stránka: gale-post.info, už zablokovaná.", "domain gale-post.info"),
    S("host", "Bloquez aussi gale-post.xyz dans la box.", "domain gale-post.xyz"),
    S("host", "In our sandbox the string decodes to gale-post.su", "domain gale-post.su"),
    S("host", "The MX record of gale-post.biz was set by the phishers in May.", "domain gale-post.biz"),
    S("host", "Seen: gale[.]net\n\n45.61.136.47\nmist-post.lol\n",
      "ip 45.61.136.47", "domain gale.net", "domain mist-post.lol"),
    S("host", "Staff and guests liked mist-post.lol better than all others of that year."),
    S("mailbox", "Записка требует писать на gale@mist-post.top до пятницы.",
      "email gale@mist-post.top", "domain mist-post.top"),
    S("mailbox", "Beware of fakes such as desk@mist-post.top", "email desk@mist-post.top", "domain mist-post.top"),
    # --- what a scanner's label calls a family is its name elsewhere
    S(
        "scanner's label",
        "BackDoor.Bumblebee.39 was found. Tags: Bumblebee",
        "malware BackDoor.Bumblebee.39",
        "malware Bumblebee",
    ),
    S("scanner's label", "The flower had a Bumblebee. It called backdoor.open() of Bumblebee()"),
)  # fmt: skip
