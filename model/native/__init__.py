"""The model in C++, for processors that multiply small integers fast: same step interface, checked against PyTorch."""
