import * as z from 'zod'
import { BoardState } from '../../dialects/board/board-state.ts'
import { SessionId, type SessionRecord } from '../../model/index.ts'
import { named } from '../http/openapi/components.ts'
import { stateOf } from './state.ts'

/** The response about a session in the board API. */
export const BoardStanding = named('BoardStanding', z.strictObject({ id: SessionId, state: BoardState }))

/** `BoardStanding` with our extensions. */
export const BoardSession = named(
  'BoardSession',
  BoardStanding.extend({
    agentId: z.string(),
    projectId: z.string().optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  }),
)
export type BoardSession = z.infer<typeof BoardSession>

export function boardSession(record: SessionRecord): BoardSession {
  const { id, agent, project, createdAt, updatedAt } = record
  return {
    id,
    state: stateOf(record),
    agentId: agent,
    ...(project !== undefined && { projectId: project }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
