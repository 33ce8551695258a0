"""Remove from a sentence what it denies, doubts, fears, forbids or imagines, before anything is read as a claim.

What is taken out is replaced by bars of the same length, so that places stay and no pattern reaches across.
"""

from __future__ import annotations

import re
from typing import Final

BAR: Final = "\u00a6"
_WORD: Final = r"[^\s,;\u00a6]+"

_PRODUCT: Final = (
    r"products?|plug-?ins?|drivers?|software|tools?|components?|librar(?:y|ies)|appliances?|devices?|servers?|systems?|"
    r"platforms?|modules?|services?|features?|functions?|protocols?|frameworks?|routers?|firewalls?|vpns?|gateways?|"
    r"applications?|apps?|solutions?|code|files?"
)

# Words that may stand between a denial or a modal and the verb that it belongs to.
_BETWEEN: Final = (
    r"(?:(?:yet|currently|been|being|be|is|are|was|were|known|to|have|has|had|actively|publicly|widely|seen|observed|"
    r"ever|also|already|still|so|far|believed|thought|reported|reportedly|found|it|they|even|successfully|themselves|"
    r"really|actually|so far|as|of|yet been|easily|remotely|soon|eventually|also be|probably|possibly|potentially|"
    r"theoretically|perhaps|directly|immediately|quickly|simply|then|likely|very|highly|more|most|less|extremely|"
    r"maliciously|intentionally|first|again|only|just|not|in|any|a|an|the|try|attempt|begin|start|want|wish|seek|"
    r"made|been made) )"
)
_HARM: Final = (
    r"(?:exploit\w*|abus\w*|attack\w*|weaponi\w*|leverag\w*|target\w*|misus\w*|in[- ]the[- ]wild|under (?:active )?"
    r"(?:attack|exploitation)|compromis\w*|hack\w*|breach\w*|malicious\w*|poc\b|pocs\b|proofs?[- ]of[- ]concepts?)"
)
_EVIDENCE: Final = (
    r"(?:evidence|reports?|indications?|indicators?|signs?|instances?|cases?|knowledge|confirmation|proof|known|public|"
    r"incidents?|hints?|traces?|record|detections?|sightings?|observations?|claims?|customers?|users?|victims?|"
    r"organi[sz]ations?|reasons?|basis|grounds)"
)
# Where a thought ends, whatever it was.
_STOP: Final = (
    r";|:|\u00a6| - |\bbut\b|\balthough\b|\bthough\b|\bhowever\b|\bwhile\b|\bwhereas\b|\bdespite\b|\beven as\b|"
    r"\band (?:yet|still)\b|(?:,|,? and) (?:only )?cve_[0-9]+,? (?:is|was|has|which|remains)\b|"
    r",? and (?:also )?attackers\b"
)
# A verb in the indicative begins a thought of its own after a modal: "could let them in is being exploited".
_FINITE: Final = (
    r" (?:is|are|was|were|has|have|had) (?:(?:\w+ly|been|being|now|already|also|since|under|come|seen|in) ){0,4}"
    r"(?:exploit|abus|weaponi|leverag|attack|used|target|attack|active|hacked|listed|added|come|came|wild)"
)
_TO_STOP: Final = rf"(?:(?!{_STOP}).)*"
_TO_COMMA: Final = rf"(?:(?!{_STOP}|,|\(|\)|\band (?:is|are|was|were|has|have|had|now) |{_FINITE}).)*"
_TO_CVE: Final = rf"(?:(?!{_STOP}|,|\(|cve_).)*"

_NO_GAP: Final = (
    r"(?:(?!(?:is|are|was|were|has|have|had|and|but|while|so|because|as|patch|patches|fix|fixes|longer|later|doubt)\b)"
    r"[^\s,;\u00a6]+ ){0,4}?"
)
_PRESUMES: Final = r"(?! (?:who|how|what|which|when|where|why)\b)"

