import { setTimeout } from 'node:timers/promises'
import type { Row } from './row.ts'
import { Server } from './server.ts'

const SESSIONS = 10_000
const AT_ONCE = 32
/** Start-up work is done after this time, and an idle server has returned its memory to the system. */
const SETTLED_MS = 12_000

/** The memory of a server that has nothing to do, and after many sessions were created and deleted. */
export async function memory(checkout: string): Promise<Row[]> {
  await using server = await Server.start(checkout)
  await setTimeout(SETTLED_MS)
  const idle = server.memory()
  let left = SESSIONS
  const some = async () => {
    while (left-- > 0) await server.call('DELETE', await server.session({ agent: 'echo' }))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, some))
  await setTimeout(SETTLED_MS)
  const after = server.memory()
  return [
    { what: 'idle server, MB', value: idle.all },
    { what: 'idle server, not shared, MB', value: idle.own },
    { what: `after ${SESSIONS} sessions were created and deleted, × idle`, value: after.all / idle.all },
  ]
}
