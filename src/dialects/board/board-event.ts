import * as z from 'zod'
import { Outcome, ToolStatus } from '../../model/index.ts'
import { ClosedRequest, OpenRequest } from '../kit/open-request.ts'

const outcome = Outcome.exclude(['completed']).optional().describe('the exact outcome of the turn')

const envelope = { id: z.uuid(), sessionId: z.uuid(), timestamp: z.iso.datetime() }

const message = <Type extends string, Payload extends z.ZodRawShape>(type: Type, payload: Payload) =>
  z.strictObject({ ...envelope, type: z.literal(type), payload: z.strictObject(payload) })

/** The event stream of a board session. Clients skip fields they do not know. */
export const SessionEvent = z.discriminatedUnion('type', [
  message('plan', { message: z.string() }),
  message('log', {
    line: z.string(),
    outcome,
    request: z.union([OpenRequest, ClosedRequest]).optional().describe('the line is about a request'),
  }),
  message('diff', {
    file: z.string(),
    diff: z.string().describe('hunks of a unified diff; empty when the agent did not report the change'),
    change: z.enum(['created', 'deleted']).optional().describe('absent: modified'),
    from: z.string().optional().describe('the previous name, which is reported as deleted'),
  }),
  message('action', { tool: z.string(), args: z.record(z.string(), z.unknown()), toolId: z.string() }),
  message('toolResult', {
    tool: z.string(),
    success: z.boolean(),
    output: z.string(),
    toolId: z.string(),
    status: ToolStatus.exclude(['success']).optional().describe('the exact status of the failure'),
    error: z.string().optional(),
  }),
  message('error', { message: z.string(), code: z.string().optional(), outcome }),
  message('cancelled', {}),
])
export type SessionEvent = z.infer<typeof SessionEvent>

type BoardBodyOf<Emitted> = Emitted extends SessionEvent ? Pick<Emitted, 'type' | 'payload'> : never

/** A message without its common fields. */
export type BoardBody = BoardBodyOf<SessionEvent>
