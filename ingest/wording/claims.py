"""Find what a sentence claims, once its doubts are out: that something is exploited, or that exploit code exists."""

from __future__ import annotations

import re
from typing import Final

# A word that does not end a part of the sentence.
_G: Final = r"[^\s,;\u00a6]+ "
# A word that does not begin another thought either.
_N: Final = (
    r"(?:(?!(?:and|that|which|if|when|so|but|because|as|to|fix|fixes|patch|update|for|against) )"
    r"[^\s,;\u00a6]+ )"
)
_ADV: Final = (
    r"(?:(?:\w+ly|now|also|already|still|since|been|being|first|then|even|so far|again|once|just|both|in fact|not only|"
    r"thus|later|often|long|only|being actively) )"
)
_ITW: Final = r"(?:in[- ]the[- ]wild|itw)\b"
_STRONG: Final = r"(?:mass-)?(?:exploited|abused|weaponi[sz]ed|misused)"
_SOFT: Final = r"(?:used|leveraged|targeted|utili[sz]ed|employed|chained|deployed|attacked|paired|combined)"
_BROKEN: Final = r"(?:hacked|hijacked|compromised|breached|backdoored|infected|attacked|popped|defaced|encrypted)"
# `exploited by sending a request` tells how it is done, not that it is.
_MECHANISM: Final = (
    r"(?! (?:by|through|via|with|using|over)(?: an?| the)? (?:send|upload|craft|malicious(?:ly)? craft|special|trick|"
    r"convinc|attacker(?:s)? (?:with|who|that)|local|remote|authenticated|unauthenticated|pass|supply|provid|inject|"
    r"manipulat|open|visit|network|http|request|user|call|submit|embed|hosting|creating|setting|simply|merely))"
)
_ACTOR: Final = (
    r"\b(?:attackers?|actors?|hackers?|adversar(?:y|ies)|intruders?|(?:cyber)?criminals?|crooks|operators|affiliates?|"
    r"gangs?|groups?|crews?|campaigns?|botnets?|hacktivists?|worms?|malware|ransomware|spyware|stealers?|brokers?|"
    r"apt-?\d+|unc\d+|"
    r"ta\d{3,}|fin\d+|storm-\d+|uat-\d+|lazarus|kimsuky|sandworm|turla|cl[0o]p|lockbit|akira|black ?basta|mirai|"
    r"andariel|"
    r"qilin|(?:typhoon|blizzard|tempest|sleet|sandstorm|spider|panda|kitten|bear|chollima|jackal)|clusters?|spies|"
    r"nation-states?|attacks|intrusions?|exploit kits?|they|someone|samples?|implants?|invaders|"
    r"thieves|"
    r"scammers|fraudsters|extortionists|mercenaries|spear-?phishers)\b"
)
_CONTEXT: Final = (
    r"(?:attacks?\b|attackers?|campaigns?|intrusions?|incidents?|breach\w*|ransomware|malware|backdoors?|spyware|"
    r"hackers|"
    r"threat|actors?|adversar\w+|apt\d|unc\d|botnets?|web ?shells?|miners?|steal\w*|stole\w*|deface|hijack\w*|"
    r"exfiltrat\w*|"
    r"zero-days?|implants?|criminals|cybercriminals|gangs?|brokers?|wild\b|victims?|spies|espionage|cryptominers?|"
    r"skimmers?|rootkits?|initial access|foothold|hack\w*|break into|plant |loaders?|rats?\b|group\b|mirai|"
    r"reset administrator|take over)"
)
# Who or what is used: the flaw itself, not a tool that a flaw is in.
_SUBJECT: Final = (
    r"(?:cve_\d+|\b(?:flaws?|bugs?|vulnerabilit(?:y|ies)|issues?|zero-days?|it|they|both|exploits?|weakness(?:es)?|"
    r"holes?))"
    r"(?: ?\([^()]{0,60}\))?[),\"]*(?: which)?(?: (?:in|affecting|within|"
    r"of) (?:[^\s\u00a6]+ ){0,7}?[^\s\u00a6]+?[),\"]*)?"
)
_OBJECT: Final = (
    r"(?:cve_\d|it\b|(?:the|this|that|these|both|those|an?|said|multiple|two|several|known|critical|recent) "
    r"(?:[^\s\u00a6]+ ){0,4}?(?:flaws?|bugs?|vulnerabilit\w+|issues?|zero-days?|weakness\w*|holes?|defects?|"
    r"exploits?)\b|"
    r"(?:flaws?|bugs?|vulnerabilities|zero-days?)\b)"
)
# The verb, not the thing that is written or sold.
_EXPLOIT: Final = (
    r"(?:(?<!an )(?<!the )(?<!this )(?<!working )(?<!public )(?<!of )(?<!new )(?<!private )exploits?"
    r"(?! (?:for|code|kits?|chains?|scripts?|modules?|poc|brokers?|market))\b|exploited|exploiting)"
)
_EXPLOITATION: Final = (
    r"(?:exploitations?|exploit activity|(?:exploit\w*|attack) attempts?|attempts to exploit|exploiting)"
)
# Exploitation of edge devices at large is nothing that a sentence says of a CVE.
_OF_A_FLAW: Final = (
    r"(?! of (?!(?:\S+ ){0,6}?(?:cve_|flaws?|bugs?|vulnerabilit|zero-days?|issues?|holes?|weakness|it\b|this|these|"
    r"them)))"
)


