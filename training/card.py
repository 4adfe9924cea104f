"""The model card: what the model is made of, how good it is, what it must not be trusted with."""

from __future__ import annotations

from collections.abc import Mapping

from training.preparation import RunData
from training.progress import Progress
from training.recipes import Recipe
from training.scoring.metrics import Scores


def model_card(
    recipe: Recipe,
    data: RunData,
    progress: Progress,
    scores: Mapping[str, Scores],
    *,
    name: str,
    command: str,
    device: str,
) -> str:
    """Markdown. `scores` are those of the test part, by direction ("en-de"); empty while a run goes on."""
    facts = data.facts
    directions = ", ".join(f"{source} → {target}" for source, target in recipe.directions)
    model = recipe.model
    rows = [
        f"| {direction} | {one.bleu:.1f} | {one.chrf:.1f} | {one.sentences:,} | {one.length_ratio:.2f} |"
        for direction, one in scores.items()
    ]
    signature = next(iter(scores.values())).signature if scores else ""
    pairs = facts["pairs"]
    measured = (
        [
            "Test part, held out by connected component (no test sentence shares a source or a target with "
            "training), beam 5, cased, detokenised:",
            "",
            "| direction | BLEU | chrF | sentences | length ratio |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            f"BLEU signature: `{signature}`",
        ]
        if scores
        else ["Not measured yet: the run goes on."]
    )
    return "\n".join(
        [
            f"# {name}",
            "",
            f"Translates {directions}, one model for all of them. An encoder-decoder Transformer, trained by this "
            "repository's own code.",
            "",
            "## Data",
            f"{facts['corpus']}: {pairs['train']:,} pairs for training, {pairs['validation']:,} for validation, "
            f"{pairs['test']:,} for the test.",
            f"Licence: {facts['licence']}. {facts['attribution']}",
            "",
            "## Scores",
            *measured,
            "",
            "## How it was made",
            f"Recipe `{recipe.name}`: `{command}`",
            "",
            f"{model.encoder_layers} + {model.decoder_layers} layers, width {model.width}, feed-forward "
            f"{model.feed_forward_width} ({model.feed_forward}), {model.heads} heads, {model.positions} positions, "
            f"{model.placement}-norm, {model.vocabulary_size:,} pieces, {model.parameter_count:,} parameters.",
            f"{progress.update:,} updates, {progress.target_pieces:,} target pieces, "
            f"{progress.seconds / 3600:.1f} hours on {device}.",
            "",
            "## Limits",
            f"Sentences of up to {recipe.max_length} pieces; longer ones are split before they get here. It knows "
            "the language of its corpus and little else: names, technical terms and long, nested sentences come "
            "out worse than the scores suggest. It has no notion of context beyond a sentence, and it repeats the "
            "biases of what people wrote. Do not use it where a wrong translation can harm somebody.",
            "",
        ]
    )
