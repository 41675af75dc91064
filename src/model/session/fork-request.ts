import { MainstemError } from '../outcome/mainstem-error.ts'
import type { NewSession } from './new-session.types.ts'
import type { SessionRecord } from './record.types.ts'

/** The request for a session that continues a copy of this one's conversation, with the same settings. */
export function forkRequest(record: SessionRecord, name?: string): NewSession {
  const { id, agent, launch, principal, cwd, project, policy, attended, nativeSessionId, openTurn } = record
  if (openTurn !== undefined)
    throw new MainstemError('conflict', `a turn of session ${id} is running; fork it when the turn has ended`)
  if (nativeSessionId === undefined)
    throw new MainstemError('conflict', `session ${id} has no conversation yet; send it a prompt first`)
  // Images belong to the first prompt.
  const { images: _, ...options } = record.options
  return {
    agent,
    launch,
    principal,
    cwd,
    policy,
    options,
    attended,
    resume: nativeSessionId,
    fork: true,
    ...(project !== undefined && { project }),
    ...(name !== undefined && { name }),
  }
}
