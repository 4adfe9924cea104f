"""A run small enough for tests: the project's own primer corpus, a model of width 32."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from model.config import preset
from training.corpora.corpus import Corpus, open_corpus
from training.preparation import RunData, load_run_data, prepare
from training.primer.write import write_primer
from training.recipes import NO_AUGMENT, Recipe


@pytest.fixture(scope="session")
def quiet() -> Console:
    return Console(quiet=True)


@pytest.fixture(scope="session")
def primer(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpora") / "primer"
    write_primer(folder)
    return open_corpus(folder)


@pytest.fixture(scope="session")
def small_recipe() -> Recipe:
    return Recipe(
        name="small",
        corpus="primer",
        directions=(("de", "en"), ("en", "de")),
        model=preset(
            "tiny",
            vocabulary_size=700,
            width=32,
            feed_forward_width=64,
            encoder_layers=1,
            decoder_layers=1,
            dropout=0.2,
        ),
        augment=NO_AUGMENT,
        max_length=60,
        batch_tokens=600,
        accumulate=2,
        updates=12,
        learning_rate=4e-3,
        warmup=4,
        average_decay=0.9,
        validate_every=6,
        validation_sentences=4,
        precision="float32",
    )


@pytest.fixture(scope="session")
def data_folder(
    small_recipe: Recipe, primer: Corpus, quiet: Console, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("run") / "data"
    prepare(small_recipe, primer, folder, quiet)
    return folder


@pytest.fixture(scope="session")
def data(data_folder: Path) -> RunData:
    return load_run_data(data_folder)


@pytest.fixture(scope="session")
def recipe(small_recipe: Recipe, data: RunData) -> Recipe:
    return replace(small_recipe, model=replace(small_recipe.model, vocabulary_size=data.tokenizer.size))
