"""The corpora known by name: where they come from, under which terms, how to know that they arrived whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from training.corpora.pairs import CorpusError

_MANYTHINGS = "https://www.manythings.org/anki"
_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1"


@dataclass(frozen=True)
class RemoteFile:
    name: str
    address: str
    sha256: str | None  # of the unpacked text; None where the address serves newer versions from time to time


@dataclass(frozen=True, kw_only=True)
class Entry:
    name: str
    source_language: str
    target_language: str
    group: str  # folder in which a local copy is looked for first
    licence: str
    attribution: str
    files: tuple[RemoteFile, ...]
    parts: dict[str, tuple[str, ...]]  # part → names of its files
    texts: tuple[str, ...] = field(default=())  # files that belong to no part, such as references


def entry_named(name: str) -> Entry:
    if name not in CATALOGUE:
        raise CorpusError(f"no corpus is called {name!r}; known: {', '.join(CATALOGUE)}, primer, mtdata:ID")
    return CATALOGUE[name]


def _tatoeba(code: str, target_language: str) -> Entry:
    file = f"{code}-eng.zip"
    return Entry(
        name=f"tatoeba-{code}-eng",
        source_language="en",
        target_language=target_language,
        group="tatoeba",
        licence="CC BY 2.0 FR",
        attribution="Sentences of Tatoeba (tatoeba.org), paired by manythings.org/anki",
        files=(RemoteFile(file, f"{_MANYTHINGS}/{file}", sha256=None),),
        parts={"all": (file,)},
    )


def _multi30k(target_language: str) -> Entry:
    languages = ("en", target_language)
    parts = {
        part: tuple(f"{stem}.{language}.gz" for language in languages)
        for part, stem in {
            "train": "train",
            "validation": "val",
            "test_2016_flickr": "test_2016_flickr",
            "test_2017_flickr": "test_2017_flickr",
            "test_2017_mscoco": "test_2017_mscoco",
        }.items()
    }
    # The published scores on this corpus are on lower-cased, tokenised text; these are their references.
    texts = tuple(
        f"{part}.lc.norm.tok.{language}"
        for part in parts
        if part.startswith("test")
        for language in languages
        if f"{part}.lc.norm.tok.{language}" in _MULTI30K_SHA256
    )
    raw = [
        RemoteFile(name, f"{_MULTI30K}/raw/{name}", _MULTI30K_SHA256[name.removesuffix(".gz")])
        for names in parts.values()
        for name in names
    ]
    tokenised = [RemoteFile(name, f"{_MULTI30K}/tok/{name}", _MULTI30K_SHA256[name]) for name in texts]
    return Entry(
        name=f"multi30k-en-{target_language}",
        source_language="en",
        target_language=target_language,
        group="multi30k",
        licence="captions of Flickr30k and MSCOCO, for research: a benchmark, not for weights to hand out",
        attribution="Multi30k (Elliott et al. 2016, arXiv:1605.00459; Elliott et al. 2017, arXiv:1710.07177)",
        files=(*raw, *tokenised),
        parts=parts,
        texts=texts,
    )


_MULTI30K_SHA256 = {
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
    "test_2016_flickr.fr": "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
    "test_2016_flickr.lc.norm.tok.de": "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4",
    "test_2016_flickr.lc.norm.tok.en": "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2",
    "test_2017_flickr.de": "c3078bc3b36808bf9d20eb2347ed6137016179ef59ec0d2b9b8ecc3fb2880081",
    "test_2017_flickr.en": "ce1450ddc5ab0834502579d77a170849952e15a2938b34cc503bdc25ebb4fb98",
    "test_2017_flickr.fr": "6f3764e31dac41e9455e612958bcfd4e877c5e15cd66df2c2b2be6d9bd83e5b6",
    "test_2017_flickr.lc.norm.tok.de": "02067e4a9402786a4fcb8c1b6f4307e4a5073ced64800abead5273b54f5f31f6",
    "test_2017_flickr.lc.norm.tok.en": "c9d1dfd7a26add989382e534af235af9f0f658b2a30e7eb0efdaf142496ee54f",
    "test_2017_mscoco.de": "58277df3c75f92f7145a11b910b553d1cf82c439249d4dc237c899609eafac22",
    "test_2017_mscoco.en": "43051fdfa86fd5395182e718a94ca67b1b227b9f7c79596ff0f6b813216981d2",
    "test_2017_mscoco.fr": "39cde3f43f32b0a6bf29ce4917a46329ff32e53070c2fac87506695a740ae0a0",
    "test_2017_mscoco.lc.norm.tok.de": "e2825990b8a4e5289d2cdba801d57c187810bab9b4f5d87a30c35800a0d871b6",
    "test_2017_mscoco.lc.norm.tok.en": "fe69ae004d71c42ead0301e70c57de5b1b6b5fb7f52210d42b22801e98e656f3",
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "train.fr": "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "val.fr": "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
}

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        _tatoeba("deu", "de"),
        _tatoeba("fra", "fr"),
        _tatoeba("cmn", "zh"),
        _multi30k("de"),
        _multi30k("fr"),
    )
}