_WHOLE: Final = re.compile(
    r"\b(?:pwn2own|red[- ]team(?:ing|ers?)?|penetration[- ]test\w*|pentest\w*|(?:our|a|the|its|"
    r"their) (?:own )?(?:test )?"
    r"lab(?:oratory)?|(?:test|lab) environment|capture[- ]the[- ]flag|table-?top|bug bounty|retracted|debunked|"
    r"unfounded|untrue|(?:is|are|was|were|proved|turned out to be|as) (?:\w+ )?(?:false|incorrect|wrong|mistaken)|"
    r"rumou?rs?|rumou?red|unconfirmed|contrary to|nothing to do with|hypothe\w+|in theory|in principle|"
    r"theoretical\w*|imagine|suppose|simulat\w+|for example, if|false alarm|false positive|mistakenly|erroneously|"
    r"incorrectly|wrongly|falsely|speculat\w+|could not (?:be )?(?:verif|confirm|substantiat)\w*|tutorial|walkthrough|"
    r"workshop|hackathon|ctf|(?:internal|in|during|our) test(?:ing|s)|(?:reports?|claims?|allegations?|suggestions?) "
    r"(?:\S+ ){1,20}?not (?:yet )?(?:been )?(?:verified|confirmed|substantiated|proven))\b"
)
_DIFFERENT: Final = re.compile(r"[^;:,\u00a6]*\b(?:is|was) (?:an? )?(?:different|separate|unrelated|another)\b[^;]*")
_OTHER: Final = re.compile(
    r"(\b(?:and|with|alongside|plus|or|including|to|among|as well as)(?: (?:two|three|four|several|some|many|"
    r"[0-9]+))? )?"
    r"\b(?:similar|others?|another|different|separate|unrelated|older|earlier|previous|prior|past|last (?:year|"
    r"month)'s|"
    r"related|second|sibling|sister) (?:[^\s,;(\u00a6]+ ){0,3}?(?:bugs?|flaws?|vulnerabilit(?:y|ies)|zero-days?|"
    r"issues?|"
    r"holes?|weakness(?:es)?|cves|products?|defects?|ones?|chains?)\b" + _TO_CVE
)

# What is done with a kind of flaw is not said of this one.
_KIND: Final = re.compile(
    r"\b(?:bugs?|flaws?|vulnerabilit(?:y|ies)|zero-days?|issues?|holes?|weakness(?:es)?|cves) "
    r"(?:like (?:this|these|that|it)|of (?:this|that) (?:kind|type|sort|class|nature))\b"
)


def _rule(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives))


