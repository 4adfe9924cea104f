"""From corpora to a model directory: `training.fetch`, `training.train`, `training.evaluate`."""
