"""What a model makes of input as people and programs send it: `python -m benchmarks.robustness runs/NAME`.

Copies: 500 sentences, each with a placeholder, an address, a number or the like; a translation is right if the string
stands in it exactly once. Spelling: the held-out test part in CAPITALS, lower case, Title Case and without its final
stops; chrF, case folded, against the same references, beside that of the text as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from sacrebleu.metrics.chrf import CHRF

from model.directory import load_translator
from model.search import DecodingOptions
from model.texts import translate_corpus_lines
from model.translator import Translator
from training.corpora import copies
from training.corpora.augment import title_case
from training.scoring.evaluation_set import read_evaluation_set

FRAMES = {
    "en": (
        "Please open {} before you leave.",
        "We have found {} in the old garage.",
        "Nobody knows what {} means.",
        "My brother wrote {} on the door.",
        "Could you send me {} tomorrow?",
        "Click on {} to see the picture.",
        "{} is not ready yet.",
        "There was a problem with {}, so I called the doctor.",
        "Where can I read more about {}?",
        "You will need {} and a pencil.",
    ),
    "de": (
        "Bitte öffnen Sie {}, bevor Sie gehen.",
        "Wir haben {} in der alten Garage gefunden.",
        "Niemand weiß, was {} bedeutet.",
        "Mein Bruder hat {} an die Tür geschrieben.",
        "Könntest du mir morgen {} schicken?",
        "Klicken Sie auf {}, um das Bild zu sehen.",
        "{} ist noch nicht fertig.",
        "Es gab ein Problem mit {}, deshalb rief ich den Arzt an.",
        "Wo kann ich mehr über {} lesen?",
        "Du wirst {} und einen Bleistift brauchen.",
    ),
    "fr": (
        "Ouvrez {} avant de partir, s'il vous plaît.",
        "Nous avons trouvé {} dans le vieux garage.",
        "Personne ne sait ce que {} veut dire.",
        "Mon frère a écrit {} sur la porte.",
        "Pourrais-tu m'envoyer {} demain ?",
        "Cliquez sur {} pour voir la photo.",
        "{} n'est pas encore prêt.",
        "Il y a eu un problème avec {}, alors j'ai appelé le médecin.",
        "Où puis-je en lire plus sur {} ?",
        "Tu auras besoin de {} et d'un crayon.",
    ),
}
SENTENCES = 500
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "CAPITALS": str.upper,
    "lower case": str.lower,
    "Title Case": title_case,
    "no final stop": lambda text: text.rstrip(".!?"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    options = _parser().parse_args(arguments)
    translator = load_translator(options.model)
    decoding = DecodingOptions()
    report = {
        f"{source}→{target}": {
            "copied": copied(translator, (source, target), decoding, options.show),
            **(
                {"chrf": spelled(translator, options.data, (source, target), decoding)}
                if options.data
                else {}
            ),
        }
        for source, target in translator.directions
        if source in FRAMES
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 0


def copied(
    translator: Translator, direction: tuple[str, str], decoding: DecodingOptions, show: int
) -> dict[str, float]:
    """Share of the strings that the translation holds exactly once, in all and by kind."""
    random = Random(f"robustness {direction}")
    kinds = [(kind, copies.KINDS[kind](random)) for kind in random.choices(list(copies.KINDS), k=SENTENCES)]
    sources = [random.choice(FRAMES[direction[0]]).replace("{}", string) for _, string in kinds]
    lines = translate_corpus_lines(translator, sources, *direction, decoding)
    right, of_kind = Counter[str](), Counter[str]()
    for (kind, string), source, line in zip(kinds, sources, lines, strict=True):
        of_kind[kind] += 1
        if line.text.count(string) == source.count(string):
            right[kind] += 1
        elif show:
            show -= 1
            print(f"{source}\n  {line.text}", file=sys.stderr)
    shares = {kind: round(100 * right[kind] / count, 1) for kind, count in sorted(of_kind.items())}
    return {"all": 100 * right.total() / SENTENCES, **shares}


def spelled(
    translator: Translator, data: Path, direction: tuple[str, str], decoding: DecodingOptions
) -> dict[str, float]:
    """chrF, case folded, of each spelling of the test part's sources."""
    source, reference = (data / f"test.{language}" for language in direction)
    texts = read_evaluation_set(source, reference)
    references = [[text.lower() for text in texts.references]]
    chrf = {}
    for name, spell in SPELLINGS.items():
        lines = translate_corpus_lines(
            translator, [spell(text) for text in texts.sources], *direction, decoding
        )
        chrf[name] = round(CHRF().corpus_score([line.text.lower() for line in lines], references).score, 1)
    return chrf


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.robustness",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL_DIR", help="a model directory, or a run")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a run's data folder, for its test part")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N sentences that went wrong")
    return parser


if __name__ == "__main__":
    sys.exit(main())
