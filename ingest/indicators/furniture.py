"""Tell which parts of a page belong to its template: menus, share links, boxes about authors, other articles."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from lxml import etree

_TAGS: Final = frozenset({"nav", "footer", "aside", "form", "menu", "dialog"})
_ROLES: Final = frozenset({"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "menu"})
_NAMED_TAGS: Final = frozenset({"div", "section", "ul", "ol", "header", "p", "span", "table"})
_NAMES: Final = re.compile(
    r"(?i)(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|side-?bar|footer|breadcrumbs?|related|recommended|comments?|share|sharing|social"
    r"|cookies?|newsletter|subscribe|subscription|advert\w*|promo|widget|pagination|pager|masthead|top-?bar|announcement(?:-bar)?|toolbar|skip-?link"
    r"|teilen|verwandte?|empfehlungen|partager|compartir|consent|gdpr|sharedaddy|addtoany\w*|addthis\w*|sharethis\w*"
    r"|jp-relatedposts|read-?next|read-?more|up-?next|follow-?us)(?:$|[\s_-])"
    r"|(?:^|\s)(?:hot(?:s|-?(?:posts?|articles?|news|list|topics?))?|recommend(?:s|ations?|-?(?:posts?|articles?|list|box))?"
    r"|(?:latest|recent|popular|trending|similar)[_-]?(?:posts?|articles?|news|entries)"
    r"|(?:(?:post|entry|article)[_-]?)?tags(?:[_-]?(?:list|cloud|links))?|tag[_-]?(?:list|cloud|links)"
    r"|prev[_-]?next|next[_-]?prev|(?:post|entry)[_-](?:nav|navigation))(?:$|\s)"
    r"|(?:^|\s)(?:autor|auteur|(?:post-|entry-|article-)?author(?:s|[_-]?(?:box|bio|info|card|profile|about))?"
    r"|about-(?:the-)?author)(?:$|\s)"
)
# What templates and microformats call the article itself.
_ARTICLES: Final = re.compile(
    r"(?i)(?:^|\s)(?:h-?entry|e-content|(?:entry|post|article|blog|story|single)[_-]?(?:content|body|text|post)"
    r"|(?:blog|post)[_-]?(?:entry|article)|article|markdown-body|rich-?text|news[_-]?(?:content|body|text))(?:$|\s)"
)
_MOST_ELEMENTS_ASKED: Final = 2_000
_MOST_ARTICLES_ASKED: Final = 8
_LEAST_PROSE: Final = 400
_SECTION_TAGS: Final = frozenset({"div", "section"})
# What may look like boilerplate without any attribute.
ALWAYS_ASKED: Final = _TAGS | _SECTION_TAGS
_HEADING_TAGS: Final = frozenset({"h2", "h3", "h4", "h5", "h6", "strong"})
_LISTINGS: Final = frozenset({"table", "pre", "code"})
_CHILDREN_ASKED: Final = 20
_PARAGRAPHS_OF_A_CARD: Final = 2
_LONGEST_HEADING: Final = 60
_HEADINGS: Final = re.compile(
    r"(?i)\s*(?:(?:related|similar|recommended|popular|latest|recent|more|other|trending|featured|our other)"
    r" (?:posts?|articles?|stor(?:y|ies)|content|reading|news|blogs?|research|resources|reports|from)\b"
    r"|you (?:may|might) also|read (?:next|more)|most (?:read|popular)|share (?:this|on|via|the)|follow us"
    r"|stay (?:connected|informed)|about the authors?|(?:join|get|sign up for|subscribe to) (?:our|the|us)\b"
    r"|we (?:use|value) .{0,20}(?:cookies|privacy)"
    r"|weitere beiträge|ähnliche (?:artikel|beiträge)|das könnte sie|über (?:uns|den autor|die autorin)"
    r"|(?:art[ií]culos|entradas|noticias|artigos|posts) relacionad[oa]s|también te puede interesar|leia também"
    r"|articles (?:similaires|connexes|liés)|[àa] lire (?:aussi|également)|sur le même sujet|articoli correlati"
    r"|похожие (?:статьи|записи|материалы)|читайте также|(?:热门|相关|推荐|最新)(?:文章|阅读|推荐|资讯|新闻)|推荐阅读"
    r"|上一篇|下一篇|関連(?:記事|リンク|する記事)|おすすめ(?:の)?記事|人気記事|新着記事"
    r"|관련 ?(?:기사|글|뉴스)|인기 ?(?:기사|글|뉴스))"
)
_SOCIAL: Final = re.compile(
    r"(?i)(?:https?:)?//(?:[\w-]{1,30}\.){0,3}(?:x\.com|twitter\.com|facebook\.com|fb\.com|linkedin\.com|bsky\.app|reddit\.com"
    r"|t\.me|telegram\.me|wa\.me|whatsapp\.com|pinterest\.com|tumblr\.com|threads\.(?:net|com)|vk\.com|xing\.com|line\.me"
    r"|flipboard\.com|getpocket\.com|instapaper\.com|ycombinator\.com|weibo\.com|hatena\.ne\.jp|mastodon\.social"
    r"|mastodonshare\.com|infosec\.exchange|buffer\.com|mix\.com|instagram\.com|youtube\.com|tiktok\.com|discord\.(?:gg|com)"
    r"|signal\.(?:me|org)|evernote\.com|digg\.com|diasporafoundation\.org|toot\.kytta\.dev)(?=[/?#]|$)(?P<rest>.{0,40})"
)
_SHARING: Final = re.compile(
    r"(?i)[/?&](?:share\w*|intent|compose|submit\w*|send|msg|pin/create|save|edit|text|url|u)\b"
)
_RUNNING_TEXT: Final = etree.XPath(
    "descendant-or-self::*[self::p or self::div or self::td or self::li or self::section or self::article or self::span"
    " or self::blockquote][not(ancestor-or-self::a)]/text()[string-length(normalize-space(.)) > 60]"
)
_TEXT_LENGTH: Final = etree.XPath("string-length(.)")  # takes a tenth of the time
_NETWORKS: Final = frozenset(
    {
        "x", "twitter", "facebook", "linkedin", "bluesky", "mastodon", "threads", "reddit", "telegram", "whatsapp",
        "pinterest", "tumblr", "pocket", "xing", "instapaper", "flipboard", "hackernews", "line", "vk", "weibo",
        "buffer", "discord", "instagram", "youtube", "tiktok", "signal", "evernote", "digg", "diaspora", "mix",
    }
)  # fmt: skip


def looks_like_furniture(element: Any, tag: str) -> bool:
    """Tell whether an element's tag, role, name or heading says that it is not part of the article, whatever it
    holds.
    """
    return (
        tag in _TAGS
        or (element.get("role") or "").lower() in _ROLES
        or _is_named_so(element, tag)
        or _is_headed_so(element, tag)
    )


def holds_the_article(element: Any, of_page: int) -> bool:
    """Tell whether an element that looks like boilerplate is a wrapper of the article.

    `of_page`: how many characters of prose the page has. A wrapper named after a side bar is no side bar, nor is what
    holds most of the page's prose; one with several articles of a line or two lists other pages.
    Costs a pass over all that the element holds.
    """
    articles = 0
    for inner in element.iter("article", "main", "h1"):
        articles += 1
        if inner.tag != "article" or _is_long(inner):
            return True
    return articles == 1 or _is_called_the_article(element) or _holds_most_prose(element, of_page)


def _is_called_the_article(element: Any) -> bool:
    """Tell whether markup for machines, or a template's usual class, says that the article's text is in an element."""
    asked = 0
    for inner in islice(element.iter("div", "section", "td", "span", "article"), _MOST_ELEMENTS_ASKED):
        by_machine = (inner.get("itemprop") or "").lower() == "articlebody"
        if by_machine or _ARTICLES.search((inner.get("class") or "")[:300]):
            asked += 1
            if prose_in(inner) >= _LEAST_PROSE:
                return True
            if asked == _MOST_ARTICLES_ASKED:
                break
    return False


def _holds_most_prose(element: Any, of_page: int) -> bool:
    """Tell whether more than half of a page's prose stands in an element, whatever it is called."""
    if of_page < _LEAST_PROSE or _length_of_text(element) * 2 <= of_page:
        return False
    return prose_in(element) * 2 > of_page


