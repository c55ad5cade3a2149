"""Objects in SQLite: one resource version, a history, watches."""
