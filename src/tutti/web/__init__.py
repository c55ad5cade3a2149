"""The HTTP server kit: TLS, tokens, health and metrics for every process that listens."""
