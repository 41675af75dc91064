import type { Write } from '../../agent.ts'
import { compact, type Fields, text, texts } from '../../kit/fields.ts'
import type { OpencodeState } from './state.ts'

export type ReplyWrite = Extract<Write, { kind: 'http' }>

/** Never `always`: OpenCode stores it for the project, and directories without git share one project. */
export function permissionReply(
  { opening }: OpencodeState,
  sessionId: string,
  nativeId: string,
  decision: 'once' | 'reject',
  message?: string,
): ReplyWrite {
  const path = `/api/session/${sessionId}/permission/${nativeId}/reply`
  const body = opening.api === 'preview' ? { reply: decision } : { decision }
  return { kind: 'http', method: 'POST', path, tag: 'answer', body: { ...body, ...compact({ message }) } }
}

export function formReply(sessionId: string, nativeId: string, answer: Fields): ReplyWrite {
  const path = `/api/session/${sessionId}/form/${nativeId}/reply`
  return { kind: 'http', method: 'POST', path, tag: 'answer', body: { answer } }
}

export function formCancel(
  { opening }: OpencodeState,
  sessionId: string,
  nativeId: string,
  message?: string,
): ReplyWrite {
  const path = `/api/session/${sessionId}/form/${nativeId}`
  if (opening.api === 'preview')
    return { kind: 'http', method: 'POST', path: `${path}/cancel`, tag: 'answer' }
  const query = message === undefined ? '' : `?message=${encodeURIComponent(message)}`
  return { kind: 'http', method: 'DELETE', path: `${path}${query}`, tag: 'answer' }
}

/** Whether an approval for the session covers every resource of the request. */
export function isGranted({ grants }: OpencodeState, data: Fields): boolean {
  const action = text(data, 'action')
  const resources = texts(data, 'resources') ?? []
  return resources.length > 0 && resources.every((resource) => isCovered(grants, action, resource))
}

function isCovered(grants: OpencodeState['grants'], action: string | undefined, resource: string): boolean {
  return grants.some(
    (grant) => grant.action === action && grant.patterns.some((pattern) => matches(pattern, resource)),
  )
}

/** OpenCode's matching: `*` and `?`, case-sensitive. */
function matches(pattern: string, resource: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(resource)
}

export function inboxRemoval(sessionId: string, inboxId: string): ReplyWrite {
  return { kind: 'http', method: 'DELETE', path: `/api/session/${sessionId}/inbox/${inboxId}`, tag: 'remove' }
}

/** A compaction waits in the inbox, as a prompt does. */
export function compactCall(sessionId: string): ReplyWrite {
  return { kind: 'http', method: 'POST', path: `/api/session/${sessionId}/compact`, tag: 'compact', body: {} }
}

/** A prompt has an id of ours, so that it can be sent twice and is added once. */
export function promptCall(sessionId: string, body: Fields, tag = 'prompt'): ReplyWrite {
  return { kind: 'http', method: 'POST', path: `/api/session/${sessionId}/prompt`, tag, body }
}
