"""A Kubernetes-compatible API over the store."""
