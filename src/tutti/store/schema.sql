-- Every write is a row of `log`, and its revision is the resource version of what it wrote.
-- `objects` says which row stands for each object now; so a value is written once.
-- Rows that nothing stands on and that are older than the history's bound are pruned.

CREATE TABLE log (
  revision  INTEGER PRIMARY KEY,
  resource  TEXT    NOT NULL,
  namespace TEXT    NOT NULL,            -- '' where the kind has none
  name      TEXT    NOT NULL,
  uid       TEXT    NOT NULL,
  before    INTEGER,                     -- the row this one replaced or removed; NULL: none
  gone      INTEGER NOT NULL,            -- 1: the object was removed, and this is what was last seen of it
  written   INTEGER NOT NULL,            -- seconds since 1970
  value     BLOB    NOT NULL
) STRICT;

CREATE TABLE objects (
  resource  TEXT    NOT NULL,
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  revision  INTEGER NOT NULL,
  PRIMARY KEY (resource, namespace, name)
) STRICT, WITHOUT ROWID;

-- The oldest version that can still be read: every change after it is in `log`.
CREATE TABLE history (oldest INTEGER NOT NULL) STRICT;
INSERT INTO history VALUES (1);
