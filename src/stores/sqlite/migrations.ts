/**
 * Each step raises the version by one; the version is SQLite's `user_version`.
 *
 * A row of `log` has the entries that one commit added to one session, as JSON texts separated by `,\n`. The table is
 * in commit order, which makes appends sequential; an index finds the rows of a session.
 *
 * The journal is written often and rarely read. Its index is partitioned by 16,384 rows, so that the rows of many
 * sessions share few pages; a read searches each partition.
 *
 * `heard` has the frame counts, which change with every commit. Apart from the records, those of many sessions share
 * few pages.
 *
 * A row of `queued` is one queued prompt, so that a change of the record does not write it again. `body` is the part
 * that the record has, and `whole` the complete prompt if that is more.
 *
 * `sum` is the checksum of a row; rows of older versions have none. `tail` records where each log ends, to detect a
 * missing last row; `journaled` is the last frame of the journal, and `previous` of a row of the journal the last frame of
 * the row before, both unknown where an older version wrote them; `counted` is `last` of `heard`. `queued` of a session counts its queued prompts. `edge_sum` is the checksum of its counters.
 *
 * `types` of a row of `log` names the types of its entries, without streamed ones, and is unknown where an older version
 * wrote the row. Most rows have streamed entries only and are not in its index.
 *
 * `fence` and `owner` belong to the last lease. Its expiry is not stored: one process has the store open, and the
 * leases of an earlier process have expired.
 *
 * Ids of `log` are never given twice, because the index of the search finds entries by them: `log_top` is at least the
 * highest id that was removed.
 *
 * `spent` has the daily usage, with an empty `model` if none is known, and `tally` the sessions by status, so that
 * neither needs a scan of all sessions.
 *
 * `setting` has `copy` while the database is an unfinished copy of another store, and `copied` afterwards.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE session (
     n INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     principal TEXT,
     status TEXT,
     asking INTEGER NOT NULL DEFAULT 0,
     record TEXT
   ) STRICT;
   CREATE INDEX session_principal ON session (principal, n);
   CREATE INDEX session_status ON session (status, n);
   CREATE INDEX session_asking ON session (n) WHERE asking = 1;

   CREATE TABLE log (
     id INTEGER PRIMARY KEY,
     session INTEGER NOT NULL,
     first INTEGER NOT NULL,
     last INTEGER NOT NULL,
     at REAL NOT NULL,
     version INTEGER NOT NULL,
     body TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX log_place ON log (session, first);

   CREATE TABLE journal (
     id INTEGER PRIMARY KEY,
     session INTEGER NOT NULL,
     last INTEGER NOT NULL,
     encoding INTEGER NOT NULL,
     body BLOB NOT NULL
   ) STRICT;
   CREATE INDEX journal_place ON journal (id >> 14, session, last);

   CREATE TABLE receipt (
     id TEXT PRIMARY KEY,
     session TEXT NOT NULL,
     at INTEGER NOT NULL,
     body TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX receipt_session ON receipt (session);

   CREATE TABLE blob (
     id TEXT PRIMARY KEY,
     session INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX blob_session ON blob (session);`,

  `ALTER TABLE session ADD COLUMN earliest INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE session ADD COLUMN earliest_frame INTEGER NOT NULL DEFAULT 1;
   CREATE INDEX receipt_at ON receipt (at);

   CREATE TABLE spent (
     principal TEXT NOT NULL,
     agent TEXT NOT NULL,
     day TEXT NOT NULL,
     sessions INTEGER NOT NULL,
     turns INTEGER NOT NULL,
     input INTEGER,
     output INTEGER,
     cacheRead INTEGER,
     cacheWrite INTEGER,
     reasoning INTEGER,
     total INTEGER,
     costUsd REAL,
     PRIMARY KEY (principal, agent, day)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO spent SELECT principal, record ->> '$.agent',
     date((record ->> '$.createdAt') / 1000, 'unixepoch'), count(*), sum(record ->> '$.turns'),
     sum(record ->> '$.usage.input'), sum(record ->> '$.usage.output'), sum(record ->> '$.usage.cacheRead'),
     sum(record ->> '$.usage.cacheWrite'), sum(record ->> '$.usage.reasoning'),
     sum(record ->> '$.usage.total'), sum(record ->> '$.usage.costUsd')
     FROM session WHERE record IS NOT NULL GROUP BY 1, 2, 3;

   CREATE TABLE tally (status TEXT PRIMARY KEY, sessions INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   INSERT INTO tally SELECT status, count(*) FROM session WHERE status IS NOT NULL GROUP BY status;
   CREATE TRIGGER tally_changed AFTER UPDATE OF status ON session WHEN old.status IS NOT new.status BEGIN
     UPDATE tally SET sessions = sessions - 1 WHERE status = old.status;
     INSERT INTO tally VALUES (new.status, 1) ON CONFLICT DO UPDATE SET sessions = sessions + 1;
   END;
   CREATE TRIGGER tally_deleted AFTER DELETE ON session BEGIN
     UPDATE tally SET sessions = sessions - 1 WHERE status = old.status;
   END;`,

  `CREATE TABLE heard (
     session INTEGER PRIMARY KEY,
     last INTEGER NOT NULL,
     frames INTEGER NOT NULL,
     mapped INTEGER NOT NULL,
     unmapped INTEGER NOT NULL,
     malformed INTEGER NOT NULL,
     oversized INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX session_native ON session (record ->> '$.nativeSessionId');
   CREATE INDEX session_resumed ON session (record ->> '$.resumedFrom');`,

  `ALTER TABLE spent ADD COLUMN partial INTEGER;`,

  `DROP INDEX session_native;
   DROP INDEX session_resumed;
   CREATE TABLE native (
     id TEXT NOT NULL,
     principal TEXT NOT NULL,
     PRIMARY KEY (id, principal)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO native
     SELECT record ->> '$.nativeSessionId', principal FROM session WHERE record ->> '$.nativeSessionId' IS NOT NULL
     UNION SELECT record ->> '$.announcedSessionId', principal FROM session
       WHERE record ->> '$.announcedSessionId' IS NOT NULL
     UNION SELECT record ->> '$.resumedFrom', principal FROM session WHERE record ->> '$.resumedFrom' IS NOT NULL;
   CREATE TRIGGER native_named AFTER UPDATE OF record ON session WHEN new.record IS NOT NULL BEGIN
     INSERT INTO native SELECT id, new.principal FROM (
       SELECT new.record ->> '$.nativeSessionId' AS id
       UNION SELECT new.record ->> '$.announcedSessionId'
       UNION SELECT new.record ->> '$.resumedFrom'
     ) WHERE id IS NOT NULL ON CONFLICT DO NOTHING;
   END;`,

  `CREATE TABLE queued (
     id INTEGER PRIMARY KEY,
     session INTEGER NOT NULL,
     turn INTEGER NOT NULL,
     body TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX queued_turn ON queued (session, turn);
   INSERT INTO queued (session, turn, body)
     SELECT s.n, q.value ->> '$.turn', q.value FROM session s, json_each(s.record, '$.queue') q ORDER BY s.n, q.key;
   UPDATE session SET record = json_remove(record, '$.queue') WHERE n IN (SELECT session FROM queued);`,

  `ALTER TABLE session ADD COLUMN sum INTEGER;
   ALTER TABLE session ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE session ADD COLUMN edge_sum INTEGER;
   ALTER TABLE log ADD COLUMN sum INTEGER;
   ALTER TABLE journal ADD COLUMN sum INTEGER;
   ALTER TABLE receipt ADD COLUMN sum INTEGER;
   ALTER TABLE blob ADD COLUMN sum INTEGER;
   ALTER TABLE heard ADD COLUMN sum INTEGER;
   ALTER TABLE queued ADD COLUMN sum INTEGER;
   UPDATE session SET queued = (SELECT count(*) FROM queued WHERE session = n) WHERE n IN (SELECT session FROM queued);

   CREATE TABLE tail (
     session INTEGER PRIMARY KEY,
     head INTEGER NOT NULL,
     at INTEGER NOT NULL,
     sum INTEGER
   ) STRICT;`,

  `ALTER TABLE session ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE session ADD COLUMN owner TEXT;
   ALTER TABLE session ADD COLUMN lease_sum INTEGER;`,

  `ALTER TABLE spent RENAME TO spent_before;
   CREATE TABLE spent (
     principal TEXT NOT NULL,
     agent TEXT NOT NULL,
     model TEXT NOT NULL,
     day TEXT NOT NULL,
     sessions INTEGER NOT NULL,
     turns INTEGER NOT NULL,
     input INTEGER,
     output INTEGER,
     cacheRead INTEGER,
     cacheWrite INTEGER,
     reasoning INTEGER,
     total INTEGER,
     costUsd REAL,
     partial INTEGER,
     PRIMARY KEY (principal, agent, model, day)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO spent SELECT principal, agent, '', day, sessions, turns, input, output, cacheRead, cacheWrite,
     reasoning, total, costUsd, partial FROM spent_before;
   DROP TABLE spent_before;`,

  `CREATE TABLE log_top (id INTEGER NOT NULL) STRICT;
   INSERT INTO log_top VALUES (0);`,

  `ALTER TABLE queued ADD COLUMN whole TEXT;
   ALTER TABLE queued ADD COLUMN whole_sum INTEGER;
   UPDATE queued SET whole = body, whole_sum = sum, sum = NULL,
     body = json_set(json_remove(body, '$.images'), '$.images', json_array_length(body, '$.images'))
     WHERE body -> '$.images' IS NOT NULL;
   UPDATE queued SET whole = coalesce(whole, body), whole_sum = coalesce(whole_sum, sum), sum = NULL,
     body = json_set(body, '$.prompt', substr(body ->> '$.prompt', 1, 2000), '$.truncated', json('true'))
     WHERE length(body) > 2200 AND length(body ->> '$.prompt') > 2000;`,

  `CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`,

  `ALTER TABLE journal ADD COLUMN previous INTEGER;
   ALTER TABLE tail ADD COLUMN journaled INTEGER;
   ALTER TABLE tail ADD COLUMN counted INTEGER;`,

  `ALTER TABLE log ADD COLUMN types TEXT;
   CREATE INDEX log_types ON log (session, types, first) WHERE types IS NOT '';`,

  `CREATE TABLE token (
     name TEXT PRIMARY KEY,
     digest TEXT NOT NULL,
     roles TEXT NOT NULL,
     at REAL NOT NULL,
     added_by TEXT NOT NULL,
     removed REAL,
     sum INTEGER
   ) STRICT;
   CREATE TABLE permit (
     grantee TEXT NOT NULL,
     principal TEXT NOT NULL,
     at REAL NOT NULL,
     added_by TEXT NOT NULL,
     sum INTEGER,
     PRIMARY KEY (grantee, principal)
   ) STRICT;
   CREATE TABLE audit (
     id TEXT PRIMARY KEY,
     at REAL NOT NULL,
     principal TEXT NOT NULL,
     action TEXT NOT NULL,
     session TEXT,
     body TEXT NOT NULL,
     sum INTEGER
   ) STRICT;
   CREATE INDEX audit_at ON audit (at, id);
   CREATE INDEX audit_principal ON audit (principal, at, id);
   CREATE INDEX audit_session ON audit (session, at, id) WHERE session IS NOT NULL;`,

  `ALTER TABLE session ADD COLUMN single INTEGER;`,

  `ALTER TABLE token ADD COLUMN principal TEXT;
   ALTER TABLE token ADD COLUMN login TEXT;
   ALTER TABLE token ADD COLUMN allowed_by TEXT;`,

  `CREATE TABLE webhook (
     id TEXT PRIMARY KEY,
     principal TEXT NOT NULL,
     kind TEXT NOT NULL,
     at REAL NOT NULL,
     events TEXT NOT NULL,
     sessions TEXT,
     disabled REAL,
     body TEXT NOT NULL,
     sum INTEGER
   ) STRICT;
   CREATE INDEX webhook_principal ON webhook (principal);
   CREATE TABLE delivery (
     webhook TEXT NOT NULL,
     id TEXT NOT NULL,
     session TEXT NOT NULL,
     principal TEXT NOT NULL,
     type TEXT NOT NULL,
     at REAL NOT NULL,
     status TEXT NOT NULL,
     attempts INTEGER NOT NULL,
     changed REAL NOT NULL,
     due REAL,
     note TEXT,
     sum INTEGER,
     state_sum INTEGER,
     PRIMARY KEY (webhook, id)
   ) STRICT;
   CREATE INDEX delivery_due ON delivery (webhook, due) WHERE due IS NOT NULL;
   CREATE INDEX delivery_session ON delivery (session);`,
]
