"""The scheduling loop without its loop: events in, actions out."""
