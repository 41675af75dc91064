import type { NoticeRaised } from '../../model/events/report.ts'
import type { DeniedBy } from '../../model/index.ts'
import type { Ledger } from '../ledger.ts'

const ROUTER = 'codex_core::tools::router'
const COLOURS = /\u001b\[[0-9;]*m/g
/** A person's no is told by the item itself, and by whom is known; "user approval settings" are a policy. */
const BY_PERSON = /rejected by user(?! approval settings)/i
const BY_HOOK = /blocked by \w+ hook/i
/** Words of Codex itself. "Permission denied" is not among them: that is a file, and the call merely failed. */
const BY_POLICY = /reject command|patch rejected|Rejected\(|rejected by|blocked by|forbidden by/
/** Without anybody who could, `codex exec` says that the user has cancelled what it would have to ask about. */
const MCP_REFUSED = /requires approval, but approval policy|(?:rejected|cancelled) MCP tool call/

/** Who refused a call, by the words of the error it got; nobody when the call merely failed. */
function refusedBy(error: string): DeniedBy | undefined {
  if (BY_HOOK.test(error)) return 'hook'
  return BY_POLICY.test(error) ? 'policy' : undefined
}

/** The error of an MCP call may be the server's own; only these are Codex refusing it. */
export function isRefusedMcpCall(error: string): boolean {
  return MCP_REFUSED.test(error)
}

/** A call that Codex refuses by itself has no item: a line of its own log on stderr is the only sign. */
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

/** The calls of a turn that Codex declined by itself: those that stderr tells of, and those that ended as refused. */
export interface Declined {
  told: number
  ended: number
}

/** All that the turn was refused. A call that ends as refused is told on stderr too, before or after. */
export function denialsOf({ ledger, declined }: { ledger: Ledger; declined: Declined }): number {
  return ledger.denials + Math.max(0, declined.told - declined.ended)
}
