import { type ModelCall, type ScriptedModel, scriptedModel } from '../../src/testing/index.ts'
import { CASES, type Case } from './plan.ts'

/** What the model says when no limit ends its turn. */
export const TEXT = 'The work is done.'

/** The cases in which the account of Claude Code has no quota, also after the reset. */
const NEVER: ReadonlySet<Case> = new Set(['cap', 'hand-over'])

/** The prompt of a case. */
export function promptOf(name: Case): string {
  return `CASE:${name} Please do the work.`
}

/** A model that refuses an account of Claude Code until the reset, with the answer and the headers of the vendor. */
export function limitedModel(resetsAt: number): Promise<ScriptedModel> {
  const headers = {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-reset': String(resetsAt / 1000),
    'anthropic-ratelimit-unified-overage-status': 'rejected',
  }
  const message = "This request would exceed your account's rate limit. Please try again later."
  return scriptedModel({
    scenarios: {
      refused: { endless: true, replies: [{ faults: [{ kind: 'status', status: 429, message, headers }] }] },
      answered: { endless: true, replies: [{ text: TEXT }] },
    },
    choose: (call) => (isRefused(call, resetsAt) ? 'refused' : 'answered'),
  })
}

function isRefused({ api, messages }: ModelCall, resetsAt: number): boolean {
  if (api !== 'messages') return false
  const said = messages.map(({ text }) => text).join('\n')
  const name = CASES.find((one) => said.includes(promptOf(one)))
  return Date.now() < resetsAt || (name !== undefined && NEVER.has(name))
}
