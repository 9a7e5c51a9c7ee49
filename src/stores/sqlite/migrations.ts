/**
 * The schema of the session log as numbered, forward-only steps. A step that has shipped is never edited: its digest is in
 * the ledger of every existing log. The schema is private; the export format is the public one.
 */

export interface Migration {
  readonly version: number;
  readonly sql: string;
  /** SHA-256 of `sql` in hex, written down so that opening a log needs no hashing. */
  readonly sha256: string;
}

/** Stored in the file header; tells our logs from the SQLite files of other programs. Reads "hrns". */
export const APPLICATION_ID = 0x68726e73;

export const LEDGER_SQL = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY,
  applied_at TEXT NOT NULL,
  sha256 TEXT NOT NULL
) STRICT`;

export const migrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE sessions (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  working_dir TEXT NOT NULL,
  profile TEXT NOT NULL,
  model TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'ended')),
  pinned INTEGER NOT NULL DEFAULT 0,
  parent TEXT,
  head BLOB NOT NULL,
  owner TEXT,
  owner_until INTEGER NOT NULL DEFAULT 0,
  expired_to INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE events (
  session INTEGER NOT NULL REFERENCES sessions (key),
  id INTEGER NOT NULL CHECK (id > 0),
  kind TEXT NOT NULL,
  ts TEXT NOT NULL,
  originator TEXT,
  payload TEXT NOT NULL,
  prev BLOB NOT NULL,
  salt BLOB NOT NULL,
  content BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_since ON events (session, id);
CREATE INDEX events_marks ON events (session, kind, id) WHERE kind IN ('TurnStarted', 'CompactionTriggered');
CREATE TABLE open_calls (
  session INTEGER NOT NULL REFERENCES sessions (key),
  call_id TEXT NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (session, call_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints (
  session INTEGER NOT NULL REFERENCES sessions (key),
  event INTEGER NOT NULL,
  hash BLOB NOT NULL,
  ts TEXT NOT NULL,
  key_id TEXT NOT NULL,
  public_key BLOB NOT NULL,
  signature BLOB NOT NULL,
  PRIMARY KEY (session, event)
) STRICT, WITHOUT ROWID;
`,
    sha256: "67587bd332009e82efe2a2c2793897716acc6270b456c2c5d3740eb49f20d5aa",
  },
  {
    // One column for the evidence of a whole link. What events of the first format carried goes into it as it was.
    version: 2,
    sql: `
CREATE TABLE linked_events (
  session INTEGER NOT NULL REFERENCES sessions (key),
  id INTEGER NOT NULL CHECK (id > 0),
  kind TEXT NOT NULL,
  ts TEXT NOT NULL,
  originator TEXT,
  payload TEXT NOT NULL,
  link BLOB
) STRICT;
INSERT INTO linked_events SELECT session, id, kind, ts, originator, payload,
  unhex(hex(prev) || hex(content) || hex(salt) || '01') FROM events ORDER BY rowid;
DROP TABLE events;
ALTER TABLE linked_events RENAME TO events;
CREATE UNIQUE INDEX events_since ON events (session, id);
CREATE INDEX events_marks ON events (session, kind, id) WHERE kind IN ('TurnStarted', 'CompactionTriggered');
ALTER TABLE sessions ADD COLUMN head_event INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET head_event =
  coalesce((SELECT id FROM events WHERE events.session = sessions.key ORDER BY events.id DESC LIMIT 1), 0);
`,
    sha256: "4ef25a148fe06c250e407b8a67c8ce9190cdc516339c61929e0c54643e92e085",
  },
  // Snapshots of the conversation, kept beside the events they were made of.
  {
    version: 3,
    sql: `
CREATE TABLE snapshots (
  session INTEGER PRIMARY KEY REFERENCES sessions (key),
  format INTEGER NOT NULL,
  event INTEGER NOT NULL,
  hash BLOB NOT NULL,
  expired_to INTEGER NOT NULL,
  pieces INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;
CREATE TABLE snapshot_pieces (
  session INTEGER NOT NULL REFERENCES sessions (key),
  piece INTEGER NOT NULL,
  digest BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX snapshot_pieces_of ON snapshot_pieces (session, piece);
`,
    sha256: "638fe501f0a72284fac565a7079f52049393331c540f7b985d080d7b6e285a75",
  },
];
