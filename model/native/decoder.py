"""The native engine as a decoder: greedy and beam search in compiled code, everything else over PyTorch."""

from __future__ import annotations

import os
from collections.abc import Sequence

from model.decoding import PlainDecoder, Session, Work, longest_target
from model.native.engine import NativeModel
from model.native.session import NativeSession, Request
from model.search import Found

ROWS = 64  # unfinished hypotheses in work at a time: enough for the matrices, few enough for the cache
STEPS = 8  # between two looks at who wants to join; a sentence that gets done ends it sooner


class NativeDecoder:
    """Finds what `plain` finds, from weights packed in `precision`; raises NoNativeEngine where that cannot be."""

    def __init__(
        self,
        plain: PlainDecoder,
        precision: str,
        *,
        eos_id: int,
        banned_ids: Sequence[int],
        threads: int | None = None,
    ) -> None:
        self.plain = plain
        self.native = NativeModel(plain.model, precision)
        self.threads = threads or len(os.sched_getaffinity(0))
        self._eos_id, self._banned_ids = eos_id, banned_ids

    def __repr__(self) -> str:
        return f"native {self.native.precision} in {self.threads} thread{'s' * (self.threads > 1)}"

    def session(self) -> Session:
        config = self.plain.model.config
        native = NativeSession(
            self.native, start_id=config.start_id, eos_id=self._eos_id, banned_ids=self._banned_ids
        )
        return MixedSession(self, native)


class MixedSession:
    """Sentences with phrases, and those that are sampled, go one by one over PyTorch; all others together."""

    def __init__(self, decoder: NativeDecoder, native: NativeSession) -> None:
        self._decoder, self._native = decoder, native
        self._joining: list[Request] = []
        self._in_work: set[int] = set()
        self._plain: list[Work] = []

    def __len__(self) -> int:
        return len(self._in_work) + len(self._plain)

    def takes(self, work: Work) -> bool:
        # Whoever comes first is let in, however wide: or a stream of narrow ones could keep a wide one out for ever.
        return self._native.rows + sum(request.beam_size for request in self._joining) < ROWS

    def add(self, work: Work) -> None:
        if work.sentence.phrases or work.options.strategy == "sample":
            self._plain.append(work)
            return
        options = work.options
        longest = longest_target(work.sentence, options, self._decoder.plain.model.config)
        self._joining.append(
            Request(
                name=work.name,
                source=work.sentence.ids,
                beam_size=_beam_size(work),
                n_best=options.n_best,
                length_penalty=options.length_penalty,
                min_length=options.min_length,
                max_length=longest,
                look_ahead=options.look_ahead,
                margin=options.margin,
            )
        )
        self._in_work.add(work.name)

    def advance(self) -> list[tuple[int, list[Found]]]:
        if self._joining:
            self._native.add(self._joining)
            self._joining = []
        done = self._native.advance(STEPS) if self._in_work else []
        self._in_work -= {name for name, _ in done}
        if self._plain:
            work = self._plain.pop(0)
            done += [(work.name, self._decoder.plain.search([work.sentence], work.options)[0])]
        return done

    def drop(self, name: int) -> None:
        self._joining = [request for request in self._joining if request.name != name]
        self._plain = [work for work in self._plain if work.name != name]
        if name in self._in_work:
            self._in_work.discard(name)
            self._native.drop(name)


def _beam_size(work: Work) -> int:
    return work.options.beam_size if work.options.strategy == "beam" else 1
