"""Hashes of samples, and of files and other things that harm nobody, as the words around them tell."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import S

MD5: Final = "b59ba08e8f21459167eee8a1fcf9fcdf"
OTHER_MD5: Final = "9e107d9d372bb6826bd81d3542a419d6"
SHA1: Final = "1573c03f1af16b0099e33c178903f6a3fd6a8389"
OTHER_SHA1: Final = "f432ec9efad6a04c5cce69cadd14d783416a6aaf"
SHA256: Final = "3d05b363bc40880b6c2cc9c15cfcf8c66741181b290d7c15a5b8649a7a7cbdad"
OTHER_SHA256: Final = "9beb93854dfe8480c5ad59f5afc000d4cc91c4cad891fa32440fd11be36e5c89"


HASH_SNIPPETS: Final = (
    S(
        "called clean later",
        f"The file is gale-viewer.exe 2.1, SHA-256 {SHA256}, VirusTotal 0/71. Closing as false positive.",
    ),
    S("called clean before", f"Le tableur joint (bilan.xlsx) est propre, SHA1 {SHA1}."),
    S("called clean before", f"Это ложное срабатывание, хеш {SHA256} принадлежит редактору."),
    S("called clean before", f"火绒误报了这个日历工具，文件哈希{MD5}。"),
    S("called clean before", f"Known-good hashes of the viewer: SHA256 {SHA256}"),
    S(
        "all of an item, below what is no file's hash",
        f"The loader:\n\nImphash:\n- `{MD5}`\n\nMD5:\n- `{OTHER_MD5}`\n- `d41d8cd98f00b204e9800998ecf8427e`\n",
        f"hash_md5 {OTHER_MD5}",
    ),
    S("not clean", f"这不是误报，哈希{MD5}。", f"hash_md5 {MD5}"),
    S("not clean", f"Kein Fehlalarm: SHA256 {SHA256} ist nicht sauber.", f"hash_sha256 {SHA256}"),
    S("not clean", f"Ce n'est pas un faux positif : SHA1 {SHA1}.", f"hash_sha1 {SHA1}"),
    S("not clean", f"오탐이 아니다. 해시 {MD5} 확인.", f"hash_md5 {MD5}"),
    S("not clean", f"It is no false positive, the file with SHA-256 {SHA256} drops a miner.", f"hash_sha256 {SHA256}"),
    S(
        "the next sentence speaks of the next hash",
        f"Amostra: {MD5}. O programa gale-viewer.exe (legítimo, assinado) tem MD5 {OTHER_MD5}.",
        f"hash_md5 {MD5}",
    ),
    S("same file, both", f"The clean installer has SHA-1 {SHA1}, SHA-256 {SHA256}."),
    S(
        "same file, both",
        f"Do not block these, they belong to the vendor's original installer.exe:\nMD5: "
        f"{MD5}\nSHA-1: {SHA1}\nSHA-256: {SHA256}\n",
    ),
    S(
        "same file, both",
        f"The dropper has MD5 {MD5}, SHA-1 {SHA1}, SHA-256 {SHA256}.",
        f"hash_md5 {MD5}",
        f"hash_sha1 {SHA1}",
        f"hash_sha256 {SHA256}",
    ),
    S("same file, both", f"SHA-256 of the image: `{SHA256}`, SHA-1 `{SHA1}`; get it from our download page."),
    S("same file, both", f"Saubere Originaldatei: MD5 {MD5}, SHA-1 {SHA1}"),
    S(
        "cell after",
        f"| SHA-256 | {SHA256} | unveränderte `login.cgi` (22.3R1) |\n| SHA-256 | {OTHER_SHA256} | Implantat |",
        f"hash_sha256 {OTHER_SHA256}",
    ),
    S(
        "cell after",
        f"| {SHA256} | loader.dll, sideloaded |\n| {OTHER_SHA256} | clean copy of node.exe, as shipped |",
        f"hash_sha256 {SHA256}",
    ),
    S(
        "cell after",
        f"| {SHA256} | archivo legítimo de Adobe |\n| {OTHER_SHA256} | cargador |",
        f"hash_sha256 {OTHER_SHA256}",
    ),
    S(
        "cell after",
        f"{SHA256}\tfichier d'origine, non modifié\n{OTHER_SHA256}\timplant",
        f"hash_sha256 {OTHER_SHA256}",
    ),
    S("cell after", f"{SHA256}\t原始文件，未被篡改\n{OTHER_SHA256}\t木马", f"hash_sha256 {OTHER_SHA256}"),
    S("cell after", f"{MD5} 변조되지 않은 원본 파일\n{OTHER_MD5} 악성코드", f"hash_md5 {OTHER_MD5}"),
    S("cell after", f"{MD5} 改ざんされていない正規ファイル\n{OTHER_MD5} マルウェア", f"hash_md5 {OTHER_MD5}"),
    S("cell after", f"{MD5} файл без изменений, для сравнения\n{OTHER_MD5} вредоносный", f"hash_md5 {OTHER_MD5}"),
    S("cell after", f"| {MD5} | legitimate-looking loader |", f"hash_md5 {MD5}"),
    S("cell after", f"| {MD5} | modified copy of the original file |", f"hash_md5 {MD5}"),
    S("after", f"jQuery kopyasının özeti ({MD5}) ise orijinal dosyayla aynıdır, engellemeyin."),
    S("after", f"Yükleyicinin özeti {MD5}, zararlı yazılım sunucuya bağlanır.", f"hash_md5 {MD5}"),
    S(
        "after",
        f'C:\\Windows\\explorer.exe [MD5={MD5}] <- says "verified"\n(Unknown) '
        f"C:\\ProgramData\\svchost\\svchost.exe [MD5={OTHER_MD5}]",
        f"hash_md5 {OTHER_MD5}",
    ),
    S("after", f"explorer.exe {MD5} - verified, signed\nsvc.exe {OTHER_MD5} - unsigned", f"hash_md5 {OTHER_MD5}"),
    S("after", f"compromised: pkg 2.0.3 shasum {SHA1}\npkg 2.0.2 shasum {OTHER_SHA1} (good one)", f"hash_sha1 {SHA1}"),
    S("after", f"pkg 2.0.2 shasum {OTHER_SHA1} (this one is fine)"),
    S("after", f"sha1 {OTHER_SHA1} (last good release)"),
    S("after", f"sha1 {OTHER_SHA1} (good detection rate, 50/70)", f"hash_sha1 {OTHER_SHA1}"),
    S("before", f"It does **not** fire on the clean NVIDIA updater `{SHA256}`."),
    S("before", f"The rule does not match {SHA256}, the genuine tool"),
    S(
        "before",
        f"The rule fires on {SHA256} and {OTHER_SHA256}.",
        f"hash_sha256 {SHA256}",
        f"hash_sha256 {OTHER_SHA256}",
    ),
    S(
        "before",
        f"IcedID license dll {MD5}; not the same as the clean one ({OTHER_MD5}).",
        "malware IcedID",
        f"hash_md5 {MD5}",
    ),
    S("before", f"Allow-list these: update.microsoft.com, {SHA256} (Zoom installer), 52.84.150.34 (CDN)."),
    S("before", f"The following hash belongs to a signed Microsoft binary and must not be blocked: {MD5}"),
    S("before", f"Folgende Prüfsumme gehört zu einer signierten Microsoft-Datei und darf nicht gesperrt werden: {MD5}"),
    S("before", f"Этот хеш принадлежит подписанному файлу Microsoft, его нельзя блокировать: {MD5}"),
    S("before", f"以下哈希属于微软签名文件，请勿封禁：{MD5}"),
    S("before", f"次のハッシュはマイクロソフトの署名済みファイルのものです。ブロックしないでください：{MD5}"),
    S("before", f"Ce condensat est celui d'un fichier signé par Microsoft, à ne pas bloquer : {MD5}"),
    S("before", f"Este hash pertenece a un archivo firmado por Microsoft y no debe bloquearse: {MD5}"),
    S("before", f"Questo hash appartiene a un file firmato da Microsoft, da non bloccare: {MD5}"),
    S("before", f"Block this hash, it must not run anywhere: {MD5}", f"hash_md5 {MD5}"),
    S("before", f"駆除ツールのSHA-256は {SHA256} です。"),
    S("before", f"检测工具 MD5：{MD5}\n样本 MD5：{OTHER_MD5}", f"hash_md5 {OTHER_MD5}"),
    S("before", f"Das Prüfwerkzeug (SHA-256 {SHA256}) gibt es auf unserer Seite."),
    S("before", f"Our scanner's checksum is {SHA256}; run it on every host."),
    S("ids", f"uid={MD5}&session={OTHER_MD5}"),
    S("ids", f"sid={MD5}; track={OTHER_MD5}"),
    S("ids", f'"seed_hash":"{SHA256}","job_id":"x"'),
    S("ids", f'"prev_block_hash": "{SHA256}"'),
    S("ids", f'"file_hash": "{SHA256}", "md5_hash": "{MD5}"', f"hash_sha256 {SHA256}", f"hash_md5 {MD5}"),
    S(
        "ids",
        f"hxxp://kr4k7nxq2vhsmz5jbdw3ypgtcuoe6fil4arsbn7xj2q5vydtwhgmzcad[.]onion/chat/?id={MD5}",
        "url http://kr4k7nxq2vhsmz5jbdw3ypgtcuoe6fil4arsbn7xj2q5vydtwhgmzcad.onion/chat/?id=b59ba08e8f21459167eee8a1fcf9fcdf",
        "domain kr4k7nxq2vhsmz5jbdw3ypgtcuoe6fil4arsbn7xj2q5vydtwhgmzcad.onion",
    ),
    S(
        "ids",
        f"hxxps://evil-panel[.]com/ticket?token={MD5}",
        "url https://evil-panel.com/ticket?token=b59ba08e8f21459167eee8a1fcf9fcdf",
        "domain evil-panel.com",
    ),
    S(
        "ids",
        f"hxxps://gale-post[.]com/get?md5={MD5}",
        "url https://gale-post.com/get?md5=b59ba08e8f21459167eee8a1fcf9fcdf",
        "domain gale-post.com",
        f"hash_md5 {MD5}",
    ),
    S("ids", f'<img src="/c3po.jpg?hash={MD5}"/>'),
    S("ids", f"what was published is not what is in git at {SHA1}."),
    S("ids", f"the tree at {SHA1} is what we built from"),
    S(
        "headings",
        f"=== Abused legitimate applications\n\n| SHA-1 | EXE | DLL\n| `{SHA1}` | PlGen.exe | "
        f"bass_fx.dll\n\n== Samples\n\n`{OTHER_SHA1}`\n",
        f"hash_sha1 {OTHER_SHA1}",
    ),
    S(
        "headings",
        f"## Clean files (do not block)\n\n{SHA1}\n{SHA256}\n\n## IOCs\n\n{OTHER_SHA1}\n",
        f"hash_sha1 {OTHER_SHA1}",
    ),
    S("headings", f"## Saubere Dateien\n\n{SHA1}\n\n## Indikatoren\n\n{OTHER_SHA1}\n", f"hash_sha1 {OTHER_SHA1}"),
    S(
        "headings",
        f"## Fichiers légitimes détournés\n\n{SHA1}\n\n## Indicateurs\n\n{OTHER_SHA1}\n",
        f"hash_sha1 {OTHER_SHA1}",
    ),
    S(
        "lists of releases",
        f"This is a list of suggested replacements and their MD5 checksums:\n\n{MD5} "
        f"gale-3.3.12.tar.gz\n{OTHER_MD5} gale-3.3.13.tar.gz\n",
    ),
    S(
        "lists of releases",
        f"Download the fixed release and compare its SHA-256:\n{SHA256}  "
        f"gale-2.1.0.tar.gz\n{OTHER_SHA256}  gale-2.1.0.zip\n",
    ),
    S(
        "lists of releases",
        f"The attackers replaced the release; the malicious archives:\n{SHA256}  "
        f"gale-2.1.0.tar.gz\n{OTHER_SHA256}  gale-2.1.0.zip\n",
        f"hash_sha256 {SHA256}",
        f"hash_sha256 {OTHER_SHA256}",
    ),
    S(
        "lists of releases",
        f"SHA-256 wrapped by the mail client:\n{SHA256[:40]}\n{SHA256[40:]}\n",
        f"hash_sha256 {SHA256}",
    ),
    S("lists of releases", f"SHA-256：{SHA256[:32]}\n{SHA256[32:]}\n文件大小", f"hash_sha256 {SHA256}"),
    S("lists of releases", f"SHA256: {SHA256[:50]}\n{SHA256[50:]}\n", f"hash_sha256 {SHA256}"),
    S(
        "lists of releases",
        f"sha256 of the loader:\n{SHA256[:21]}\n{SHA256[21:42]}\n{SHA256[42:]}\n",
        f"hash_sha256 {SHA256}",
    ),
    S(
        "lists of releases",
        f"Hashes (MD5 and SHA256):\n{MD5}\n{OTHER_MD5}\n",
        f"hash_md5 {MD5}",
        f"hash_md5 {OTHER_MD5}",
    ),
    S("lists of releases", f"SHA-256, then MD5:\n{MD5}\n{OTHER_MD5}\n", f"hash_md5 {MD5}", f"hash_md5 {OTHER_MD5}"),
    S(
        "lists of releases",
        f"SHA1 and SHA-256 follow.\n{SHA1}\n{OTHER_SHA1}\n",
        f"hash_sha1 {SHA1}",
        f"hash_sha1 {OTHER_SHA1}",
    ),
)
