"""Texts in, translated texts out, on behalf of every dialect: laid out aside, translated with everybody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from model.search.options import DecodingOptions
from model.texts import Layout, TranslatedText, lay_out, put_together, unchanged
from model.translator import Translator
from service.batcher import Batcher
from service.languages import Direction
from tokenizer.segments import has_letter


class TextTranslator:
    """What every dialect calls: it knows texts and their sentences, and nothing of HTTP."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher
        # Cutting and encoding a long text takes a while, so it leaves the event loop.
        self._cutter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cutter")

    def close(self) -> None:
        """End the thread that cuts texts."""
        self._cutter.shutdown(wait=False, cancel_futures=True)

    async def translate(
        self, texts: Sequence[str], direction: Direction, options: DecodingOptions
    ) -> list[TranslatedText]:
        """One translated text for each text, all in one direction; see `translate_each`."""
        return await self.translate_each(texts, [direction] * len(texts), options)

    async def translate_each(
        self, texts: Sequence[str], directions: Sequence[Direction], options: DecodingOptions
    ) -> list[TranslatedText]:
        """One translated text for each text and its direction.

        Where both languages are the same, and where there is no letter, the text comes back unchanged. Raises
        what Batcher.translate raises.
        """
        translator = self._batcher.translator
        if all(source == target for source, target in directions):
            return [unchanged(text) for text in texts]
        self._batcher.refuse_when_full()
        # One text at a time: those of other requests come in between.
        layouts = [
            await self._lay_out(translator, text, direction)
            for text, direction in zip(texts, directions, strict=True)
        ]
        sentences = [sentence for layout in layouts if layout for sentence in layout.sentences]
        hypotheses = iter(await self._batcher.translate(sentences, options))
        return [
            put_together(layout, [next(hypotheses) for _ in layout.sentences], options.n_best)
            if layout
            else unchanged(text)
            for text, layout in zip(texts, layouts, strict=True)
        ]

    async def _lay_out(self, translator: Translator, text: str, direction: Direction) -> Layout | None:
        """None where there is nothing to translate."""
        source, target = direction
        if source == target or not has_letter(text):
            return None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._cutter, lay_out, translator, text, *direction)
