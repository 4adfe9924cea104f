"""The Transformer, its decoding and the Translator that serves it.

Shapes are written as suffixes of names, one legend for the whole package:
B batch (sentences), N rows (B × W while a beam runs), S source length, T target length, L positions that ask
(queries), M positions that are asked (keys), D width, H query heads, G key/value heads, K width of one head,
F feed-forward width, V vocabulary, W beam. Code that works for any shape stays unsuffixed.

Masks: True always means "may be attended to". Scores are log-probabilities: larger is better.
"""
