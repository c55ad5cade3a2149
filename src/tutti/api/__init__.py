"""Kubernetes objects as typed values, and their rules."""
