-- The first format. A migration is never edited once it was released; a change is the next file.
-- The number of the last migration is the format, and it also covers the vocabulary of the JSON:
-- an event or a word that an older ralph cannot read needs a new migration, even an empty one.

-- One line per run. There is no index over `run`: a project has hundreds of runs, a scan of them
-- takes less than a millisecond and happens once per command, and an index is one more page that
-- could be damaged.
CREATE TABLE runs (
    no       INTEGER PRIMARY KEY, -- the order in which runs began, whatever the wall clock did
    run      TEXT    NOT NULL,
    last_seq INTEGER NOT NULL,    -- how many entries there must be, so that a lost end is noticed
    row      TEXT    NOT NULL,    -- RunRow as JSON
    checksum INTEGER NOT NULL
) STRICT;

-- The truth. `place` is the run's `no` in the upper and `seq` in the lower 32 bits. One integer as
-- the key keeps a run's entries side by side, makes every append an append to the tree's right
-- edge, and lets entries of up to 4 KB stay in their page: with a composite key the table would
-- have to be WITHOUT ROWID, where everything above 1 KB spills into a page of its own.
CREATE TABLE journal (
    place    INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    elapsed  INTEGER NOT NULL,
    event    TEXT    NOT NULL,    -- Event as JSON
    checksum INTEGER NOT NULL     -- the first 8 bytes of SHA-256 over run, seq, at, elapsed, event
) STRICT;

-- Derived from the `check_ended` entry at the same place.
CREATE TABLE receipts (
    place        INTEGER PRIMARY KEY,
    iteration    INTEGER NOT NULL,
    command      TEXT    NOT NULL,
    passed       INTEGER NOT NULL,
    exit_code    INTEGER,
    duration     INTEGER NOT NULL,
    output_hash  TEXT    NOT NULL,
    output_bytes INTEGER NOT NULL,
    log          TEXT    NOT NULL,
    tree         TEXT,            -- the tree that was last seen before the check
    at           INTEGER NOT NULL
) STRICT;

-- Wishes of other processes, which do not own the run and so cannot write into its journal.
CREATE TABLE cancels (
    run TEXT    PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
