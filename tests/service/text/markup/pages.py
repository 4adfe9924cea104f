"""Pages made up for tests: blocks with inline tags, attributes, code, comments, entities."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from lxml import etree, html

_WORDS = (
    "river",
    "house",
    "light",
    "seven",
    "quietly",
    "garden",
    "old",
    "music",
    "answer",
    "window",
    "bread",
)
_INLINE = ("a", "b", "em", "span", "strong", "u", "mark")
_BLOCKS = ("p", "div", "li", "h2", "blockquote", "td", "section")


def page(random: Random) -> str:
    """A page that is well-formed HTML, and XML too but for the names of its entities."""
    return "".join(_block(random, depth=0) for _ in range(random.randint(1, 5)))


def soup(random: Random) -> str:
    """Pieces of markup in any order."""
    pieces = (
        *(
            "<",
            ">",
            "</",
            "/>",
            "<!--",
            "-->",
            "<!",
            "<?",
            "]]>",
            "<![CDATA[",
            "&",
            "&amp;",
            "&#0;",
            "&#x41;",
        ),
        *("<p>", "</p>", "<b>", "</b>", "<a href='x>", '"', "'", "=", "<script>", "</script>", "<style>"),
        *("<br>", "<br/>", "<x id=1>", "</x>", "<x/>", "<code>", "</code>", "<pre>", "<svg>", "<td", "</"),
        *(
            " ",
            "\n",
            "\t",
            "\0",
            "é",
            "😀",
            "中",
            "\u2028",
            "word",
            "Two words.",
            "[X0X]",
            "{name}",
            "\ud800",
        ),
    )
    return "".join(random.choice(pieces) for _ in range(random.randrange(40)))


def tags(source: str) -> Counter[str]:
    """Every tag as it is written."""
    return Counter(re.findall(r"<[^>]*>", source))


def block_tags(source: str) -> list[str]:
    """The tags of blocks, in order."""
    return [
        tag for tag in re.findall(r"</?(\w+)[^>]*>", source) if tag in {*_BLOCKS, "ul", "table", "br", "pre"}
    ]


def elements(source: str) -> Counter[tuple[str, str, str]]:
    """What another parser reads: name, attributes and mother of each element. A word may change its mother."""
    root = html.fromstring(f"<body>{source}</body>")
    return Counter(
        (
            str(one.tag),
            str(sorted(one.attrib.items())),
            "" if one.tag in ("code", "img", "br") else str(one.getparent().tag),
        )
        for one in root.iter(etree.Element)
        if one.getparent() is not None
    )


def _block(random: Random, depth: int) -> str:
    name = random.choice(_BLOCKS)
    choice = random.random()
    if choice < 0.2 and depth < 3:
        inside = "\n  ".join(_block(random, depth + 1) for _ in range(random.randint(1, 3)))
    elif choice < 0.27:
        return f"<pre>kept {random.choice(_WORDS)}  as\n it is</pre>\n"
    elif choice < 0.34:
        return f"<!-- {random.choice(_WORDS)} -->\n"
    else:
        inside = " ".join(_sentence(random) for _ in range(random.randint(1, 3)))
    return f"<{name}{_attributes(random)}>{inside}</{name}>\n"


def _sentence(random: Random) -> str:
    words = [_inline(random, depth=0) for _ in range(random.randint(2, 7))]
    return " ".join(words).strip().capitalize() + random.choice(".!?")


def _inline(random: Random, depth: int) -> str:
    choice = random.random()
    if choice < 0.3 and depth < 3:
        name = random.choice(_INLINE[depth > 0 :])  # a link may not stand in a link
        inside = " ".join(_inline(random, depth + 1) for _ in range(random.randint(1, 3)))
        return f"<{name}{_attributes(random)}>{inside}</{name}>"
    if choice < 0.34:
        return f'<img src="{random.randrange(100)}.png">'
    if choice < 0.37:
        return f"<code>{random.choice(_WORDS)} &lt;x&gt;</code>"
    if choice < 0.40:
        return "&lt;script&gt; &amp;"
    if choice < 0.42:
        return "<br>"
    return random.choice(_WORDS)


def _attributes(random: Random) -> str:
    return random.choice(
        ("", "", ' class="a b"', f' id="n{random.randrange(1000)}"', ' title="a &quot;b&quot; > c"')
    )