def _length_of_text(element: Any) -> float:
    length: Any = _TEXT_LENGTH(element)
    return float(length)


def prose_in(element: Any) -> int:
    """Return how many characters of paragraphs and running text an element holds outside of links."""
    pieces: Any = _RUNNING_TEXT(element)
    return sum(len(piece.strip()) for piece in pieces)


def _is_long(article: Any) -> bool:
    return len(list(islice(article.iter("p"), _PARAGRAPHS_OF_A_CARD + 1))) > _PARAGRAPHS_OF_A_CARD


def _is_named_so(element: Any, tag: str) -> bool:
    if tag not in _NAMED_TAGS:
        return False
    names = f"{element.get('id') or ''} {element.get('class') or ''}"
    return len(names) > 1 and _are_of_furniture(names[:300])


@lru_cache(maxsize=4096)  # a page has many elements of one class
def _are_of_furniture(names: str) -> bool:
    return _NAMES.search(names) is not None


def _is_headed_so(element: Any, tag: str) -> bool:
    """Tell whether the first thing in a section is a heading such as `Related posts`."""
    if tag not in _SECTION_TAGS or not len(element) or element[0].tag not in _HEADING_TAGS:
        return False
    heading = (element[0].text or "").strip()
    if not 0 < len(heading) <= _LONGEST_HEADING or not _HEADINGS.match(heading):
        return False
    return not any(child.tag in _LISTINGS for child in element[:_CHILDREN_ASKED])


def leads_to_a_network(element: Any) -> bool:
    """Tell whether a link shares the page on a social network, or only leads to one by its name."""
    network = _SOCIAL.match((element.get("href") or "")[:300])
    if network is None:
        return False
    words = "".join(filter(str.isalpha, (element.text or "")[:40])).lower()
    return words in _NETWORKS or _SHARING.search(network["rest"]) is not None
