import type { Launch } from '../stage.ts'
import { ACP_LIMITS } from './acp.ts'
import { CLAUDE_LIMITS } from './claude.ts'
import { CODEX_LIMITS } from './codex.ts'
import { GEMINI_LIMITS } from './gemini.ts'
import type { Limit } from './limit.ts'
import { ONESHOT_LIMITS } from './oneshot.ts'
import { OPENCODE_LIMITS } from './opencode.ts'
import { PI_LIMITS } from './pi.ts'
import { VERB_LIMITS } from './verbs.ts'

/** The first match applies, so specific limits precede general ones. */
export const LIMITS: readonly Limit[] = [
  ...CLAUDE_LIMITS,
  ...CODEX_LIMITS,
  ...GEMINI_LIMITS,
  ...OPENCODE_LIMITS,
  ...ACP_LIMITS,
  ...PI_LIMITS,
  ...VERB_LIMITS,
  ...ONESHOT_LIMITS,
]

export function limitOf(program: string, launch: Launch, scenario: string): Limit | undefined {
  return LIMITS.find(
    (limit) =>
      limit.scenarios.includes(scenario) &&
      (limit.programs?.includes(program) ?? true) &&
      (limit.launch ?? launch) === launch,
  )
}
