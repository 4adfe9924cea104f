"""The sentence templates of the primer.

Their grammar is worked out, not listed: gender and case of articles and adjectives, agreement of verbs, the
German verb in second place, at the end of a clause, or first in a question, and the ways to write numbers,
dates, times and prices.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from random import Random
from typing import Literal, NamedTuple

from training.corpora.pairs import Pair
from training.primer.lexicon import (
    ADJECTIVES,
    MONTHS,
    MOODS,
    OCCASIONS,
    PERSON_ADJECTIVES,
    PERSONS,
    PLACES,
    THINGS,
    VERBS,
    WEEKDAYS,
    Noun,
    Verb,
    Words,
    number_words,
)

Case = Literal["nominative", "accusative", "dative"]

_DEFINITE = {
    "nominative": {"m": "der", "f": "die", "n": "das"},
    "accusative": {"m": "den", "f": "die", "n": "das"},
    "dative": {"m": "dem", "f": "der", "n": "dem"},
}
_INDEFINITE_ENDING = {
    "nominative": {"m": "", "f": "e", "n": ""},
    "accusative": {"m": "en", "f": "e", "n": ""},
    "dative": {"m": "em", "f": "er", "n": "em"},
}


class Subject(NamedTuple):
    english: str
    german: str
    person: Literal["first", "third", "plural"]


def _noun_phrase(random: Random, noun: Noun, adjectives: Sequence[Words], case: Case) -> Words:
    adjective = random.choice(adjectives) if random.random() < 0.4 else None
    if random.random() < 0.6:
        return _definite(noun, adjective, case)
    return _indefinite(noun, adjective, case)


def _definite(noun: Noun, adjective: Words | None, case: Case) -> Words:
    ending = "en" if case == "dative" or (case == "accusative" and noun.gender == "m") else "e"
    english = f"the {adjective.english} " if adjective else "the "
    german = f"{adjective.german}{ending} " if adjective else ""
    return Words(english + noun.english, f"{_DEFINITE[case][noun.gender]} {german}{noun.german}")


def _indefinite(noun: Noun, adjective: Words | None, case: Case) -> Words:
    """Where "ein" has no ending, the adjective shows the gender."""
    article_ending = _INDEFINITE_ENDING[case][noun.gender]
    ending = "en" if case == "dative" else article_ending or {"m": "er", "n": "es"}[noun.gender]
    english = f"{adjective.english} {noun.english}" if adjective else noun.english
    german = f"{adjective.german}{ending} {noun.german}" if adjective else noun.german
    return Words(f"{'an' if english[0] in 'aeiou' else 'a'} {english}", f"ein{article_ending} {german}")


def _subject(random: Random) -> Subject:
    kind = random.random()
    noun = random.choice(PERSONS)
    if kind < 0.6:
        return Subject(*_noun_phrase(random, noun, PERSON_ADJECTIVES, "nominative"), "third")
    if kind < 0.75:
        return Subject(f"the {noun.english_plural}", f"die {noun.german_plural}", "plural")
    return random.choice(
        (
            Subject("I", "ich", "first"),
            Subject("he", "er", "third"),
            Subject("she", "sie", "third"),
            Subject("we", "wir", "plural"),
            Subject("they", "sie", "plural"),
        )
    )


def _object(random: Random) -> Words:
    return _noun_phrase(random, random.choice(THINGS), ADJECTIVES, "accusative")


def _present(verb: Verb, subject: Subject) -> Words:
    return Words(
        verb.third if subject.person == "third" else verb.base,
        {"first": verb.first, "third": verb.german_third, "plural": verb.infinitive}[subject.person],
    )


def _agree(subject: Subject, first: str, third: str, plural: str) -> str:
    return {"first": first, "third": third, "plural": plural}[subject.person]


def _sentence(english: str, german: str, end: str = ".") -> Pair:
    return Pair(english[0].upper() + english[1:] + end, german[0].upper() + german[1:] + end)


def _statement(random: Random) -> Pair:
    subject, verb, thing = _subject(random), random.choice(VERBS), _object(random)
    form = _present(verb, subject)
    english = f"{subject.english} {form.english} {thing.english}"
    if random.random() < 0.5:
        return _sentence(english, f"{subject.german} {form.german} {thing.german}")
    place = random.choice(PLACES)
    # What is new stands last: "den Hut im Garten", but "im Garten einen Hut".
    order = (place.german, thing.german) if thing.german.startswith("ein") else (thing.german, place.german)
    return _sentence(f"{english} {place.english}", f"{subject.german} {form.german} {' '.join(order)}")


def _time_first(random: Random) -> Pair:
    subject, verb, thing = _subject(random), random.choice(VERBS), _object(random)
    form, occasion = _present(verb, subject), random.choice(OCCASIONS)
    return _sentence(
        f"{occasion.english}, {subject.english} {form.english} {thing.english}",
        f"{occasion.german} {form.german} {subject.german} {thing.german}",
    )


def _perfect(random: Random) -> Pair:
    subject, verb, thing = _subject(random), random.choice(VERBS), _object(random)
    has, hat = _agree(subject, "have", "has", "have"), _agree(subject, "habe", "hat", "haben")
    return _sentence(
        f"{subject.english} {has} {verb.participle} {thing.english}",
        f"{subject.german} {hat} {thing.german} {verb.german_participle}",
    )


def _modal(random: Random) -> Pair:
    subject, verb, thing = _subject(random), random.choice(VERBS), _object(random)
    english, german = random.choice(
        (
            (_agree(subject, "want to", "wants to", "want to"), _agree(subject, "will", "will", "wollen")),
            ("can", _agree(subject, "kann", "kann", "können")),
            ("must", _agree(subject, "muss", "muss", "müssen")),
        )
    )
    return _sentence(
        f"{subject.english} {english} {verb.base} {thing.english}",
        f"{subject.german} {german} {thing.german} {verb.infinitive}",
    )


def _question(random: Random) -> Pair:
    subject, verb, thing = _subject(random), random.choice(VERBS), _object(random)
    return _sentence(
        f"{_agree(subject, 'do', 'does', 'do')} {subject.english} {verb.base} {thing.english}",
        f"{_present(verb, subject).german} {subject.german} {thing.german}",
        end="?",
    )


def _negation(random: Random) -> Pair:
    subject, verb = _subject(random), random.choice(VERBS)
    thing = _definite(random.choice(THINGS), None, "accusative")
    return _sentence(
        f"{subject.english} {_agree(subject, 'do', 'does', 'do')} not {verb.base} {thing.english}",
        f"{subject.german} {_present(verb, subject).german} {thing.german} nicht",
    )


def _because(random: Random) -> Pair:
    clause, subject, mood = _statement(random), _subject(random), random.choice(MOODS)
    is_, ist = _agree(subject, "am", "is", "are"), _agree(subject, "bin", "ist", "sind")
    return Pair(
        f"{clause.source[:-1]} because {subject.english} {is_} {mood.english}.",
        f"{clause.target[:-1]}, weil {subject.german} {mood.german} {ist}.",
    )


def _gift(random: Random) -> Pair:
    giver, thing = _subject(random), _object(random)
    receiver = _definite(random.choice(PERSONS), None, "dative")
    return _sentence(
        f"{giver.english} {_agree(giver, 'give', 'gives', 'give')} {receiver.english} {thing.english}",
        f"{giver.german} {_agree(giver, 'gebe', 'gibt', 'geben')} {receiver.german} {thing.german}",
    )


def _whereabouts(random: Random) -> Pair:
    noun, adjectives = random.choice(
        ((random.choice(THINGS), ADJECTIVES), (random.choice(PERSONS), PERSON_ADJECTIVES))
    )
    what = _definite(noun, random.choice((None, *adjectives)), "nominative")
    place = random.choice(PLACES)
    if random.random() < 0.3:
        return _sentence(f"where is {what.english}", f"wo ist {what.german}", end="?")
    return _sentence(f"{what.english} is {place.english}", f"{what.german} ist {place.german}")


def _amount(random: Random) -> Pair:
    subject, noun, number = _subject(random), random.choice(THINGS), random.randint(2, 99)
    words = number_words(number) if random.random() < 0.6 else Words(str(number), str(number))
    return _sentence(
        f"{subject.english} {_agree(subject, 'have', 'has', 'have')} {words.english} {noun.english_plural}",
        f"{subject.german} {_agree(subject, 'habe', 'hat', 'haben')} {words.german} {noun.german_plural}",
    )


def _price(random: Random) -> Pair:
    thing = _definite(random.choice(THINGS), random.choice((None, *ADJECTIVES)), "nominative")
    euros, cents = random.randint(1, 40), random.choice(("20", "50", "95"))
    return _sentence(f"{thing.english} costs €{euros}.{cents}", f"{thing.german} kostet {euros},{cents} €")


def _date(random: Random) -> Pair:
    day = datetime.date(random.randint(2001, 2030), 1, 1) + datetime.timedelta(days=random.randrange(365))
    month, weekday = MONTHS[day.month - 1], WEEKDAYS[day.weekday()]
    english, german = f"{month.english} {day.day}, {day.year}", f"{day.day}. {month.german} {day.year}"
    if random.random() < 0.5:
        return _sentence(
            f"today is {weekday.english}, {english}", f"heute ist {weekday.german}, der {german}"
        )
    subject = _subject(random)
    return _sentence(
        f"{subject.english} {_agree(subject, 'come', 'comes', 'come')} on {english}",
        f"{subject.german} {_agree(subject, 'komme', 'kommt', 'kommen')} am {german}",
    )


def _clock(random: Random) -> Pair:
    """Half hours and quarters count towards the next hour in German: half past seven is "halb acht"."""
    hour = random.randint(1, 11)
    subject = _subject(random)
    comes, kommt = _agree(subject, "come", "comes", "come"), _agree(subject, "komme", "kommt", "kommen")
    if random.random() < 0.5:
        this, following = number_words(hour), number_words(hour + 1)
        english, german = random.choice(
            (
                (f"half past {this.english}", f"halb {following.german}"),
                (f"a quarter past {this.english}", f"Viertel nach {this.german}"),
                (f"a quarter to {following.english}", f"Viertel vor {following.german}"),
            )
        )
        return _sentence(f"{subject.english} {comes} at {english}", f"{subject.german} {kommt} um {german}")
    minutes, (half, offset) = random.choice((10, 15, 20, 30, 45)), random.choice((("a.m", 0), ("p.m", 12)))
    return _sentence(  # the stop of "a.m." ends the sentence too
        f"{subject.english} {comes} at {hour}:{minutes} {half}",
        f"{subject.german} {kommt} um {hour + offset}:{minutes} Uhr",
    )


TEMPLATES: tuple[tuple[Callable[[Random], Pair], float], ...] = (
    (_statement, 4),
    (_time_first, 3),
    (_perfect, 3),
    (_modal, 3),
    (_question, 2),
    (_negation, 1),
    (_because, 1),
    (_gift, 2),
    (_whereabouts, 1),
    (_amount, 2),
    (_price, 2),
    (_date, 2),
    (_clock, 2),
)
"""With how often each is drawn."""