def _rule(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives))


IN_THE_WILD: Final = (
    # In the wild.
    _rule(
        rf"\b(?:exploit\w*|abus\w*|attack\w*|used|seen|leverag\w*|weaponi\w*|misus\w*|spotted|observed|active\w*|"
        rf"caught) "
        rf"(?:{_G}){{0,9}}?{_ITW}",
        rf"\b{_ITW},? (?:{_G}){{0,6}}?(?:exploit\w*|abus\w*|attack\w*|used|leverag\w*|weaponi\w*|misus\w*|activity|"
        rf"paired|"
        rf"chained|combined|targeted)",
    ),
    # Actively exploited, under attack.
    _rule(
        r"\b(?:actively|mass|widely|heavily|massively|repeatedly|routinely|frequently|commonly|continuously|now|"
        r"currently|"
        r"already|reportedly|ever more|increasingly)[ -](?:being |been )?(?:actively )?(?:exploit(?:ed|ing|ation)|"
        r"abus(?:ed|"
        r"ing)|weaponi[sz]\w*|leveraged|targeting|targeted in|under attack)\b" + _MECHANISM,
        rf"\bactively (?:being )?(?:exploit\w*|abus\w*|attack\w*|target\w*|leverag\w*)(?: {_OBJECT})?",
        rf"\bactive(?! directory),? (?:{_G}){{0,2}}?(?:exploitations?|attacks?|abuse|exploits?)\b",
        rf"\b(?:under|came under|come under|coming under|facing|faces|seeing|sees|saw|seen|suffers?|experienc\w+) "
        rf"(?:{_N}){{0,3}}?(?:attacks|exploitation|abuse|fire)\b",
        r"\bunder (?:active |heavy |constant |mass |ongoing )?(?:attack|exploitation|fire)\b",
    ),
    # Has been exploited.
    _rule(
        rf"\bbeing {_ADV}{{0,3}}{_STRONG}\b",
        rf"\b(?:was|were|been|got|getting) {_ADV}{{0,4}}{_STRONG}\b{_MECHANISM}",
        rf"\b(?:is|are|gets?|as) {_ADV}{{0,4}}{_STRONG}\b{_MECHANISM}"
        rf"(?! (?:to|when|if|through|via|using|with|after|on|over|from|locally|remotely)\b)",
        rf"\b(?:known|found|reported|confirmed|seen|observed|shown|continu\w+|began|begun|started) to (?:be|have been) "
        rf"{_ADV}{{0,3}}{_STRONG}\b{_MECHANISM}",
        rf"{_SUBJECT} (?:(?:has|have|had|is|are|was|were|been|being|to|be|also|known) |{_ADV}){{1,6}}{_SOFT} "
        rf"(?:{_G}){{0,7}}?{_CONTEXT}",
        r"\b(?:in|under) active use (?:by|in|among)\b",
        rf"\b(?:observed|seen|spotted|caught|featured) in (?:{_G}){{0,3}}?(?:attacks|campaigns|intrusions|incidents)\b",
        rf"\b(?:linked|tied|associated|connected) (?:to|with) (?:{_G}){{0,4}}?(?:attacks|campaigns?|ransomware|"
        rf"intrusions)\b",
        r"(?:^|: ?)exploited (?:cves?|vulnerabilit\w+|bugs?|flaws?)\b",
        rf"\b(?:being|been|were|are being|is being) {_ADV}{{0,3}}{_BROKEN}\b",
        rf"\b{_STRONG}{_MECHANISM} (?:to|since|against|prior|before|en masse|at scale|by|multiple|several|this|last|"
        rf"earlier|"
        rf"during (?:an?|the|recent) (?:\w+ )?(?:attacks?|intrusions?|incidents?|campaigns?|breach)|"
        rf"for (?:\w+ )?(?:days|weeks|months|years|espionage)|in (?:{_N}){{0,4}}?(?:wild|attacks|campaigns?|"
        rf"intrusions?|"
        rf"incidents?|breach\w*|ransomware|operations|cases|activity|\d{{4}}|january|february|march|april|may|june|"
        rf"july|"
        rf"august|september|october|november|december))\b",
        rf"\b(?:the|this|actively|newly|recently|already|heavily|now|known|widely|previously|most|often|routinely|"
        rf"commonly)[ -](?:actively |most |recently )?exploited (?:{_G}){{0,4}}?(?:flaws?|vulnerabilit\w+|bugs?|"
        rf"zero-days?|"
        rf"cve_\d|issues?|weakness\w*|holes?)",
        rf"\bin which {_OBJECT} (?:was|is|were) (?:{_G}){{0,3}}?(?:used|abused|leveraged)",
    ),
    # They exploit it.
    _rule(
        rf"{_ACTOR}[^\s\u00a6]* (?:{_G}){{0,9}}?(?:{_EXPLOIT}|abus(?:e|es|ed|ing)|weaponi[sz](?:e|es|ed|ing)|"
        rf"leverag(?:e|es|ed|ing)|attempt(?:s|ed|ing)? to exploit|to exploit) (?:{_G}){{0,8}}?{_OBJECT}",
        rf"{_ACTOR}[^\s\u00a6]* (?:{_G}){{0,9}}?(?:us(?:e|es|ed|ing)|target(?:s|ed|ing)?|chain(?:s|ed|ing)?|"
        rf"attack(?:s|ed|ing)?|(?:entered|enter|got in|broke in|access) (?:through|via)|(?:rely|relies|relied) on|"
        rf"spreads? (?:through|via|using)) (?:{_G}){{0,2}}?(?:cve_\d|it\b|(?:the|this|these) (?:{_G})?(?:flaws?|bugs?|"
        rf"vulnerabilit\w+|zero-days?)|a zero-day)",
        rf"{_ACTOR}[^\s\u00a6]* (?:{_G}){{0,6}}?(?:pounc\w+ on|prey(?:ed|ing|s)? on|jump(?:ed|ing) on|seiz(?:ed|"
        rf"ing) (?:up)?on|"
        rf"capitali[sz]\w+ on|tak(?:es|en|ing) advantage of|took advantage of|adopted|"
        rf"picked up) (?:{_G}){{0,4}}?(?:{_OBJECT})",
        rf"(?:cve_\d+|\b(?:flaws?|bugs?|vulnerabilit(?:y|ies)|zero-days?|issues?))\)?,? (?:which|"
        rf"that) (?:{_G}){{0,3}}?{_ACTOR} (?:{_G}){{0,4}}?(?:exploit(?:ed|ing)?|abus(?:ed|ing)|used|using|"
        rf"leverag(?:ed|ing)|weaponi[sz](?:ed|ing))\b",
        rf"{_ACTOR}[^\s\u00a6]* (?:{_G}){{0,9}}?(?:trigger(?:s|ed|ing)?|deliver(?:s|ed|ing)?|dropp?(?:s|ed|ing)?|"
        rf"spread(?:s|ing)?|"
        rf"distribut\w+|install(?:s|ed|ing)?|abus\w+) (?:{_G}){{0,6}}?(?:(?:via|through|using|with|"
        rf"by exploiting) )?cve_\d",
        rf"\bmalicious (?:{_G}){{0,5}}?(?:exploit(?:s|ing)?|trigger(?:s|ing)?|abus(?:es|ing)) (?:{_G}){{0,3}}?cve_\d",
        r"(?<!is )(?<!be )(?<!are )(?<!was )(?<!been )\b(?:exploited|weaponi[sz]ed|abused) (?:the (?:\w+ )?(?:flaw|"
        r"vulnerability|bug|zero-day) )?(?:tracked as )?\(?cve_\d",
        rf"\b(?:\w+ed|was|were|been|is|are|began|broke|breaking|got|stole|spreads?|kept|seen|caught|continu\w+|hit|"
        rf"start(?:s|ed|ing)?|campaigns?|attacks?|activity|intrusions?|breaches|incidents?|victims?) (?:{_G}){{0,9}}?"
        rf"(?:exploiting|weaponi[sz]ing|abusing) (?:{_G}){{0,5}}?(?:{_OBJECT})",
        r"\bcve_\d+(?:\)|,)? (?:being|getting) (?:\w+ly )?(?:exploited|abused|used|leveraged|weaponi[sz]ed)\b",
    ),
    # Exploitation was seen.
    _rule(
        rf"\b(?:observ(?:ed|ing|es)|detect(?:ed|ing|s)?|see|sees|seeing|saw|seen|report(?:ed|s|ing)?|confirm(?:ed|s|"
        rf"ing)?|"
        rf"track(?:ed|ing)|aware of|evidence of|signs of|record(?:ed|s|ing)?|logg(?:ed|ing)|spotted|notic(?:ed|ing)|"
        rf"found|identified|witness\w+|waves? of|surges? (?:in|of)|spikes? (?:in|of)|increases? in|rise in|uptick in|"
        rf"started with|began with|start of|amid|attempts? at|involv(?:ed|es|ing)|includ"
        rf"(?:ed|es|ing)|due to|resulted from|traced (?:back )?to|attributed|linked to|caused by|follow(?:ed|ing) by|"
        rf"warn(?:ed|s|ing) of|documented|flagged) (?:{_G}){{0,5}}?{_EXPLOITATION}\b{_OF_A_FLAW}",
        rf"\b(?:ongoing|continued|continuing|widespread|mass|massive|large-scale|broad|limited|malicious|zero-day|"
        rf"rampant|"
        rf"opportunistic|attempted|real-world|in-progress)(?:,? \w+)? {_EXPLOITATION}\b{_OF_A_FLAW}",
        rf"\b(?:exploitation|exploit (?:activity|attempts)|exploitation (?:attempts?|activity)|attacks|"
        rf"abuse)(?: attempts?"
        rf"| activity)? (?:(?:of|for|on|against|targeting|around|exploiting|involving|via|using|in) (?:{_N}){{1,7}}?)?"
        rf"(?:(?:has |have |had )?(?:already )?(?:begun|began|started|surged|spiked|"
        rf"increased|jumped|exploded|soared|ramped up|intensified|doubled|tripled|resumed|continues?|continued)|"
        rf"(?:is|are|was|were|remains?) (?:now |still |already |currently )?(?:under ?way|ongoing|rampant|widespread|"
        rf"active)|"
        rf"(?:was|were|has been|have been|had been|been|is being|are being|is|are) {_ADV}{{0,3}}(?:observed|detected|"
        rf"seen|"
        rf"reported|confirmed|recorded|identified|spotted|logged|documented|noted|verified|attributed|traced))\b",
        r"\bexploit(?:ation)?(?: attempts| activity)? (?:was |has been |have been )?(?:detected|observed|confirmed|"
        r"spotted|seen)\b",
        r"\bcve_\d+ (?:was|is) (?:the |an? )?(?:\w+ )?(?:entry point|initial (?:access |infection )?vector|way in|"
        r"point of entry|"
        r"root cause of the (?:breach|incident|attack|intrusion))\b",
        rf"\b(?:exploit(?:ation)?|attack) attempts? (?:against|targeting|for|of|on|aimed at|using|with|"
        rf"involving) (?:{_G}){{0,3}}?"
        rf"cve_\d",
        rf"\bexploitation (?:of cve_\d+ )?by (?:{_G}){{0,5}}?{_ACTOR}",
        rf"\b(?:infection|attack|exploit|intrusion|kill) chain (?:{_G}){{0,2}}?(?:begins|starts|started|began|uses|"
        rf"used|opens|"
        rf"includes|included) (?:{_G}){{0,4}}?cve_\d",
        rf"\b(?:initial (?:access |infection |attack )?vector|entry point|way in|point of entry|"
        rf"root cause of the (?:breach|"
        rf"incident|attack|intrusion))(?: of (?:{_G}){{1,4}}?)?,? ?(?:was|is|:|were) (?:{_G}){{0,4}}?cve_\d",
        rf"\b(?:breach(?:es)?|intrusions?|compromises?|incidents?|outbreak|attacks?) (?:{_G}){{0,4}}?(?:caused|"
        rf"enabled|made "
        rf"possible|attributed|traced|blamed|resulted|stemmed|originated|linked|began|started) (?:{_G}){{0,4}}?cve_\d",
        rf"\b(?:attacks?|campaigns?|intrusions?|incidents?|breaches|compromises|infections)(?: \w+)? (?:exploiting|"
        rf"leveraging|abusing|targeting|against|using|via|involving|on|that (?:exploit|abuse|leverage|target|"
        rf"use)(?:ed|d|s)?)"
        rf" (?:{_G}){{0,5}}?cve_\d",
        rf"\b(?:honeypots?|sensors?|telemetry|decoys?|threat feeds?) (?:{_G}){{0,9}}?(?:attacks?|exploit\w*|attempts?|"
        rf"probes)\b",
        r"\bexploited(?: in the wild)? ?[:=;?] ?(?:; )?(?:yes|true|y\b)",
        r"\b(?:in the wild|exploitation(?: status)?|exploited) ?[:=;?] ?(?:; )?(?:yes|true|detected|confirmed|active|"
        r"observed|exploited)\b",
        rf"\b(?:exploits?|exploit code) (?:{_G}){{0,5}}?(?:exists?|are|is|was|were) (?:{_ADV})?{_ITW}",
    ),
    # As a zero-day.
    _rule(
        rf"\b(?:exploit\w*|used|abus\w*|leverag\w*|weaponi\w*) (?:{_G}){{0,6}}?as (?:an? )?(?:{_G})?(?:zero|"
        rf"0)-?days?\b",
        r"\b(?:zero|0)-?day (?:attacks?|exploitation|campaigns?|intrusions?)\b",
        r"\bexploited (?:zero|0)-?days?\b|\b(?:zero|0)-?days? exploited\b",
    ),
    # On the list of what is known to be exploited.
    _rule(
        rf"\b(?:add(?:ed|s|ing)?|plac(?:ed|es)|puts?|listed|lists|listing|includ(?:ed|es|ing)|appears?|appeared|"
        rf"entered|"
        rf"landed|is|are|was|were|features?|made it|joins?|joined|now) (?:{_G}){{0,7}}?(?:known exploited "
        rf"vulnerabilit\w+|\(?kev\b|list of known exploited)",
        rf"\b(?:known exploited vulnerabilit\w+|kev)(?: \(kev\))? (?:catalog(?:ue)?|list)(?:'s)? (?:{_G}){{0,3}}?(?:"
        rf"includes?|lists?|contains?|has|added|gained|carries)",
        rf"\b(?:inclusion|addition) (?:{_G}){{0,5}}?(?:kev|known exploited)",
        r"\bkev(?:-listed| ?[:=;] ?(?:yes|true|listed)\b)",
        r"\bkev (?:addition|entry|listing)s?\b",
    ),
    # Broken into through it.
    _rule(
        rf"\b(?:compromised|breached|entered|broke(?:n)? into|breaking into|hacked|hijacked|stole|stolen|infected|"
        rf"penetrated|backdoored|infiltrated|popped|(?:gained|obtained) (?:{_G}){{0,4}}?access|(?:deployed|delivered|"
        rf"installed|dropped|delivering|dropping|deploying) (?:{_G}){{0,4}}?(?:malware|ransomware|web ?shells?|"
        rf"backdoors?|"
        rf"implants?|miners?|loaders?|spyware|stealers?|rats?)|access was gained|foothold) (?:{_G}){{0,9}}?"
        rf"(?:via|through|using|with|by exploiting|exploiting|by abusing|abusing|by leveraging|leveraging|by using|by "
        rf"chaining|thanks to|by way of) (?:{_N}){{0,4}}?(?:for )?cve_\d",
        rf"\b(?:malware|ransomware|web ?shells?|backdoors?|implants?|miners?|loaders?|spyware|stealers?|"
        rf"rats?) (?:was|were|"
        rf"is|are|has been|have been) (?:\w+ly )?(?:deployed|delivered|installed|dropped|spread|"
        rf"distributed) (?:{_G}){{0,9}}?"
        rf"cve_\d",
        rf"\b(?:add(?:ed|s)|incorporat(?:ed|es)|integrat(?:ed|es)|adopt(?:ed|s)) (?:{_G}){{0,7}}?(?:arsenal|toolkit|"
        rf"repertoire|toolset)",
        rf"\b(?:exploit kit|botnet|worm)s? (?:{_G}){{0,4}}?(?:includ(?:es?|ed)|add(?:s|ed)|uses?|used|"
        rf"integrated|incorporat\w+|spreads?|propagates?) (?:{_G}){{0,4}}?cve_\d",
        r"\bwide(?:ly|spread) (?:exploited|exploitation)",
        rf"\b(?:attacked|targeted|hit) (?:with|via|through|using|by exploiting) (?:{_G}){{0,3}}?cve_\d",
        rf"\b(?:wird|werden|wurde|wurden) (?:{_G}){{0,8}}?(?:ausgenutzt|angegriffen|missbraucht)\b",
    ),
)

