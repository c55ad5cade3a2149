"""The commands, and the only place that builds the whole program."""
