"""How often the language of a text is told right, by its length, on sentences of Tatoeba.

    CORPORA=../shared/data python -m benchmarks.detection [--json]

Reads the archives tatoeba/{deu,fra,cmn}-eng.zip as `training.fetch` knows them. A Chinese word counts as two
characters. Every text is taken once, in an order that a seed decides. ECE is the mean distance between how sure the
detector was and how often it was right, in ten classes: 0 is perfectly honest.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from service.text.detection import Detector

ARCHIVES = {"de": "deu-eng.zip", "fr": "fra-eng.zip", "zh": "cmn-eng.zip"}
BUCKETS = ("1-3 words", "4-6 words", "7+ words")
SENTENCES = "sentences"  # all but the first bucket


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=2000, help="of each language and length (default: 2000)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    arguments = parser.parse_args()
    if "CORPORA" not in os.environ:
        parser.error("CORPORA must name the folder that holds tatoeba/")
    samples = read_samples(Path(os.environ["CORPORA"]) / "tatoeba", arguments.texts)
    detector = Detector(["de", "en", "fr", "zh"])
    detector.detect("Warm up.")
    started = time.perf_counter()
    results = {key: evaluate(detector, texts, key[0]) for key, texts in samples.items()}
    microseconds = (time.perf_counter() - started) * 1e6 / sum(map(len, samples.values()))
    if arguments.json:
        rows = [
            {"language": language, "length": length, **row} for (language, length), row in results.items()
        ]
        print(json.dumps({"rows": rows, "microseconds": round(microseconds)}))
        return 0
    print("| language | length | texts | right | ECE |\n| --- | --- | --- | --- | --- |")
    for (language, length), row in results.items():
        print(f"| {language} | {length} | {row['texts']} | {row['right']:.2%} | {row['ece']:.3f} |")
    print(f"\n{microseconds:.0f} µs a text")
    return 0


def read_samples(folder: Path, count: int) -> dict[tuple[str, str], list[str]]:
    """Texts by language and length."""
    texts: dict[str, set[str]] = defaultdict(set)
    for language, archive in ARCHIVES.items():
        for english, other in read_pairs(folder / archive):
            texts["en"].add(english)
            texts[language].add(other)
    samples: dict[tuple[str, str], list[str]] = defaultdict(list)
    for language in sorted(texts):
        shuffled = sorted(texts[language])
        random.Random(language).shuffle(shuffled)
        for text in shuffled:
            bucket = samples[language, bucket_of(text, language)]
            if len(bucket) < count:
                bucket.append(text)
        samples[language, SENTENCES] = [text for bucket in BUCKETS[1:] for text in samples[language, bucket]]
    return {
        (language, length): samples[language, length]
        for language in sorted(texts)
        for length in (*BUCKETS, SENTENCES)
    }


def read_pairs(archive: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(archive) as files:
        (name,) = [name for name in files.namelist() if not name.startswith("_")]
        for line in files.read(name).decode().splitlines():
            english, other, *_ = line.split("\t")
            yield english, other


def bucket_of(text: str, language: str) -> str:
    words = len(text) / 2 if language == "zh" else len(text.split())
    return BUCKETS[0] if words <= 3 else BUCKETS[1] if words <= 6 else BUCKETS[2]


def evaluate(detector: Detector, texts: list[str], language: str) -> dict[str, float]:
    """The share that was told right, and how honest the confidence was."""
    classes: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for text in texts:
        best = next(iter(detector.detect(text)), None)
        sure, is_right = (best.confidence, best.language == language) if best else (0.0, False)
        classes[min(int(sure * 10), 9)].append((sure, is_right))
    error = sum(
        abs(sum(sure for sure, _ in members) - sum(is_right for _, is_right in members))
        for members in classes.values()
    )
    right = sum(is_right for members in classes.values() for _, is_right in members)
    return {"texts": len(texts), "right": right / len(texts), "ece": error / len(texts)}


if __name__ == "__main__":
    sys.exit(main())
