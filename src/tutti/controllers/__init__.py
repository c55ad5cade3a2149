"""The hands: they carry events in from an API server and actions out to it."""
