"""How a pretend node and its kubelet behave, as pure functions."""
