import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres.ts'

/**
 * The role of a node in the database has its name, so that the database knows who writes. The node that acquired a fence
 * may use it until another node acquires the session, also after it has released its lease.
 */
const TRIGGER = (schema: string) => `
  CREATE TABLE ${schema}.ownership_problem (at timestamptz NOT NULL DEFAULT clock_timestamp(), problem text NOT NULL);
  CREATE TABLE ${schema}.acquired (id text, fence bigint, owner text, PRIMARY KEY (id, fence));
  CREATE FUNCTION ${schema}.audit_session() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE holder text;
  BEGIN
    IF NEW.owner IS NOT NULL THEN
      INSERT INTO ${schema}.acquired VALUES (NEW.id, NEW.fence, NEW.owner) ON CONFLICT DO NOTHING;
    END IF;
    IF TG_OP = 'INSERT' THEN
      RETURN NEW;
    END IF;
    IF NEW.fence < OLD.fence THEN
      INSERT INTO ${schema}.ownership_problem (problem)
      VALUES (format('the fence of %s went from %s to %s', OLD.id, OLD.fence, NEW.fence));
    END IF;
    IF NEW.fence = OLD.fence AND NEW.writes > OLD.writes THEN
      SELECT owner INTO holder FROM ${schema}.acquired WHERE id = OLD.id::text AND fence = OLD.fence;
      IF holder IS DISTINCT FROM current_user::text THEN
        INSERT INTO ${schema}.ownership_problem (problem)
        VALUES (format('%s wrote to %s, whose owner is %s', current_user, OLD.id, coalesce(holder, 'nobody')));
      END IF;
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER check_owner AFTER INSERT OR UPDATE ON ${schema}.session
    FOR EACH ROW EXECUTE FUNCTION ${schema}.audit_session();`

/** Prepares a database for nodes with these names. It records every write by a node that does not own the session. */
export async function prepareDatabase(url: string, nodes: readonly string[]): Promise<void> {
  const store = await postgresStore({ url })
  await store[Symbol.asyncDispose]()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const password = client.escapeLiteral(decodeURIComponent(new URL(url).password))
    for (const name of nodes) await client.query(`CREATE ROLE ${name} SUPERUSER LOGIN PASSWORD ${password}`)
    await client.query(TRIGGER('mainstem'))
  } finally {
    await client.end()
  }
}

/** The database as one node names it. */
export function asNode(url: string, name: string): string {
  const own = new URL(url)
  own.username = name
  return own.href
}

/** The records of the database. */
export async function auditIn(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query('SELECT problem FROM mainstem.ownership_problem ORDER BY at')
    return rows.map(({ problem }) => String(problem))
  } finally {
    await client.end()
  }
}
