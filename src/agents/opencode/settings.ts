import type { Command } from '../../model/index.ts'
import type { Decoded, Start } from '../agent.ts'
import { nextProcess, nextTurn, refuse } from '../kit/decoded.ts'
import { isSamePolicy } from '../kit/option.ts'

/** What the next prompt is sent with. */
interface NextPrompt {
  readonly start: Pick<Start, 'policy'>
  model: string | undefined
  mode: string | undefined
}

export function setModel(next: NextPrompt, { model }: Extract<Command, { type: 'set_model' }>): Decoded {
  if (model !== null && !model.includes('/'))
    return refuse('invalid_request', 'model: opencode requires provider/model')
  next.model = model ?? undefined
  return nextTurn
}

/** Permissions are read at start; a mode is selected for the next prompt. */
export function setPolicy(
  next: NextPrompt,
  { policy, mode }: Extract<Command, { type: 'set_policy' }>,
): Decoded {
  if (!policy && mode === undefined) return refuse('invalid_request', 'either a policy or a mode is required')
  if (policy && !isSamePolicy(next.start.policy, policy)) return nextProcess
  next.mode = mode
  return nextTurn
}
