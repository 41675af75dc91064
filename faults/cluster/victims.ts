import pg from 'pg'

/** Sessions with a running turn: the next owner ends the turn, and with a queued prompt it starts an agent at once. */
const BUSY = `SELECT s.id, s.owner, EXISTS (SELECT FROM mainstem.queued q WHERE q.session = s.n) AS queue
  FROM mainstem.session s JOIN mainstem.record r ON r.session = s.n
  WHERE r.status = 'busy' AND s.owner IS NOT NULL`

export interface BusySession {
  id: string
  owner: string
  hasQueue: boolean
}

/** The sessions that show most when their owner is lost. */
export async function busySessions(url: string): Promise<BusySession[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(BUSY)
    return rows.map(({ id, owner, queue }) => ({
      id: String(id),
      owner: String(owner),
      hasQueue: queue === true,
    }))
  } finally {
    await client.end()
  }
}
