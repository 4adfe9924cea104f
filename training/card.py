"""The model card: what the model is made of, how good it is, what it must not be trusted with."""

from __future__ import annotations

from collections.abc import Sequence

from training.measurement import Measurement, Results
from training.preparation import RunData
from training.progress import Progress
from training.recipes import Recipe


def model_card(
    recipe: Recipe,
    data: RunData,
    progress: Progress,
    results: Results,
    *,
    command: str,
    machine: str,
    started_from: str = "",
) -> str:
    """Markdown. `results` are empty while the run goes on.

    `command` is what was typed, a line a session; `machine` what it ran on. `started_from` is the card of the model
    that this one was fine-tuned from: its data and their terms are in this model too.
    """
    directions = ", ".join(f"{source} → {target}" for source, target in recipe.directions)
    return "\n".join(
        [
            f"# {recipe.name}",
            "",
            f"Translates {directions}, one model for all of them. An encoder-decoder Transformer, trained by this "
            "repository's own code.",
            "",
            "## Data",
            *_data(data),
            "",
            "## Scores",
            *(_scores(results) if results.after else ["Not measured yet: the run goes on."]),
            "",
            "## How it was made",
            *_making(recipe, progress, command, machine),
            "",
            "## Limits",
            f"Sentences of up to {recipe.max_length} pieces; longer ones are split before they get here. It knows "
            "the language of its corpus and little else: names, technical terms and long, nested sentences come "
            "out worse than the scores suggest. It has no notion of context beyond a sentence, and it repeats the "
            "biases of what people wrote. Do not use it where a wrong translation can harm somebody.",
            "",
            *(_start(recipe, started_from) if started_from else []),
        ]
    )


def _data(data: RunData) -> list[str]:
    facts = data.facts
    pairs = facts["pairs"]
    return [
        f"{facts['corpus']}: {pairs['train']:,} pairs for training, {pairs['validation']:,} for validation, "
        f"{pairs['test']:,} for the test.",
        f"Licence: {facts['licence']}. {facts['attribution']}".rstrip(),
    ]


def _scores(results: Results) -> list[str]:
    headings = results.headings()
    lines = [
        "Held-out parts share no source and no target with the training part. Beam 5, cased, detokenised"
        + (", before and after fine-tuning:" if results.before else ":"),
        "",
        f"| {' | '.join(headings)} |",
        f"| {' | '.join('---' for _ in headings)} |",
        *(f"| {' | '.join(row)} |" for row in results.rows()),
        "",
    ]
    for what, key in (("BLEU", "signature"), ("chrF", "chrf_signature")):
        signatures = dict.fromkeys(str(one.report[key]) for one in results.after)
        lines.append(f"{what} signature: {', '.join(f'`{signature}`' for signature in signatures)}  ")
    lines += [f"{note}  " for note in dict.fromkeys(str(one.report["note"]) for one in results.after) if note]
    return [
        *lines,
        "",
        "The test sets, by the SHA-256 of their files:",
        *(f"- `{name}` {checksum}" for name, checksum in _checksums(results.after).items()),
        "",
        "The same numbers again:",
        "",
        "```sh",
        *(one.command for one in results.after),
        "```",
    ]


def _checksums(measurements: Sequence[Measurement]) -> dict[str, str]:
    return {
        str(path): str(one.report[f"{what}_sha256"])
        for one in measurements
        for what, path in (("source", one.files.source), ("reference", one.files.reference))
    }


def _making(recipe: Recipe, progress: Progress, command: str, machine: str) -> list[str]:
    model = recipe.model
    return [
        *(["```sh", command, "```", ""] if command else []),
        f"{model.encoder_layers} + {model.decoder_layers} layers, width {model.width}, feed-forward "
        f"{model.feed_forward_width} ({model.feed_forward}), {model.heads} heads, {model.positions} positions, "
        f"{model.placement}-norm, {model.vocabulary_size:,} pieces, {model.parameter_count:,} parameters. Dropout "
        f"{model.dropout:g}, label smoothing {recipe.smoothing:g}, {recipe.optimiser} at {recipe.learning_rate:g}, "
        f"{recipe.accumulate} × {recipe.batch_tokens:,} padded pieces an update; all else is in the run's recipe.json.",
        "",
        f"Cost: {progress.update:,} updates, {progress.target_pieces:,} target pieces, {progress.seconds:,.0f} seconds "
        f"({progress.seconds / 3600:.1f} hours) of training on {machine}."
        + (
            f" {progress.skipped} updates were skipped: their gradient was not finite."
            if progress.skipped
            else ""
        ),
    ]


def _start(recipe: Recipe, card: str) -> list[str]:
    blend = (
        f" Its weights are {recipe.blend:.0%} those of the fine-tuned model and the rest those of the old one, number "
        "by number."
        if recipe.blend != 1.0
        else ""
    )
    return [
        "## The model it started from",
        f"Weights of SHA-256 {recipe.started_from}, whose data and terms are in this model too.{blend} Its own card:",
        "",
        *(f"> {line}".rstrip() for line in card.rstrip().split("\n")),
        "",
    ]
