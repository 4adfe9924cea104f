"""The words of the primer: English and German, with what their grammar needs."""

from __future__ import annotations

from typing import Literal, NamedTuple

Gender = Literal["m", "f", "n"]


class Noun(NamedTuple):
    english: str
    english_plural: str
    german: str
    german_plural: str
    gender: Gender


class Verb(NamedTuple):
    """A verb with a direct object whose perfect is built with "haben"."""

    base: str  # buy
    third: str  # buys
    participle: str  # bought
    infinitive: str  # kaufen, also the form of wir and sie
    first: str  # ich kaufe
    german_third: str  # er kauft
    german_participle: str  # gekauft


class Words(NamedTuple):
    english: str
    german: str


def _nouns(lines: str) -> tuple[Noun, ...]:
    nouns = []
    for line in lines.strip().splitlines():
        english, english_plural, gender, german, german_plural = line.split()
        nouns.append(Noun(english, english_plural, german, german_plural, gender))  # type: ignore[arg-type]
    return tuple(nouns)


def _verbs(lines: str) -> tuple[Verb, ...]:
    return tuple(
        Verb(*(form.replace("_", " ") for form in line.split())) for line in lines.strip().splitlines()
    )


def _sequence(words: str) -> list[str]:
    return words.split()


def _words(lines: str) -> tuple[Words, ...]:
    return tuple(Words(*line.strip().split(" = ")) for line in lines.strip().splitlines())


# No weak nouns (Junge, Nachbar) here: the endings below do not know them.
PERSONS = _nouns("""
man men m Mann Männer
woman women f Frau Frauen
child children n Kind Kinder
girl girls n Mädchen Mädchen
doctor doctors m Arzt Ärzte
teacher teachers m Lehrer Lehrer
friend friends m Freund Freunde
guest guests m Gast Gäste
son sons m Sohn Söhne
daughter daughters f Tochter Töchter
brother brothers m Bruder Brüder
sister sisters f Schwester Schwestern
aunt aunts f Tante Tanten
king kings m König Könige
""")

THINGS = _nouns("""
letter letters m Brief Briefe
book books n Buch Bücher
lamp lamps f Lampe Lampen
hat hats m Hut Hüte
chair chairs m Stuhl Stühle
table tables m Tisch Tische
picture pictures n Bild Bilder
door doors f Tür Türen
bicycle bicycles n Fahrrad Fahrräder
car cars n Auto Autos
apple apples m Apfel Äpfel
cup cups f Tasse Tassen
key keys m Schlüssel Schlüssel
newspaper newspapers f Zeitung Zeitungen
bag bags f Tasche Taschen
coat coats m Mantel Mäntel
boat boats n Boot Boote
box boxes f Kiste Kisten
knife knives n Messer Messer
flower flowers f Blume Blumen
""")

VERBS = _verbs("""
buy buys bought kaufen kaufe kauft gekauft
see sees seen sehen sehe sieht gesehen
find finds found finden finde findet gefunden
take takes taken nehmen nehme nimmt genommen
bring brings brought bringen bringe bringt gebracht
sell sells sold verkaufen verkaufe verkauft verkauft
need needs needed brauchen brauche braucht gebraucht
look_for looks_for looked_for suchen suche sucht gesucht
clean cleans cleaned putzen putze putzt geputzt
draw draws drawn zeichnen zeichne zeichnet gezeichnet
forget forgets forgotten vergessen vergesse vergisst vergessen
show shows shown zeigen zeige zeigt gezeigt
repair repairs repaired reparieren repariere repariert repariert
""")

# Stems that take every ending without a change (no teuer, dunkel, hoch).
ADJECTIVES = _words("""
old = alt
new = neu
small = klein
big = groß
beautiful = schön
strange = seltsam
cheap = billig
heavy = schwer
red = rot
blue = blau
green = grün
white = weiß
black = schwarz
""")

PERSON_ADJECTIVES = _words("""
old = alt
young = jung
small = klein
ill = krank
hungry = hungrig
""")

MOODS = _words("""
tired = müde
ill = krank
hungry = hungrig
happy = glücklich
alone = allein
here = hier
""")

PLACES = _words("""
in the garden = im Garten
in the kitchen = in der Küche
in the city = in der Stadt
in the shop = im Laden
in the park = im Park
in the school = in der Schule
at the station = am Bahnhof
at the market = auf dem Markt
under the bridge = unter der Brücke
behind the church = hinter der Kirche
next to the hotel = neben dem Hotel
in front of the house = vor dem Haus
""")

WEEKDAYS = _words("""
Monday = Montag
Tuesday = Dienstag
Wednesday = Mittwoch
Thursday = Donnerstag
Friday = Freitag
Saturday = Samstag
Sunday = Sonntag
""")

OCCASIONS = (
    *(Words(f"on {day.english}", f"am {day.german}") for day in WEEKDAYS),
    *_words("""
today = heute
in the morning = am Morgen
in the evening = am Abend
in summer = im Sommer
in winter = im Winter
"""),
)

MONTHS = _words("""
January = Januar
February = Februar
March = März
April = April
May = Mai
June = Juni
July = Juli
August = August
September = September
October = Oktober
November = November
December = Dezember
""")

_ENGLISH_SMALL = _sequence(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_GERMAN_SMALL = _sequence(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn"
)
_ENGLISH_TENS = _sequence("twenty thirty forty fifty sixty seventy eighty ninety")
_GERMAN_TENS = _sequence("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")


def number_words(number: int) -> Words:
    """0 … 99 in words; German says the ones before the tens."""
    if number < 20:
        return Words(_ENGLISH_SMALL[number], _GERMAN_SMALL[number])
    tens, ones = number // 10 - 2, number % 10
    if not ones:
        return Words(_ENGLISH_TENS[tens], _GERMAN_TENS[tens])
    german_ones = "ein" if ones == 1 else _GERMAN_SMALL[ones]
    return Words(f"{_ENGLISH_TENS[tens]}-{_ENGLISH_SMALL[ones]}", f"{german_ones}und{_GERMAN_TENS[tens]}")
