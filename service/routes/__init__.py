"""One router per dialect or concern."""
