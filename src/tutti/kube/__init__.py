"""A client of any Kubernetes API."""
