"""A tokenizer learnt in the test session, from sentences that are made here."""

import random
from collections.abc import Iterator

import pytest

from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

ENGLISH = (
    "The gardener|My sister|Our neighbour|The old captain|A young doctor|Nobody|The teacher",
    "finds|opened|will remember|is looking for|has painted|forgot|cannot reach",
    "the narrow bridge|a broken window|two wooden boxes|the evening train|his notebook|the 3 keys",
    "before breakfast|in the village|after 10 minutes|without a word|again|on Sunday, as always",
)
GERMAN = (
    "Der Gärtner|Meine Schwester|Unser Nachbar|Der alte Kapitän|Eine junge Ärztin|Niemand|Die Lehrerin",
    "findet|öffnet heute|vergisst|sucht noch immer|bemalt|erreicht nicht",
    "die schmale Brücke|ein zerbrochenes Fenster|zwei Holzkisten|den Abendzug|das Heft|die 3 Schlüssel",
    "vor dem Frühstück|im Dorf|nach 10 Minuten|ohne ein Wort|am Sonntag, wie immer|schließlich",
)
CHINESE = (
    "园丁|我妹妹|邻居|老船长",
    "，今天|，昨天",
    "找到了|打开了|忘记了",
    "窄桥|窗户|两个木箱|钥匙",
    "。|？|！|；",
)


def sentences(count: int, seed: int) -> Iterator[str]:
    """English, German and Chinese sentences by turns, drawn from the phrases above."""
    choice = random.Random(seed).choice
    for number in range(count):
        if number % 5 == 4:
            yield "".join(choice(phrases.split("|")) for phrases in CHINESE)
        else:
            slots = (ENGLISH, GERMAN)[number % 2]
            yield " ".join(choice(phrases.split("|")) for phrases in slots) + choice(".!?")


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    return list(sentences(2000, seed=1))


@pytest.fixture(scope="session")
def unseen() -> list[str]:
    """Sentences made like those of the corpus."""
    return list(sentences(200, seed=2))


@pytest.fixture(scope="session")
def tokenizer(corpus: list[str]) -> Tokenizer:
    return Tokenizer(train_tokenizer(corpus, size=700, languages=["de", "en", "zh"]))
