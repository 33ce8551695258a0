"""Each role of the table drops what its example names and leaves what its counterexample names."""

from __future__ import annotations

from ingest.indicators import document_from_text, extract
from ingest.indicators.clauses import Role, clause_roles
from tests.cases import each

FILLER = "Nothing else of interest happened in that week, and the readers went home early. " * 3 + "\n\n"
OURS = "185.220.70.47"
THEIRS = "45.9.148.3"


def values_in(text: str) -> set[str]:
    return {indicator.value for indicator in extract(document_from_text(text)).indicators}


@each("role", clause_roles(), ids=lambda role: role.id)
def test_a_role_speaks_in_its_example_and_not_in_its_counterexample(role: Role) -> None:
    for filler in ("", FILLER * 10):
        weighed = extract(document_from_text(filler + role.example)).candidates()
        assert any(
            (role.points, role.id) in candidate.evidence for candidate in weighed if candidate.value == role.value
        )
        assert role.value not in values_in(filler + role.example)
        assert role.value in values_in(filler + role.counterexample)


@each(
    "text",
    [
        f"Der Angriff kam von {THEIRS}; {OURS} ist unser Büro.",
        f"L'attaque vient de {THEIRS}. La nôtre, c'est {OURS}.",
        f"El ataque vino de {THEIRS}. La {OURS} es la oficina de Lima, no la toques.",
        f"O ataque veio de {THEIRS}. Já o {OURS} é do nosso escritório.",
        f"L'attacco arriva da {THEIRS}. {OURS} è il nostro firewall.",
        f"De aanval kwam van {THEIRS}; {OURS} is van onze vestiging.",
        f"Atak z {THEIRS}, a {OURS} to nasz serwer.",
        f"Атака шла с {THEIRS}. Адрес {OURS} наш, это шлюз.",
        f"Атака йшла з {THEIRS}. А {OURS} — це наш сервер.",
        f"Útok přišel z {THEIRS}. Adresa {OURS} je naše pobočka.",
        f"Saldırı {THEIRS} adresinden geldi. {OURS} bizim çıkışımız.",
        f"Tấn công từ {THEIRS}. Còn {OURS} là máy chủ của chúng tôi.",
        f"Serangan dari {THEIRS}. Sedangkan {OURS} adalah server kantor kami.",
        f"攻击源为 {THEIRS}。{OURS} 是我们自己的出口，别加黑。",
        f"攻撃元は {THEIRS} です。{OURS} は弊社の拠点です。",
        f"공격 IP는 {THEIRS} 입니다. {OURS} 는 저희 회사 출구입니다.",
        f"The attack came from {THEIRS} (not {OURS}, that is our own gateway).",
        f"| {THEIRS} | unknown | block |\n| {OURS} | our branch | ignore |",
        f"src;action;note\n{THEIRS};login;hostile\n{OURS};login;benign",
        f"Attack from {THEIRS}. Our office in Oslo ({OURS}) saw it first.",
        f"Attack from {THEIRS}. The victim's own prefix is {OURS}/24.",
    ],
)
def test_what_is_called_the_writers_own_is_no_indicator(text: str) -> None:
    found = values_in(text)
    assert THEIRS in found, text
    assert OURS not in found, text


@each(
    "text",
    [
        f"{THEIRS} is not ours, it attacked our server.",
        f"{THEIRS} n'est pas à nous.",
        f"{THEIRS} 不是我们的出口，是攻击者。",
        f"{THEIRS} は弊社のものではない。",
        f"Our analysts found the panel at {THEIRS}.",
        f"Our server was hit by {THEIRS} at noon.",
        f"{THEIRS} is not benign.",
        f"{THEIRS}, our best lead so far, attacked twice.",
        f"Angriff von {THEIRS}, unser Server {OURS} war das Ziel.",
        f"{THEIRS} (benign-looking server of the gang)",
    ],
)
def test_what_a_clause_accuses_or_denies_to_be_ones_own_is_kept(text: str) -> None:
    assert THEIRS in values_in(text), text


@each(
    "text",
    [
        f"Failed password for root from {THEIRS}\nAccepted key from {OURS}\n(the last one is our own admin)",
        f"1 10.0.0.7 {THEIRS} 443\n2 10.0.0.7 {OURS} 443\n# row 1: C2 of the bot. row 2: Teams, fine.",
        f"Zeile 2 ist unser Büro.\nlogin {THEIRS} failed\nlogin {OURS} ok",
        f"Eva: was ist {OURS}?\nTom: das ist unser VPN-Gateway, Angreifer ist {THEIRS}",
        f"{OURS} asked for the page, who is it?\n<sec> that's the scanner we pay for. The attacker is {THEIRS}",
        f"攻撃元は {THEIRS} のみ。他は監視サーバー\nGET {THEIRS} /cgi-bin 404\nGET {OURS} /status 200",
        f'[{{"dst":"{THEIRS}","verdict":"malicious"}},\n {{"dst":"{OURS}","verdict":"clean"}}]',
        f'{{"src":"{THEIRS}","owner":"attacker","dst":"{OURS}","dst_owner":"customer"}}',
    ],
)
def test_what_another_line_or_field_calls_harmless_is_no_indicator(text: str) -> None:
    found = values_in(text)
    assert THEIRS in found, text
    assert OURS not in found, text


def test_accounts_are_whose_a_line_says_they_are() -> None:
    note = f"time,username,source\n02:11,gale.moe@gale-bank.no,{THEIRS}\n# brute force; accounts are our customers"
    assert values_in(note) == {THEIRS}
    assert "gale.moe@gale-bank.no" in values_in(note.replace("are our customers", "are the gang's"))


def test_a_row_that_another_line_accuses_is_kept() -> None:
    assert THEIRS in values_in(f"login {OURS} ok\nlogin {THEIRS} failed\nthe last one is the attacker, not ours")
