"""How fast Tutti decides: `make bench`. Each row asserts its answer before it is timed."""
