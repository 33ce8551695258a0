"""How the names of malware are written, and the everyday words that look the same, with what an analyst takes."""

from __future__ import annotations

from typing import Final

from tests.ingest.indicators.snippets import S

PLAY: Final = "malware Playcrypt"
LOCKBIT: Final = "malware LockBit"
EMOTET: Final = "malware Emotet"
COBALT: Final = "malware Cobalt Strike"

NAME_SNIPPETS: Final = (
    # --- names that the lists write small, or in one way only
    S("capitals", "The harbour office was hit by Fog ransomware.", "malware Fog"),
    S("capitals", "A Lynx affiliate took the files.", "malware Lynx"),
    S("capitals", "DragonForce ransomware and Interlock ransomware", "malware DragonForce", "malware Interlock"),
    S("capitals", "the new Warlock ransomware", "malware warlock"),
    S("capitals", "RANSOMHOUSE ransomware", "malware Ransomhouse"),
    S("capitals", "the RansomHouse gang", "malware Ransomhouse"),
    S("capitals", "hit by 3AM ransomware", "malware 3AM"),
    S("capitals", "Embargo ransomware came first. Embargo left a note.", "malware Embargo"),
    S("capitals", "The Global ransomware problem. Modern malware hides."),
    S("capitals", "Spring Framework users must update."),
    S("capitals", "The embargo ended, and the lynx ate in the fog."),
    S("capitals", "the PLAy malware of a child"),
    # --- a kind that belongs to the longer name
    S("kind before", "a new variant of Akira came up in May", "malware Akira"),
    S("kind before", "another strain of Play, they wrote", PLAY),
    S("kind before", "a new variant of the word, and a strain of corn"),
    S("kind in the name", "hit by the Kraken ransomware", "malware Kraken"),
    S("kind in the name", "hit by the Anubis ransomware, they said", "malware Anubis"),
    S("kind in the name", "the Termite ransomware.", "malware Termite"),
    S("kind in the name", "claimed by INC Ransom on Friday", "malware INC Ransom"),
    S("kind in the name", "a note of INC ransomware-", "malware INC Ransom"),
    S("kind in the name", "Play ransomware |", PLAY),
    S("kind in the name", "Dangerous ransomware spreads. Rapid ransomware response is all."),
    # --- several words in capitals, with one, or joined
    S("several words", "AGENT TESLA | COBALT STRIKE", "malware Agent Tesla", COBALT),
    S("several words", "RASPBERRY ROBIN IN THE PORTS", "malware Raspberry Robin"),
    S(
        "several words",
        "Tags: cobaltstrike, #agenttesla, Smokeloader",
        COBALT,
        "malware Agent Tesla",
        "malware Smoke Loader",
    ),
    S("several words", "Agent tesla came by letter", "malware Agent Tesla"),
    S("several words", "a Cobalt-Strike beacon", COBALT),
    S("several words", "our sales agent Tesla drove home, said @cobaltstrike"),
    S("several words", "Red Alert, Rising Sun and Merry Christmas are films"),
    S("several words", "Good day to the key group and the rabbit hole"),
    S("several words", "guides at #StopRansomware"),
    # --- everyday names in a list with sure ones
    S("list", "LockBit, Play and Akira were the busiest crews", LOCKBIT, PLAY, "malware Akira"),
    S("list", "Brands such as Qilin and Medusa pay well", "malware Qilin", "malware Medusa"),
    S("list", "Play, Royal and LockBit", LOCKBIT, PLAY, "malware Royal"),
    S("list", "TrickBot 2.1, Play, and Emotet/Snake", "malware TrickBot", PLAY, EMOTET, "malware Uroburos"),
    S("list", "It runs Cobalt Strike, Havoc, and Sliver", COBALT, "malware Havoc", "malware Sliver"),
    S("list", "It runs Cobalt Strike & Mythic or Brute Ratel", COBALT, "malware Mythic", "malware Brute Ratel C4"),
    S("list", "ransomware groups such as Play", PLAY),
    S("list", "Emotet and Play Store lures", EMOTET),
    S("list", "The Hotel Royal, Emotet and others", EMOTET),
    S("list", "Emotet and play. Emotet, Royal-blue and Cuba's ports", EMOTET),
    S("list", "Emotet, RTM", EMOTET),
    S("list", "We saw Emotet.\nPlay, hive and royal are words", EMOTET),
    S("list", "LockBit\u3001Play", LOCKBIT, PLAY),
    # --- what a sentence says that a name is
    S("is one", "Royal is a fairly new ransomware that spares no one.", "malware Royal"),
    S("is one", "Play and Medusa were the busiest ransomware crews in March", PLAY, "malware Medusa"),
    S("is one", "Akira was one of the ransomware families", "malware Akira"),
    S("is one", "Cuba is a frequent malware target. Milan was the malware hotspot of the year."),
    S("is one", "Prince Royal is a ransomware expert. Play was a loader of hay."),
    # --- what stands on another line
    S("line", "Table 2: ransomware\nPlay the video"),
    S("line", "Table 3: of the Ransomware\nRoyal\tHash"),
    S("line", "Royal\nMalware of the week"),
    S("line", "The works in the harbour had been held for nine days by the Play\nransomware gang.", PLAY),
    S("line", "The works in the harbour were held to ransom with malware called\nRoyal for days.", "malware Royal"),
    S("line", "Royal\tRansomware\t2023", "malware Royal"),
    # --- part of another name
    S("part", "They sold the White Snake malware there"),
    S("part", "the crew that we call Playful Taurus malware"),
    S("part", "on Monday Play ransomware struck the Russian Hive gang", PLAY, "malware Hive"),
    S("part", "Police Seize Hive Ransomware Servers", "malware Hive"),
    # --- names of these years
    S("new", "Winos 4.0, WINOS4.0", "malware Winos 4.0"),
    S("new", "Broomstick and CleanUpLoader", "malware Oyster"),
    S("new", "the Oyster backdoor; an oyster bar", "malware Oyster"),
    S("new", "NetSupport RAT and NetSupportRAT", "malware NetSupport RAT"),
    S("new", "Atomic Stealer, or Atomic macOS Stealer", "malware Atomic Stealer"),
    S("new", "OtterCookie, ChromeLoader", "malware OtterCookie", "malware ChromeLoader"),
    S("new", "Hunters International posted it", "malware Hunters International"),
    S("new", "AdaptixC2 agents", "malware AdaptixC2"),
    # --- rare words that are written small
    S("small", "A minibus met a termite in a warzone, and a raindrop fell."),
    S("small", "It loads TEARDROP and MINIBUS", "malware TEARDROP", "malware MINIBUS"),
    # --- everyday words in plain prose
    *(
        S("everyday", text)
        for text in (
            "The children play until nine, and the play ends.",
            "Play is how young animals learn.",
            "A hive of bees stood under the tree.",
            "The Hive Museum opens on Sunday.",
            "Snake venom is stored in small bottles.",
            "The Royal Mail delivered the parcel.",
            "Royal visitors came, and the crowd cheered.",
            "Fog covered the coast, and the ferry waited.",
            "The Lynx was brought back in 2005.",
            "The door has an interlock. Interlock switches are tested.",
            "Embargo rules apply to journalists.",
            "Global sales grew, and so did the global market.",
            "Perseus killed Medusa, who turned men to stone.",
            "Akira is a film that many painters admire.",
            "Athena and Apollo are kin of Hermes and Zeus.",
            "Maze tickets cost two pounds.",
            "Cuba, Nevada and Milan are places.",
            "Phoenix is hot; Chaos broke out in Cuba.",
            "The Empire fell, and the Knight took the Rook.",
            "Cactus plants need little water.",
            "Warlock was a word of abuse.",
            "The beast was seen at dusk.",
            "A raccoon opened the bin.",
            "She wore Oyster gloves on Oyster Bay.",
            "Donald Trump spoke on Friday.",
            "Ruby and Amber met Denis, Lena and Jason.",
            "Known ransomware groups work in shifts; other gangs copied them.",
            "Double extortion ransomware is common, and mobile malware rises.",
            "Top malware families are counted. New ransomware is faster.",
            "Human-operated ransomware is slower. First ransomware, then silence.",
            "Dark web forums sell access. Black market prices fell.",
            "Major ransomware attacks rose. Several ransomware crews left.",
            "Private loaders unload trucks. Tiny payloads went to orbit.",
            "Power loader drivers are trained here.",
            "Custom malware was used. Commodity malware was not.",
            "Linux malware spreads. Windows malware too.",
            "Silent infections are common, and offline ransomware is rare.",
            "Cylance malware researchers published a paper.",
            "The mosquito and the moth met the spider.",
            "A phantom, a joker and a ninja walk into a bar.",
            "The chameleon, the panda and the shark are asleep.",
            "Thor, Loki and Odin are gods of the North.",
        )
    ),
)