_CODE: Final = (
    r"(?:proofs?[- ]of[- ]concepts?|\(?pocs?\b|exploit (?:code|script)s?|(?:working|functional|public|reliable|"
    r"complete|"
    r"weaponi[sz]ed|full) exploits?|exploits?)"
)
PROOF_OF_CONCEPT: Final = (
    _rule(
        rf"\b(?:sell(?:s|ing)?|sold|offer(?:s|ed|ing)?) (?:{_G}){{0,4}}?exploits?\b",
        rf"\b{_CODE}[^\s\u00a6]* (?:{_G}){{0,10}}?(?:published|publicly|public|available|released|posted|exists?|"
        rf"shared|"
        rf"circulat\w+|online|github|surfaced|appeared|emerged|dropped|leaked|sold|for sale|is out|are out|"
        rf"accessible)\b",
        rf"\b(?:has|have|with|is|are) (?:{_G}){{0,2}}?public(?:ly available)? (?:exploits?|poc)\b",
        rf"\b(?:publish(?:ed|es)?|releas(?:ed|es)|posted|shared|public|publicly|available|disclosed|dropped|leaked|"
        rf"provid(?:es|"
        rf"ed)|contains?|with|includes?|wrote|created|developed|built) (?:{_G}){{0,8}}?(?:proofs?[- ]of[- ]concepts?|"
        rf"\(?pocs?\b|"
        rf"exploit code|(?:working|functional) exploits?|exploit scripts?|scripts? that exploits?|exploits? for cve)",
        r"\bmetasploit (?:\w+ )?(?:module|exploit)s?\b|\bexploit-?db\b",
    ),
)


def claims(rules: tuple[re.Pattern[str], ...], certain: str) -> list[tuple[int, int]]:
    """Return the spans of a sentence without doubts that any of the rules matches, in order."""
    return sorted(match.span() for rule in rules for match in rule.finditer(certain))
