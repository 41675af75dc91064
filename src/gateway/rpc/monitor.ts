import * as z from 'zod'
import { ownedSession } from '../access/session-access.ts'
import { type Listed, type ListedStatus, listed, liveRecords, statusOf } from './listing.ts'
import { type Method, method, OfSession, type Rpc } from './method.ts'
import { undelivered } from './reconnect.ts'

const Nothing = z.strictObject({})

const MEGABYTE = 1024 * 1024

interface QueueStats {
  userPending: number
  responsePending: number
  clientConnected: boolean
}

/** Methods that report the state of the server and its sessions. */
export function monitorMethods(rpc: Rpc): Record<string, Method> {
  const { deps } = rpc
  return {
    'session.queue_stats': method(OfSession, async ({ sessionId }, principal) =>
      queueStats(rpc, principal, sessionId),
    ),
    'health.check': method(Nothing, async (_, principal) => {
      const sessionsByStatus: Record<ListedStatus, number> = { idle: 0, busy: 0, error: 0 }
      let sessions = 0
      for await (const record of liveRecords(deps, principal)) {
        sessionsByStatus[statusOf(record)]++
        sessions++
      }
      const { version: nodeVersion, pid } = process
      const memory = memoryInUse()
      return {
        ok: true,
        sessions,
        sessionsByStatus,
        uptime: uptime(),
        memory,
        nodeVersion,
        pid,
        version: deps.version,
      }
    }),
    'monitor.sessions': method(Nothing, async (_, principal) => {
      const sessions: (Listed & { queue: QueueStats })[] = []
      for await (const record of liveRecords(deps, principal)) {
        sessions.push({ ...listed(record), queue: await queueStats(rpc, principal, record.id) })
      }
      return { sessions, totalSessions: sessions.length, uptime: uptime() }
    }),
  }
}

async function queueStats(rpc: Rpc, principal: string, id: string): Promise<QueueStats> {
  const { deps, clients } = rpc
  await clients.deliveriesRecorded(id)
  const record = await ownedSession(deps, principal, id)
  const { count } = await undelivered(rpc, record, { except: clients.turns(id) })
  return {
    userPending: record.queue.length,
    responsePending: count,
    clientConnected: clients.has(id),
  }
}

/** In whole seconds. */
function uptime(): number {
  return Math.floor(process.uptime())
}

/** In whole megabytes, for compatibility. */
function memoryInUse(): { rss: number; heapUsed: number; heapTotal: number } {
  const { rss, heapUsed, heapTotal } = process.memoryUsage()
  const megabytes = (bytes: number) => Math.round(bytes / MEGABYTE)
  return { rss: megabytes(rss), heapUsed: megabytes(heapUsed), heapTotal: megabytes(heapTotal) }
}