_RULES: Final = (
    # Denied: evidence, reports, attacks that are not.
    _rule(
        rf"\b(?:no|without(?: any)?|lack of|absence of|zero|nothing|nor|not (?:a|one)(?: single)?|little|scant|few|"
        rf"insufficient|inconclusive) {_NO_GAP}(?:{_EVIDENCE}|{_HARM}){_TO_STOP}",
        rf"\bno (?:customers?|users?|victims?|organi[sz]ations?|systems?|devices?|one|attackers?|actors?|instances?)"
        rf"\b{_TO_STOP}",
        rf"\b(?:nothing to (?:suggest|indicate|show)|no-one|nobody|neither|none|unaware|not aware|ruled out|rules out|"
        rf"den(?:y|ies|ied)|refut\w+|disput\w+|dismiss\w+|rather than|instead of|whether|if|unless|in case|"
        rf"in the event|"
        rf"assuming|provided that|lest|so that|supposing)\b{_PRESUMES}{_TO_STOP}",
    ),
    # Seen by nobody: the denial ends where the next thought begins.
    _rule(
        r"\b(?:has|have|had|was|were|is|are) (?:not|never) (?:(?:yet|been|being|so far|publicly|"
        r"ever) ){0,3}(?:observed|seen|"
        r"reported|detected|confirmed|recorded|identified|documented)(?=,)",
    ),
    # Not seen, not known, not believed.
    _rule(
        rf"\b(?:not|never|yet to|cannot|hardly|failed to|unable to|scarcely) (?!only|just|merely|surprisingly)"
        rf"(?:(?:\w+ly|yet|been|be|have|has|had|to|any|itself|so|far|also|ever|personally|currently) ){{0,3}}"
        rf"(?:aware|see|sees|seen|observe\w*|know|known|find|found|detect\w*|receiv\w*|record\w*|identif\w*|confirm\w*|"
        rf"believ\w*|think|thought|suggest\w*|report\w*|indicat\w*|evidence|any|appear\w*|seem\w*|clear|witness\w*|"
        rf"encounter\w*|track\w*|mean|imply|log|logged|prove\w*|proven|establish\w*|verif\w*|heard|hear|certain|sure|"
        rf"show\w*|"
        rf"noticed?|expect\w*|need\w*)\b{_PRESUMES}{_TO_STOP}",
        rf"\bnot (?:say|said|state|claim|mention|comment)\w* (?:that|on|if|whether|anything|cve)\b{_TO_STOP}",
        rf"\b(?:unclear|unknown|uncertain|remains to be seen|doubt(?:s|ful|ed)?)\b{_PRESUMES}{_TO_STOP}",
    ),
    # Not done: the denial belongs to the verb itself.
    _rule(
        rf"\b(?:not|never|no longer|hardly|yet to|without) (?!only|just|merely){_BETWEEN}{{0,6}}"
        rf"(?:{_HARM}|used|utili[sz]ed|us(?:e|ing)|add(?:ed)?|list(?:ed)?|includ\w*|part of|on|in (?:the |its |"
        rf"cisa's )?(?:\w+ )?(?:kev|known exploited|catalog(?:ue)?|list)\b|chain\w*|caught|exist|"
        rf"available|public|published|released|out\b|disclosed|shared|posted|actively|anyone|present){_TO_STOP}",
    ),
    # Feared, expected, planned, hoped for.
    _rule(
        rf"\b(?:expect\w*|anticipat\w*|predict\w*|fear\w*|worr\w*|afraid|forecast\w*|plans?|planning|planned|intends?|"
        rf"only a matter of time|matter of time|it will not (?:be|take) long|imminent\w*|soon|eventually|"
        rf"withh[eo]ld\w*|"
        rf"h[eo]ld back|waiting|tempting|attractive|likely to become|ahead of|next (?:week|month)|candidates? for|"
        rf"ripe for|suitable for|ideal for|of interest to|as if)\b{_TO_STOP}",
    ),
    # Only possible.
    _rule(
        rf"\b(?:could|can|may|might|would|should|will|shall|must|cannot|(?:be|is|are) able to|needs? to|has to|have to|"
        rf"wants? to|going to|expected to|likely|unlikely|possibly|potentially|potential|possible|perhaps|maybe|"
        rf"believed to|thought to|assumed to|presumed to|as though|suspected(?: to| of)?|alleged(?:ly)?|presumably|"
        rf"probably|appears? to|seems? to) "
        rf"{_BETWEEN}{{0,6}}{_WORD}{_TO_COMMA}",
        rf"\b(?:allow\w*|enabl\w*|lets?|letting|permit\w*|help(?:s|ing)?|mak(?:es|ing) it (?:\w+ )?(?:possible|easy|"
        rf"easier|trivial)|risks?(?: of| from| that)?|at risk|prone to|susceptible to|(?:open|exposed|vulnerable) to "
        rf"(?:active |further |remote )?(?:exploitation|attacks?|abuse)|likelihood|probability|chances?|(?:easy|easier|"
        rf"trivial|difficult|hard|simple|straightforward|possible|enough|required|needed|necessary|designed|crafted) "
        rf"(?:for|to)|in order to|capable of|opportunity|danger of|threat of|potential for|possibility of|"
        rf"exploitability|exploitable) {_BETWEEN}{{0,4}}{_WORD}{_TO_COMMA}",
        rf"\b(?:easily|trivially|remotely|locally|readily|reliably) (?:exploited|exploitable|abused){_TO_COMMA}",
        r"[^,;\u00a6]*\b(?:is|are|be|remains?|still) (?:\w+ly )?(?:possible|feasible|conceivable|plausible)\b",
    ),
    # Prevented, searched for, or shown how.
    _rule(
        rf"(?<!we )(?<!they )(?<!also )(?<!researchers )(?<!sensors )(?<!honeypots )\b(?:detect|block|stop|catch) "
        rf"(?:(?!ed)[^\s,;\u00a6]+ ){{0,4}}?{_HARM}{_TO_COMMA}",
        rf"\b(?:keep\w*|kept|stop\w*|prevent\w*|deter\w*|bar\w*|block\w*|hinder\w*|discourag\w*|dissuad\w*) "
        rf"(?:[^\s,;\u00a6]+ ){{0,6}}?from {_TO_COMMA}",
        r"\b(?:denial[- ]of[- ]service|d?dos|xss|scripting|csrf|man-in-the-middle|mitm|injection|brute[- ]force|relay|"
        r"spoofing|replay|side-channel|timing|smuggling|traversal|downgrade|deserialization|overflow) attacks?\b",
        rf"\b(?:absent|missing|removed|dropped|excluded|left out|outside) (?:\w+ ){{0,4}}?(?:kev|"
        rf"known exploited){_TO_COMMA}",
        rf"^to be {_HARM}{_TO_COMMA}",
        rf"\b(?:detects|detecting|to detect|blocks|blocking|to block|prevents?|preventing|stops?|stopping|mitigat\w+|"
        rf"thwarts?|catches|protect(?:s|ed|ing)?|defend(?:s|ed)?|guard(?:s|ed|ing)?|shield\w*|safe|immune|avoids?|"
        rf"avoiding|reduces?|limits|"
        rf"minimi[sz]es?"
        rf") (?:[^\s,;\u00a6]+ ){{0,5}}?{_HARM}{_TO_COMMA}",
        rf"\b(?:protections?|defen[cs]es?|safeguards?|signatures?|rules?|coverage|detections?|quer(?:y|ies)|template) "
        rf"(?:against|for|of|to) (?:[^\s,;\u00a6]+ ){{0,5}}?{_HARM}{_TO_COMMA}",
        rf"\b(?:expos(?:es|ing)|leav(?:es|ing)|opens?|opening|leads? to|"
        rf"results? in) (?:[^\s,;\u00a6]+ ){{0,5}}?(?:to )?"
        rf"(?:\S+ ){{0,2}}?attacks?\b{_TO_COMMA}",
        rf"\b(?:hunt|look|looking|check|checks|search|monitor|watch|inspect|review|investigate|hunting|checking|"
        rf"monitoring|searching|watching|test|testing)(?: (?!and\b)[^\s,;\u00a6]+){{0,6}}? (?:for|to see) "
        rf"(?:(?!and\b)[^\s,;\u00a6]+ ){{0,4}}?(?:{_HARM}|attempts?){_TO_COMMA}",
        rf"\bhow (?:\w+ ){{0,3}}(?:exploit|abuse|weaponi[sz]e|leverage|attack|use)s?\b{_TO_COMMA}",
        rf"(?<!began )(?<!begun )(?<!started )(?<!starting )(?<!continue )(?<!continued )(?<!continues )(?<!observed )"
        rf"(?<!seen )(?<!caught )(?<!attempting )(?<!attempted )(?<!attempts )(?<!trying )(?<!tried )(?<!managed )"
        rf"(?<!known )(?<!found )(?<!able )(?<!rushed )(?<!spotted )(?<!using cve_0 )\bto (?:\w+ly )?(?:exploit|abuse|"
        rf"leverage|weaponi[sz]e)\b{_TO_COMMA}",
    ),
    # An attacker who need not exist.
    _rule(
        rf"(?<!by )\b(?:an?|any) (?:[^\s,;\u00a6]+ ){{0,6}}?(?:attacker|adversary|hacker|intruder|insider|user|website|"
        rf"person|party)\b(?! (?:exploited|used|abused|breached|has|had|broke|stole|gained|compromised)){_TO_COMMA}",
        rf"\b(?:attackers|adversaries|actors|hackers|anyone|those|someone|criminals|users) (?:who|that) (?:\w+ly )?"
        rf"(?:exploit|exploits|abuse|abuses|leverage)\b{_TO_COMMA}",
        r"\b(?:attackers|adversaries|actors|hackers|criminals) (?:\w+ly )?(?:exploiting|abusing|leveraging) "
        r"(?:[^\s,;\u00a6]+ ){1,10}?(?=\u00a6)",
        rf"\bwould-be\b{_TO_COMMA}",
        rf"^(?:were|had|should) (?:[^\s,;]+ ){{1,8}}?(?:to|been|exploit\w*|abuse\w*)\b{_TO_COMMA}",
        rf"\b(?:initially|originally|at first) (?:believed|thought|suspected|assumed|feared){_TO_STOP}",
    ),
    # Before it happened, or where it happens by definition.
    _rule(
        rf"\b(?:before|until|till|prior to) (?:(?!(?:the|a|an) (?:patch|fix|update|advisory|disclosure))"
        rf"[^\s,;\u00a6]+ ){{0,5}}?{_HARM}{_TO_COMMA}",
        rf"\b(?:once|when|where|whenever|after being) (?:successfully )?(?:exploited|abused|leveraged|"
        rf"chained){_TO_COMMA}",
        rf"\bsuccessful(?:ly)? (?:exploitation|exploits?|exploiting|attacks?)\b(?!.{{0,120}}?\b(?:was|has been|"
        rf"have been|were"
        rf"|is being|been) (?:\w+ly )?(?:observed|detected|seen|confirmed|reported|recorded|identified)){_TO_COMMA}",
        rf"\bexploitation (?:(?:of|for) [^\s,;\u00a6]+ )?(?:requires?|depends|involves?|needs|relies|allows?|leads?|"
        rf"results?|"
        rf"more likely|less likely|unlikely|is (?:\w+ )?(?:considered|deemed|rated|assessed|more|less|easy|complex|"
        rf"difficult|hard|trivial|low|high)|as (?:more|less)|does|assessment|index)\b{_TO_COMMA}",
        rf"\bassess(?:es|ed)? (?:[^\s,;\u00a6]+ ){{0,5}}?as (?:more|less)\b{_TO_COMMA}",
    ),
    # Security researchers do it for a living, and tests do it on purpose.
    _rule(
        rf"\b(?:researchers?|we|our team|students|academics|engineers|analysts|pentesters|testers|i|team) "
        rf"(?:(?:\w+ly|also|have|has|then|were able to|was able to|managed to|first|had) ){{0,3}}(?:exploited|used|"
        rf"abused|"
        rf"chained|leveraged|weaponi[sz]ed|hacked|demonstrated?|reproduced|built|wrote|developed|exploit|triggered)\b"
        rf"{_TO_COMMA}",
        rf"\bdemonstrat\w+{_TO_COMMA}",
    ),
    # Somebody else's fate.
    _rule(
        r"\b(?:similar to|same (?:\w+ ){1,4}as|reminiscent of|resembl\w+|variant of|bypass(?:es|ed|"
        r"ing)? (?:\w+ ){0,5}?(?:of|"
        r"for)|bypass of|unlike|just like|much like|compared (?:to|with)|as opposed to|in contrast to|"
        r"successor (?:of|to)) "
        rf"(?!cve_){_TO_CVE}",
        r"\bthat was never exploited\b",
        r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|several|some|[0-9]+|another|"
        r"others) (?:of (?:them|which|these|those) |(?:of them )?(?:that|which) )(?:are|were|have|has|is|"
        r"was)(?: been| being)? (?:\w+ly )?(?:exploited|abused|attacked|"
        r"under (?:active )?(?:attack|exploitation))[^,;]*",
    ),
    # What is exploited is the product, or was seen of nobody.
    _rule(
        rf"\b(?:{_PRODUCT}) (?:that|which) (?:(?:\w+ ){{1,4}}?(?:have|has|had)|has|have|had|was|were|is|are)(?: been|"
        rf" being)? "
        rf"(?:\w+(?:ly)? )?(?:exploited|abused|targeted|attacked|used|hit){_TO_COMMA}",
        r"\b(?:exploitation|exploits?|attacks?|abuse|attempts?|activity|misuse|"
        r"weaponi\w+)\b[^,;\u00a6]{0,100}?(?:has|have|had|was|"
        r"were|is|are|been|did|do|does) ?\u00a6+",
        r"\b(?:exploitation|attacks?|abuse|attempts?|activity|misuse) (?:(?:of|for|against) [^\s,;\u00a6]+ )?\u00a6+",
    ),
    # Fields that say no.
    _rule(
        r"\bexploit(?:ed|ation)?(?: in the wild| detected| status| known)?(?: of cve_[0-9]+)? ?[:=;?] ?(?:\|"
        r" )?(?:no\b|none"
        r"|false|not\b|unknown|n/a|unlikely|less likely|more likely|-)[^;]*",
        r"\bin the wild ?[:=;?] ?(?:no\b|none|false|not\b|unknown)[^;]*",
        r"[^;]*\b(?:kev|known exploited vulnerabilit\w+)(?: catalog(?:ue)?| list)? ?[:=;?] ?(?:no\b|none|false|"
        r"not\b)[^;]*",
    ),
    # In German.
    _rule(
        rf"\b(?:nicht|keine?[nmrs]?|kann|können|könnte[n]?|dürfte[n]?|wenn|falls|sollte[n]?|ob|bevor|"
        rf"möglicherweise)\b{_TO_STOP}",
    ),
)
_THOUGHTS: Final = re.compile(rf"((?:{_STOP}).)")
# Apple's words for what others call exploited: no doubt is meant.
_KNOWN_CAUTION: Final = re.compile(
    r"(\baware of (?:a|one or more|several|multiple) reports? (?:that|indicating)\b[^.;]{0,120}?) may (have been)"
)


def without_doubts(plain: str) -> str:
    """Return the sentence with bars for everything that it does not claim."""
    plain = _KNOWN_CAUTION.sub(r"\1     \2", plain)
    if plain.endswith("?"):
        return BAR * len(plain)
    plain = "".join(BAR * len(part) if _WHOLE.search(part) else part for part in _THOUGHTS.split(plain))
    plain = _KIND.sub(_bars, _DIFFERENT.sub(_bars, plain))
    plain = _OTHER.sub(lambda match: match[0] if match[1] else BAR * len(match[0]), plain)
    for rule in _RULES:
        plain = rule.sub(_bars, plain)
    return plain


def _bars(match: re.Match[str]) -> str:
    return BAR * len(match[0])
