import { FACES, type SessionRecord } from '../../model/index.ts'
import { allRecords } from '../../sessions/all-records.ts'
import type { GatewayDeps } from '../deps.ts'
import { modeOf } from './modes.ts'

export type Status = 'idle' | 'busy' | 'error'

export interface Listed {
  sessionId: string
  path: string
  status: Status
  mode: ReturnType<typeof modeOf>
  sdkSessionId: string | null
  model: string | null
  createdAt: string
  lastActivityAt: string
  cliType: string
}

/** Yields the sessions of a principal that have not ended, newest first. */
export async function* liveRecords(deps: GatewayDeps, principal: string): AsyncGenerator<SessionRecord> {
  for await (const record of allRecords(deps.sessions, { principal }))
    if (record.status !== 'ended') yield record
}

/** Converts a session record to the format of this API. */
export function listed(record: SessionRecord): Listed {
  const { id, cwd, policy, options, nativeSessionId, resumedFrom, model = options.model } = record
  return {
    sessionId: id,
    path: cwd,
    status: statusOf(record),
    mode: modeOf(policy),
    sdkSessionId: nativeSessionId ?? resumedFrom ?? null,
    model: model ?? null,
    createdAt: new Date(record.createdAt).toISOString(),
    lastActivityAt: new Date(record.updatedAt).toISOString(),
    cliType: record.agent,
  }
}

/** An idle session reports `error` when its last turn failed; the next message may succeed. */
export function statusOf({ status, lastOutcome }: SessionRecord): Status {
  if (status === 'busy') return 'busy'
  return lastOutcome !== undefined && FACES[lastOutcome].daemon === 'error' ? 'error' : 'idle'
}
