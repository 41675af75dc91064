import type { ErrorInfo } from '../../../model/index.ts'
import { verbIn } from '../../../model/request/verb.ts'
import type { Verb } from '../../../model/session/capability.types.ts'
import type { AcpState } from './state.ts'

/**
 * Whether a prompt that is a command of a terminal may be sent: the agent names its commands, and takes others for text.
 * `waits`: the list follows the response to `session/new`, so it may be unknown before the first prompt.
 */
export function checkVerb(state: AcpState, prompt: string): 'sendable' | 'waits' | ErrorInfo {
  const { verb } = verbIn(prompt) ?? {}
  if (verb === undefined) return 'sendable'
  const { commands } = state.known
  if (commands === undefined && !state.prompted) return 'waits'
  const names = (commands ?? []).map((name) => name.replace(/^\//, ''))
  if (names.includes(verb)) return isStale(state, verb) ? stale(verb) : 'sendable'
  const has = names.length === 0 ? 'it names no commands' : `its commands are ${names.join(', ')}`
  return { code: 'unsupported_option', message: `${verb}: the agent has no such command; ${has}` }
}

function isStale({ quirks, hasNewSettings }: AcpState, verb: Verb): boolean {
  return hasNewSettings && quirks.staleVerbs?.includes(verb) === true
}

function stale(verb: Verb): ErrorInfo {
  const message = `${verb}: the agent applies changed settings with the next prompt only; send a prompt first`
  return { code: 'unsupported_option', message }
}
