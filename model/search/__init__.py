"""Finding good target sequences, given only `step(tokens, state) -> (log_probs, state)`."""

from model.search.beam import beam_search
from model.search.options import DecodingOptions
from model.search.phrases import phrase_search
from model.search.task import Found, SearchTask, Step
from model.search.walk import greedy_search, sample

__all__ = [
    "DecodingOptions",
    "Found",
    "SearchTask",
    "Step",
    "beam_search",
    "greedy_search",
    "phrase_search",
    "sample",
]
