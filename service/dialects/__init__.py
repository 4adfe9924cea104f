"""The dialects of other services, one package or module each; our own is in service/routes."""
