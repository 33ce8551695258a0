"""Whose mailbox it is: of what malware sends with, of a note of ransom, of an author, an owner or a vendor."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import S

MAILBOX_SNIPPETS: Final = (
    S(
        "smtp list",
        (
            "# Keeldraw\n"
            "\n"
            "The stealer reported to https://gale[.]net.\n"
            "\n"
            "#### SMTP\n"
            "```\n"
            "h.orlop@gale-tools.com (smtp.ionos.de)\n"
            "boxes@gale-freight.club (mail.gale-freight.club)\n"
            "juan@gale-digital.es (smtp.office365.com)\n"
            "```\n"
        ),
        "domain gale-digital.es",
        "domain gale-freight.club",
        "domain gale-tools.com",
        "domain gale.net",
        "email boxes@gale-freight.club",
        "email h.orlop@gale-tools.com",
        "email juan@gale-digital.es",
        "url https://gale.net",
    ),
    S(
        "smtp list",
        (
            "Exfiltration accounts, C2 was gale[.]net:\n"
            "\n"
            "- a.mist@gale-tools.com (mail.gale-tools.com)\n"
            "- b.fog@orlop-lines.org (smtp.zoho.com)\n"
        ),
        "domain gale-tools.com",
        "domain gale.net",
        "domain orlop-lines.org",
        "email a.mist@gale-tools.com",
        "email b.fog@orlop-lines.org",
    ),
    S(
        "smtp list",
        (
            "Exfiltrationskonten des Stealers, C2 gale[.]net:\n"
            "\n"
            "logs@gale-tools.de (mail.gale-tools.de)\n"
            "versand@orlop-bau.de (smtp.ionos.de)\n"
        ),
        "domain gale-tools.de",
        "domain gale.net",
        "domain orlop-bau.de",
        "email logs@gale-tools.de",
        "email versand@orlop-bau.de",
    ),
    S(
        "smtp list",
        (
            "The trojan used gale[.]net.\n"
            "\n"
            "## Contact\n"
            "\n"
            "h.orlop@gale-tools.com (press)\n"
            "n.fog@gale-tools.com (research)\n"
        ),
        "domain gale.net",
    ),
    S(
        "headers",
        (
            "MALSPAM PUSHES THE KEELDRAW TROJAN, C2 gale[.]net\n"
            "\n"
            "REFERENCE:\n"
            "\n"
            "- https://social.example/p/1\n"
            "\n"
            "EMAIL HEADERS:\n"
            "\n"
            "Return-Path: <tours@gale-travel.com.np>\n"
            "Received: from [203.78.160.41]\n"
            "From: tours@gale-travel.com.np\n"
            "Message-ID: <33.JavaMail.zimbra@gale-travel.com.np>\n"
            "Subject: invoice\n"
        ),
        "domain gale-travel.com.np",
        "domain gale.net",
        "email tours@gale-travel.com.np",
        "ip 203.78.160.41",
    ),
    S(
        "headers",
        (
            "Malspam mit Trojaner, C2 gale[.]net\n"
            "\n"
            "Referenzen:\n"
            "- https://social.example/p/1\n"
            "\n"
            "Mail Header:\n"
            "\n"
            "Return-Path: <tours@gale-travel.de>\n"
            "From: Tours <tours@gale-travel.de>\n"
            "To: h.orlop@gale-bank.de\n"
        ),
        "domain gale-travel.de",
        "domain gale.net",
        "email tours@gale-travel.de",
    ),
    S(
        "headers",
        ("Phishing, C2 gale[.]net\n\nReferences:\n- https://social.example/p/1\n- write to desk@gale-cert.org\n"),
        "domain gale.net",
    ),
    S(
        "note",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "The note says:\n"
            "\n"
            "Send $20 of Bitcoin to the address below.\n"
            "Send the transaction ID to teamgale@gale-post.net with the subject 'TX'\n"
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S(
        "note",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "Note de rançon : envoyez l'identifiant de la transaction à teamgale@gale-post.net avec votre ID.\n"
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S(
        "note",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "La nota: envíe el comprobante del pago en bitcoin a teamgale@gale-post.net y espere la clave.\n"
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S(
        "note",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "Aus der Erpressernachricht: Schicken Sie die Transaktions-ID an teamgale@gale-post.net.\n"
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S(
        "note",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "После оплаты отправьте идентификатор транзакции на teamgale@gale-post.net и ждите ключ.\n"
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S(
        "note",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "Please send the signed form to office@gale-bank.com with the subject 'Form'.\n"
        ),
        "domain gale.net",
    ),
    S(
        "author",
        (
            'Kersti Gale | Security Researcher | <a href="mailto:kgale@yahoo.com">kgale@yahoo.com</a>\n'
            "The trojan talks to gale[.]net.\n"
            "\n"
            "Questions: kgale[at]yahoo.com\n"
        ),
        "domain gale.net",
    ),
    S(
        "author",
        (
            "By Kersti Gale <kgale@gmail.com>\n"
            "\n"
            "The stealer talks to gale[.]net and mails to logs@gale[.]net.\n"
            "\n"
            "Kersti Gale, kgale[at]gmail[.]com\n"
        ),
        "domain gale.net",
        "email logs@gale.net",
    ),
    S(
        "author",
        ("Author: kgale@gale-labs.org\n\nThe stealer talks to mist[.]net; loot goes to kgale2[at]gale-post[.]org\n"),
        "domain gale-post.org",
        "domain mist.net",
        "email kgale2@gale-post.org",
    ),
    S(
        "code",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "## IOCs\n"
            "\n"
            "```\n"
            "msg['From'] = \"desk@gale-pay.top\"\n"
            "msg['To'] = \"victim@example.com\"\n"
            'server.sendmail("desk@gale-pay.top", "victim@example.com", msg)\n'
            "```\n"
        ),
        "domain gale-pay.top",
        "domain gale.net",
        "email desk@gale-pay.top",
    ),
    S(
        "owner",
        (
            "INC-771 | Malvertising\n"
            "Payload: Keeldraw stealer from gale-ads[.]com. Owner: desk-emea@gale-group.com. Legit: webex.com\n"
        ),
        "domain gale-ads.com",
        "malware Keeldraw",
    ),
    S(
        "owner",
        "Ticket 88: phishing site gale-login.top blocked. Case owner: h.orlop@gale-group.com\n",
        "domain gale-login.top",
    ),
    S(
        "owner",
        "The phishing domain gale-login.top: domain owner: buyer77@gale-post.ru\n",
        "domain gale-login.top",
        "domain gale-post.ru",
        "email buyer77@gale-post.ru",
    ),
    S(
        "contact",
        "Phishing is the first cause, ransomware second; contact for queries is risk.office@gale-cover.co.uk.\n",
    ),
    S(
        "contact",
        "Phishing war die häufigste Ursache. Ansprechpartner für Rückfragen ist risiko@gale-versicherung.de.\n",
    ),
    S("contact", "Le phishing reste la première cause. Contact pour toute question : risques@gale-assurances.fr.\n"),
    S("contact", "El phishing fue la primera causa. Contacto para consultas: riesgos@gale-seguros.es.\n"),
    S(
        "contact",
        "Your files are encrypted. Contact for decryption is gale-key@gale-post.top.\n",
        "domain gale-post.top",
        "email gale-key@gale-post.top",
    ),
    S(
        "vendor",
        (
            "Dear customer,\n"
            "\n"
            "our licence servers move to lic1.gale-update.com and\n"
            "lic2.gale-update.com in May. Please allow outbound 443/tcp to both.\n"
            "\n"
            "Kind regards\n"
            "Maria Gale, Customer Success\n"
            "support@gale-update.com\n"
        ),
    ),
    S(
        "vendor",
        (
            "Sehr geehrte Kunden,\n"
            "\n"
            "unsere Updates kommen ab Mai von dl.gale-update.de. Bitte erlauben Sie ausgehend 443/tcp dorthin.\n"
            "\n"
            "Mit freundlichen Grüßen\n"
            "Maria Gale\n"
            "support@gale-update.de\n"
        ),
    ),
    S(
        "again",
        (
            "# Agent Keeldraw\n"
            "\n"
            "C2 gale[.]net\n"
            "\n"
            "## Exfil\n"
            "\n"
            "* kim@gale-lines.vn [mail.gale-lines.vn]\n"
            "* pay@orlop-tr.com [smtp.yandex.com]\n"
        ),
        "domain gale-lines.vn",
        "domain gale.net",
        "domain orlop-tr.com",
        "email kim@gale-lines.vn",
        "email pay@orlop-tr.com",
    ),
    S(
        "again",
        (
            "Le voleur envoyait vers gale[.]net. Comptes SMTP :\n"
            "\n"
            "compta@gale-btp.fr (ssl0.ovh.net)\n"
            "adv@orlop-sas.fr (smtp.ionos.fr)\n"
        ),
        "domain gale-btp.fr",
        "domain gale.net",
        "domain orlop-sas.fr",
        "email adv@orlop-sas.fr",
        "email compta@gale-btp.fr",
    ),
    S(
        "again",
        (
            "Malspam, trojan at gale[.]net\n"
            "\n"
            "Links:\n"
            "- https://a.example/1\n"
            "\n"
            "MESSAGE HEADERS:\n"
            "Reply-To: ceo.gale@orlop-mail.com\n"
            "Return-Path: <bounce@gale-bulk.ru>\n"
        ),
        "domain gale-bulk.ru",
        "domain gale.net",
        "domain orlop-mail.com",
        "email bounce@gale-bulk.ru",
        "email ceo.gale@orlop-mail.com",
    ),
    S(
        "again",
        (
            "Campanha com trojan, gale[.]net\n"
            "\n"
            "Referências:\n"
            "- https://a.example/1\n"
            "\n"
            "Cabeçalho do e-mail:\n"
            "De: Financeiro <nfe@gale-nota.com>\n"
            "Para: joao@gale-banco.br\n"
        ),
        "domain gale-nota.com",
        "domain gale.net",
        "email nfe@gale-nota.com",
    ),
    S(
        "again",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "Mandate la ricevuta di pagamento a teamgale@gale-post.net e avrete la chiave, dice la nota di riscatto."
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S(
        "again",
        (
            "The panel stood at gale[.]net.\n"
            "\n"
            "Prześlij potwierdzenie przelewu na teamgale@gale-post.net - tak kończy się żądanie okupu."
        ),
        "domain gale-post.net",
        "domain gale.net",
        "email teamgale@gale-post.net",
    ),
    S("again", "Ransomware drill on Monday. Contact for questions: drill@gale-hospital.org"),
    S("again", "Wir üben Phishing am Montag. Ansprechpartnerin für Fragen: uebung@gale-klinik.de"),
    S(
        "again",
        ("Case 12, phishing from gale-login[.]top\nOwner: s.mist@gale-corp.com\nStatus: open"),
        "domain gale-login.top",
    ),
    S(
        "again",
        (
            "msg = EmailMessage()\n"
            "msg['To'] = 'user@example.org'\n"
            "msg['From'] = 'it@gale-help[.]top'\n"
            "# phishing kit found at gale[.]net"
        ),
        "domain gale-help.top",
        "domain gale.net",
        "email it@gale-help.top",
    ),
    S(
        "again",
        (
            "Bonjour,\n"
            "\n"
            "nos serveurs de licence passent à lic.gale-soft.fr en mai. Merci d'autoriser le port 443.\n"
            "\n"
            "Cordialement,\n"
            "Le support\n"
            "support@gale-soft.fr\n"
        ),
    ),
)
