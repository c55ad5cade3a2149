"""Arrays in, plan out: where pods and gangs go, as pure functions over columns."""
