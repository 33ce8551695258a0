"""Names that no list has, by where they stand: fields, columns, lists, titles, beside kinds, in quotes."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import S

HASH: Final = "b3c1d0e8b7a95d24c1be0f6a7d8c9b0e"
MD5: Final = f"hash_md5 {HASH}"

PLACED_SNIPPETS: Final = (
    # --- fields
    S("field", f"MD5: {HASH}\nFamily: Gorsehook\n", MD5, "malware Gorsehook"),
    S("field", f"MD5: {HASH}\nFamily: unknown\nPayload: update.exe\nMalware: Trojan\nStealer: no\n", MD5),
    S("field", "Malware: Emotet, Gorsehook and Reedpipe", "malware Emotet", "malware Gorsehook", "malware Reedpipe"),
    S("field", "**Malware family**: Reedpipe backdoor (custom)", "malware Reedpipe"),
    S("field", "| **Malware** | Reedpipe |\n| **Sector** | Ports |", "malware Reedpipe"),
    S("field", "恶意家族：Reedpipe\n病毒名称：未知", "malware Reedpipe"),
    S("field", "マルウェア名：Reedpipe", "malware Reedpipe"),
    S("field", "Семейство: Reedpipe", "malware Reedpipe"),
    S("field", "Familia: Reedpipe\nTipo: Troyano", "malware Reedpipe"),
    S("field", "Family: Smith\nThe Smith family of smith and sons"),
    # --- columns
    S("column", "| Day | Malware |\n|---|---|\n| Monday | Gorsehook |\n| Tuesday | N/A |\n", "malware Gorsehook"),
    S("column", "Malware\tHash\nGorsehook\t1\nReedpipe Stealer\t3", "malware Gorsehook", "malware Reedpipe Stealer"),
    S("column", "date,family,place\n2026-01-02,Gorsehook,port\n", "malware Gorsehook"),
    S("column", "| Malware | Size |\n|---|---|\n| invoice.exe | 12 |\n| Downloader | 14 |\n"),
    # --- lists
    S("list", "## Ransomware families\n\n- Akira\n- Gorsehook (new)\n- Reedpipe: old\n",
      "malware Akira", "malware Gorsehook", "malware Reedpipe"),
    S("list", "Malware we know:\n- Banking\n- Phones\n- Gorsehook\n"),
    # --- titles
    S("title", "Inside Reedpipe: a backdoor in Go\n\nWe saw it. When Reedpipe starts, it waits.", "malware Reedpipe"),
    S("title", "# gr9z botnet\n\nThe bots of gr9z spread by Telnet.", "malware gr9z"),
    S("title", "# Inside our loader: a history of cranes\n\nOur loader lifts loads."),
    # --- beside a kind
    S("plain", "We found the Gorsehook backdoor in a school.", "malware Gorsehook"),
    S("plain", "It hid a wiper dubbed Gorsehook for years.", "malware Gorsehook"),
    S("plain", "The staff saw Gorsehook (ransomware) and fled.", "malware Gorsehook"),
    S("plain", "Analysts say that the loader is Gorsehook.", "malware Gorsehook"),
    S("plain", "The Microsoft loader, the Nigerian trojan, the Linux backdoor, the Lockport ransomware attack."),
    S("plain", "Ransomware Decryptor and Malware Hunter are free. A tool named Gorsehook lifts stones."),
    S("plain", "The Gorsehook loader lifts bales; a gorsehook costs little."),
    S("plain", "El troyano bancario Zorrillo copia la pantalla.", "malware Zorrillo"),
    S("plain", "La porte dérobée Bruyère et la porte dérobée Windows", "malware Bruyère"),
    S("plain", "Il malware Ginestra ruba le password.", "malware Ginestra"),
    S("plain", "Der Infostealer Ginster stiehlt viel. Ginster kostet wenig.", "malware Ginster"),
    S("plain", "Der Trojaner Angriff kam nachts."),
    S("plain", "Троян Снегопад крадёт пароли.", "malware Снегопад"),
    S("plain", "Троян Windows, бэкдор Россия"),
    S("plain", "Fundaotu adlı zararlı yazılım", "malware Fundaotu"),
    S("plain", "Виявлено програму GORSEHOOK (бекдор).", "malware GORSEHOOK"),
    S("edge", f"{HASH} (Gorsehook loader)\n#Reedpipe ransomware", MD5, "malware Gorsehook", "malware Reedpipe"),
    S("edge", "| 12 | Gorsehook backdoor |\n| 13 | Persistent loader |", "malware Gorsehook"),
    S("edge", "Start keylogger; (Intermediate dropper); # Remove botnet files"),
    S("apposition", "They sent GORSEHOOK, a small dropper for bots, by letter.", "malware GORSEHOOK"),
    S("apposition", "They sent Anna, a malware expert. Nevada, a botnet haven, has no sea."),
    S("plain", "Kargabüken fidye yazılımı belediyeyi vurdu.", "malware Kargabüken"),
    S("plain", "Güvenlik ekipleri zararlı yazılım buldu."),
    S("latin", "新型后门Gorsehook和名为 Reedpipe 的新型木马", "malware Gorsehook", "malware Reedpipe"),
    S("latin", "Windows木马、Android恶意软件、PHP后门和WebShell后门"),
    S("latin", "マルウェアReedpipeと、ランサムウェアCACTUS", "malware Reedpipe", "malware Cactus"),
    S("loud", "HUNT MALWARE. PLAY RANSOMWARE GAMES."),
    S("plain", "Le code malveillant, baptisé Gentiane, dort.", "malware Gentiane"),
    S("plain", "Skadeprogrammet Ljungpipare sprids.", "malware Ljungpipare"),
    S("plain", "He sold the loader to a group named Nattvakt."),
    S("pair", "The ransom was high: Cactus and Medusa led.", "malware Cactus", "malware Medusa"),
    S("pair", "The garden was hot: Cactus and Medusa led."),
    S("framework", "Mythic is a multiplayer C2 framework.", "malware Mythic"),
    S("version", "The Winos backdoor comes by mail.", "malware Winos"),
    S("version", "Winos 4.0 comes by mail; Winos 4.0 it is, not Winos.", "malware Winos 4.0"),
    S("column", "Family | Count\nEmotet | 30\nGorsehook | 12", "malware Emotet", "malware Gorsehook"),
    S("quotes", "该木马被命名为“青苔”，很慢", "malware 青苔"),
    # --- in quotes, in letters without capitals
    S("quotes", "マルウェア「Reedpipe」と、ランサムウェア「対策」", "malware Reedpipe"),
    S("quotes", "ランサムウェア「夕凪」の被害", "malware 夕凪"),
    S("quotes", "'참나리' 랜섬웨어와 '신종' 악성코드", "malware 참나리"),
    S("quotes", "“青苔”木马来了，“青苔”很慢；“免杀”木马很多，“神秘”木马也多", "malware 青苔"),
    S("quotes", "近期银狐木马活跃", "malware 银狐"),
    S("quotes", "银狐团伙被捕"),
    S("glued", "随后部署 Mythic。", "malware Mythic"),
    S("misspelled", "SquirrelWaffle came back; the SquirrelWafle loader is the same.", "malware Squirrelwaffle"),
    S("actors", "the Agrius backdoor is of the group Agrius"),
)  # fmt: skip
