import type { NoticeRaised } from '../../model/events/report.ts'
import type { DeniedBy } from '../../model/index.ts'
import type { Ledger } from '../kit/ledger.ts'

const ROUTER = 'codex_core::tools::router'
const COLOURS = /\u001b\[[0-9;]*m/g
/** The item itself reports a denial by a person; "user approval settings" are a policy. */
const BY_PERSON = /rejected by user(?! approval settings)/i
const BY_HOOK = /blocked by \w+ hook/i
/** Messages of Codex itself. "Permission denied" is excluded: it refers to a file, and the call merely failed. */
const BY_POLICY = /reject command|patch rejected|Rejected\(|rejected by|blocked by|forbidden by/
/** Without a client that could answer, `codex exec` reports that the user cancelled the call. */
const MCP_REFUSED = /requires approval, but approval policy|(?:rejected|cancelled) MCP tool call/

/** Returns who denied a call, based on its error; undefined when the call merely failed. */
function refusedBy(error: string): DeniedBy | undefined {
  if (BY_HOOK.test(error)) return 'hook'
  return BY_POLICY.test(error) ? 'policy' : undefined
}

/** The error of an MCP call may come from the server; only these messages are denials by Codex. */
export function isRefusedMcpCall(error: string): boolean {
  return MCP_REFUSED.test(error)
}

/** A call that Codex denies by itself has no item: a log line on stderr is the only sign. */
export function refusalIn(line: string): NoticeRaised | undefined {
  if (!line.includes(ROUTER)) return undefined
  const [, error = ''] = line.replace(COLOURS, '').split(`${ROUTER}: error=`)
  if (error === '' || BY_PERSON.test(error)) return undefined
  const by = refusedBy(error)
  const notice = { type: 'notice.raised', level: 'warning', message: error } as const
  return by
    ? { ...notice, code: 'tool_refused', data: { deniedBy: by } }
    : { ...notice, code: 'agent_warning' }
}

/** The calls of a turn that Codex denied by itself: those reported on stderr, and those that ended as denied. */
export interface Declined {
  reported: number
  ended: number
}

/** All denials of the turn. A call that ends as denied is also reported on stderr, before or after. */
export function denialsOf({ ledger, declined }: { ledger: Ledger; declined: Declined }): number {
  return ledger.denials + Math.max(0, declined.reported - declined.ended)
}
