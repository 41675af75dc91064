/** The timeline that a server writes: the beginning of the names of its WAL files. */
export const TIMELINE = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'

/**
 * Each takes the schema one version further; a new table is a new migration. `@` before the name of a table is replaced by
 * the schema.
 *
 * `session` is the one row that every commit of a session changes, so it is narrow and has no index on what changes.
 * `writes` counts these commits: a commit names the count that it expects, so that none is applied twice when its
 * connection breaks and it is sent again. `inherited` is that count when the current lease began.
 *
 * A row of `log` has what one commit added to one session, as JSON texts with `,\n` between them. `id` is the order of
 * commits, in an index that costs an append almost nothing.
 *
 * When a lease ends is one row for each owner, by the clock of the database in milliseconds.
 *
 * Texts are `text` and never `jsonb`, which changes them. `sum` is a checksum of the columns that are read with it; that
 * of a session is computed by the database, as its columns are, and so is that of the time of a receipt.
 *
 * `queued` counts the prompts of a session, `recorded` says that it has a record, and `journaled` is the last frame of its
 * journal, to find lost rows. `previous` of a row of the journal is the last frame of the row before.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE @session (
     n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text COLLATE "C" NOT NULL UNIQUE,
     fence bigint NOT NULL,
     owner text COLLATE "C",
     writes bigint NOT NULL,
     inherited bigint NOT NULL DEFAULT 0,
     head bigint NOT NULL,
     at double precision NOT NULL,
     earliest bigint NOT NULL DEFAULT 1,
     earliest_frame bigint NOT NULL DEFAULT 1,
     last_frame bigint,
     frames bigint,
     mapped bigint,
     unmapped bigint,
     malformed bigint,
     oversized bigint
   ) WITH (fillfactor = 70);

   CREATE TABLE @record (
     session bigint PRIMARY KEY,
     principal text COLLATE "C" NOT NULL,
     status text COLLATE "C" NOT NULL,
     asking boolean NOT NULL,
     sum bigint NOT NULL,
     body text NOT NULL
   ) WITH (fillfactor = 70);
   CREATE INDEX record_principal ON @record (principal, session);
   CREATE INDEX record_status ON @record (status, session);
   CREATE INDEX record_asking ON @record (session) WHERE asking;

   CREATE TABLE @queued (
     session bigint NOT NULL,
     turn bigint NOT NULL,
     sum bigint NOT NULL,
     body text NOT NULL,
     whole_sum bigint,
     whole text,
     PRIMARY KEY (session, turn)
   );

   CREATE TABLE @log (
     id bigint GENERATED ALWAYS AS IDENTITY,
     session bigint NOT NULL,
     first bigint NOT NULL,
     last bigint NOT NULL,
     at double precision NOT NULL,
     version int NOT NULL,
     sum bigint NOT NULL,
     body text NOT NULL,
     PRIMARY KEY (session, first)
   );
   CREATE INDEX log_id ON @log USING brin (id) WITH (autosummarize = on);

   CREATE TABLE @journal (
     session bigint NOT NULL,
     last bigint NOT NULL,
     encoding int NOT NULL,
     sum bigint NOT NULL,
     body bytea NOT NULL,
     PRIMARY KEY (session, last)
   );
   ALTER TABLE @journal ALTER COLUMN body SET STORAGE EXTERNAL;

   CREATE TABLE @receipt (
     id text COLLATE "C" PRIMARY KEY,
     session text COLLATE "C" NOT NULL,
     at double precision NOT NULL,
     sum bigint NOT NULL,
     body text NOT NULL
   );
   CREATE INDEX receipt_session ON @receipt (session);
   CREATE INDEX receipt_at ON @receipt (at);

   CREATE TABLE @blob (
     id text COLLATE "C" PRIMARY KEY,
     session bigint,
     made timestamptz NOT NULL DEFAULT now(),
     bytes bigint NOT NULL,
     sum bigint NOT NULL
   );
   CREATE INDEX blob_session ON @blob (session);
   CREATE TABLE @blob_part (
     blob text COLLATE "C" NOT NULL,
     part int NOT NULL,
     made timestamptz NOT NULL DEFAULT now(),
     body bytea NOT NULL,
     PRIMARY KEY (blob, part)
   );
   ALTER TABLE @blob_part ALTER COLUMN body SET STORAGE EXTERNAL;

   CREATE TABLE @native (
     id text COLLATE "C" NOT NULL,
     principal text COLLATE "C" NOT NULL,
     PRIMARY KEY (id, principal)
   );

   CREATE TABLE @spent (
     principal text COLLATE "C" NOT NULL,
     agent text COLLATE "C" NOT NULL,
     day text COLLATE "C" NOT NULL,
     sessions bigint NOT NULL,
     turns bigint NOT NULL,
     input double precision,
     output double precision,
     "cacheRead" double precision,
     "cacheWrite" double precision,
     reasoning double precision,
     total double precision,
     "costUsd" double precision,
     partial int,
     PRIMARY KEY (principal, agent, day)
   );

   CREATE TABLE @owner (
     id text COLLATE "C" PRIMARY KEY,
     until double precision NOT NULL
   );

   CREATE TABLE @open_time (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     ms double precision NOT NULL
   );
   INSERT INTO @open_time (ms) VALUES (0);

   CREATE TABLE @setting (
     name text COLLATE "C" PRIMARY KEY,
     value text NOT NULL
   );`,

  `ALTER TABLE @spent ADD COLUMN model text COLLATE "C" NOT NULL DEFAULT '';
   ALTER TABLE @spent DROP CONSTRAINT spent_pkey;
   ALTER TABLE @spent ADD PRIMARY KEY (principal, agent, model, day);`,

  // Several servers on one database.
  `CREATE TABLE @node (
     name text COLLATE "C" PRIMARY KEY,
     process text COLLATE "C" NOT NULL,
     info text NOT NULL,
     seen double precision NOT NULL,
     until double precision NOT NULL
   );

   CREATE TABLE @command (
     id text COLLATE "C" PRIMARY KEY,
     sent bigint GENERATED ALWAYS AS IDENTITY,
     node text COLLATE "C" NOT NULL,
     urgent boolean NOT NULL,
     until double precision NOT NULL,
     body text NOT NULL,
     outcome text
   );
   CREATE INDEX command_pending ON @command (node) WHERE outcome IS NULL;
   CREATE INDEX command_until ON @command (until);`,

  // The transaction of each commit, for readers of all sessions. Rows of earlier versions have none.
  `ALTER TABLE @log ADD COLUMN xact bigint;
   ALTER TABLE @log ALTER COLUMN xact SET DEFAULT pg_current_xact_id()::text::bigint;
   CREATE INDEX log_xact ON @log USING brin (xact) WITH (autosummarize = on, pages_per_range = 16);
   INSERT INTO @setting VALUES ('feed', substr(md5(random()::text || clock_timestamp()), 1, 8));`,

  // The words of entries. Rows of the log up to `base` are indexed downwards to `low`, later ones up to `xact` and `id`.
  // A document refers to its row, so that it is removed with it. The lock lets commits that are under way end first.
  `LOCK TABLE @log IN SHARE ROW EXCLUSIVE MODE;
   CREATE TABLE @document (
     session bigint NOT NULL,
     first bigint NOT NULL,
     seq bigint NOT NULL,
     id bigint NOT NULL,
     tokens tsvector NOT NULL,
     PRIMARY KEY (session, first, seq),
     FOREIGN KEY (session, first) REFERENCES @log ON DELETE CASCADE
   );
   CREATE INDEX document_id ON @document (id);
   CREATE INDEX document_tokens ON @document USING gin (tokens);
   CREATE TABLE @indexed (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     version int NOT NULL,
     base bigint NOT NULL,
     low bigint NOT NULL,
     xact bigint NOT NULL,
     id bigint NOT NULL
   );
   INSERT INTO @indexed (version, base, low, xact, id)
     SELECT 1, last, last + 1, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0
     FROM (SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM @log_id_seq) ids;`,

  // Readers of all sessions and the index of words read in the order of transactions, a page at a time: a BRIN index
  // would have each page sort everything behind its cursor. `place` names the table that the epoch began in.
  `DROP INDEX @log_xact;
   CREATE INDEX log_xact ON @log (xact, id);
   CREATE TABLE @feed (
     one boolean PRIMARY KEY DEFAULT true CHECK (one),
     epoch text NOT NULL,
     place text NOT NULL,
     after bigint NOT NULL
   );
   INSERT INTO @feed (epoch, place, after) SELECT value, '', 0 FROM @setting WHERE name = 'feed';
   DELETE FROM @setting WHERE name = 'feed';`,

  // Counts and checksums that show lost rows. Rows of earlier versions have no checksum, and get one with the next commit.
  `ALTER TABLE @session ADD COLUMN queued bigint NOT NULL DEFAULT 0;
   ALTER TABLE @session ADD COLUMN recorded boolean NOT NULL DEFAULT false;
   ALTER TABLE @session ADD COLUMN journaled bigint;
   ALTER TABLE @session ADD COLUMN sum bigint;
   UPDATE @session s SET queued = (SELECT count(*) FROM @queued q WHERE q.session = s.n),
     recorded = EXISTS (SELECT FROM @record r WHERE r.session = s.n);
   ALTER TABLE @journal ADD COLUMN previous bigint;
   ALTER TABLE @blob ADD COLUMN owner_sum bigint;
   ALTER TABLE @receipt ADD COLUMN at_sum bigint;`,

  // By the types of entries, of one session and of all. Most rows have streamed entries only and are in neither index.
  `ALTER TABLE @log ADD COLUMN types text COLLATE "C";
   CREATE INDEX log_types ON @log (session, types, first) WHERE types IS DISTINCT FROM '';
   CREATE INDEX log_feed ON @log (types, xact, id) WHERE types IS DISTINCT FROM '';`,

  // Words are indexed with the scope of their principal, so all are indexed again.
  `LOCK TABLE @log IN SHARE ROW EXCLUSIVE MODE;
   TRUNCATE @document;
   UPDATE @indexed SET version = 2, base = s.last, low = s.last + 1, id = 0,
     xact = pg_snapshot_xmin(pg_current_snapshot())::text::bigint
     FROM (SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM @log_id_seq OFFSET 0) s;`,

  `CREATE TABLE @token (
     name text COLLATE "C" PRIMARY KEY,
     digest text COLLATE "C" NOT NULL,
     roles text COLLATE "C" NOT NULL,
     at double precision NOT NULL,
     added_by text COLLATE "C" NOT NULL,
     removed double precision,
     sum bigint NOT NULL
   );
   CREATE TABLE @permit (
     grantee text COLLATE "C" NOT NULL,
     principal text COLLATE "C" NOT NULL,
     at double precision NOT NULL,
     added_by text COLLATE "C" NOT NULL,
     sum bigint NOT NULL,
     PRIMARY KEY (grantee, principal)
   );
   CREATE TABLE @audit (
     id text COLLATE "C" PRIMARY KEY,
     at double precision NOT NULL,
     at_sum bigint NOT NULL,
     principal text COLLATE "C" NOT NULL,
     action text COLLATE "C" NOT NULL,
     session text COLLATE "C",
     sum bigint NOT NULL,
     body text NOT NULL
   );
   CREATE INDEX audit_at ON @audit (at, id);
   CREATE INDEX audit_principal ON @audit (principal, at, id);
   CREATE INDEX audit_session ON @audit (session, at, id) WHERE session IS NOT NULL;`,

  // Sessions that end with their first turn, so that another server can end one whose owner died in between.
  `ALTER TABLE @record ADD COLUMN single boolean;
   CREATE INDEX record_single ON @record (session) WHERE single AND status <> 'ended';`,

  // The place of the feed names the timeline of the server too.
  `UPDATE @feed SET place = place || '.' || ${TIMELINE} WHERE place <> '';`,

  `ALTER TABLE @token ADD COLUMN principal text COLLATE "C";
   ALTER TABLE @token ADD COLUMN login text COLLATE "C";
   ALTER TABLE @token ADD COLUMN allowed_by text COLLATE "C";
   CREATE TABLE @used (
     id text COLLATE "C" PRIMARY KEY,
     until double precision NOT NULL
   );
   CREATE INDEX used_until ON @used (until);`,

  `CREATE TABLE @webhook (
     id text COLLATE "C" PRIMARY KEY,
     principal text COLLATE "C" NOT NULL,
     kind text COLLATE "C" NOT NULL,
     at double precision NOT NULL,
     events text COLLATE "C" NOT NULL,
     sessions text COLLATE "C",
     disabled double precision,
     body text NOT NULL,
     sum bigint NOT NULL
   );
   CREATE INDEX webhook_principal ON @webhook (principal);
   CREATE TABLE @delivery (
     webhook text COLLATE "C" NOT NULL,
     id text COLLATE "C" NOT NULL,
     session text COLLATE "C" NOT NULL,
     principal text COLLATE "C" NOT NULL,
     type text COLLATE "C" NOT NULL,
     at double precision NOT NULL,
     status text COLLATE "C" NOT NULL,
     attempts bigint NOT NULL,
     changed double precision NOT NULL,
     due double precision,
     note text COLLATE "C",
     sum bigint NOT NULL,
     state_sum bigint NOT NULL,
     PRIMARY KEY (webhook, id)
   );
   CREATE INDEX delivery_due ON @delivery (webhook, due) WHERE due IS NOT NULL;
   CREATE INDEX delivery_session ON @delivery (session);`,
]
