import { FACES, type SessionRecord } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { modeOf } from './modes.ts'

export type ListedStatus = 'idle' | 'busy' | 'error'

export interface Listed {
  sessionId: string
  path: string
  status: ListedStatus
  mode: ReturnType<typeof modeOf>
  sdkSessionId: string | null
  model: string | null
  createdAt: string
  lastActivityAt: string
  cliType: string
}

/** Yields the conversations of a principal that have not ended, newest first; runs of `/v1/execute` are none. */
export async function* liveRecords(deps: GatewayDeps, principal: string): AsyncGenerator<SessionRecord> {
  for await (const record of deps.sessions.allRecords({ principals: [principal] }))
    if (record.status !== 'ended' && !record.single) yield record
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
export function statusOf({ status, lastOutcome, failure }: SessionRecord): ListedStatus {
  if (failure) return 'error'
  if (status === 'busy') return 'busy'
  return lastOutcome !== undefined && FACES[lastOutcome].daemon === 'error' ? 'error' : 'idle'
}
