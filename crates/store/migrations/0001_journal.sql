-- The first format. A migration is never edited once it was released; a change is the next file.
-- The number of the last migration is the format, and it also covers the vocabulary of the JSON:
-- an event or a word that an older ralph cannot read needs a new migration, even an empty one.

-- One line per stream: a run, or a task. What stands behind the checksum is stated by the row too, and
-- only repeated for the queries below.
CREATE TABLE streams (
    no       INTEGER PRIMARY KEY, -- the order in which streams began, whatever the wall clock did
    kind     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    last_seq INTEGER NOT NULL,    -- how many entries there must be, so that a lost end is noticed
    row      TEXT    NOT NULL,    -- the stream at a glance, as JSON
    checksum INTEGER NOT NULL,    -- the first 8 bytes of SHA-256 over kind, id, last_seq, row
    task     TEXT    NOT NULL,
    parent   TEXT,
    standing INTEGER NOT NULL,    -- 0 open, 1 stopped, 2 finished
    cost     REAL    NOT NULL,
    tokens   INTEGER NOT NULL
) STRICT;

-- Every question of a start, an iteration or a wait is answered by one of these or by the right edge of the
-- table. An index that does not know a stream is not believed: then the table itself is searched.
CREATE UNIQUE INDEX stream_ids ON streams (kind, id);
CREATE INDEX children ON streams (parent) WHERE parent IS NOT NULL;
CREATE INDEX open_streams ON streams (kind) WHERE standing = 0;
CREATE INDEX unfinished_streams ON streams (kind) WHERE standing < 2;
CREATE INDEX task_spend ON streams (kind, task, cost, tokens);

-- The truth. `place` is the stream's `no` in the upper and `seq` in the lower 32 bits. One integer as
-- the key keeps a stream's entries side by side, makes every append an append to the tree's right
-- edge, and lets entries of up to 4 KB stay in their page: with a composite key the table would
-- have to be WITHOUT ROWID, where everything above 1 KB spills into a page of its own.
-- Entry 0 is the name of the stream, so that the journal needs no other table to be read.
CREATE TABLE journal (
    place    INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    elapsed  INTEGER NOT NULL,
    event    TEXT    NOT NULL,    -- as JSON
    checksum INTEGER NOT NULL     -- the first 8 bytes of SHA-256 over kind, id, seq, at, elapsed, event
) STRICT;

-- Comes with the entry at the same place, which tells that a check ended.
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

-- What a stream's entries up to `seq` fold to: a copy that saves folding them again, and is as good as none where it
-- does not fit.
CREATE TABLE snapshots (
    no       INTEGER PRIMARY KEY, -- of the stream
    seq      INTEGER NOT NULL,
    state    TEXT    NOT NULL,    -- as JSON
    checksum INTEGER NOT NULL     -- the first 8 bytes of SHA-256 over kind, id, seq, the entry there, the version, state
) STRICT;

-- What other processes ask of whoever carries a stream: they cannot write into its journal.
CREATE TABLE requests (
    no      INTEGER PRIMARY KEY,
    kind    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    request TEXT    NOT NULL,     -- cancel, pause, retry
    at      INTEGER NOT NULL,
    UNIQUE (kind, id, request)
) STRICT;
