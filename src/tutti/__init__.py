"""Tutti: a gang scheduler for Kubernetes. Groups of pods start all together, or not at all."""
