import { MainstemError } from '../outcome/mainstem-error.ts'
import type { Verb } from '../session/capability.types.ts'

/** A command of an agent's own terminal, as a prompt. */
export interface VerbPrompt {
  verb: Verb
  /** The text after the command. */
  argument: string
}

const ALONE: ReadonlyMap<string, Verb> = new Map([
  ['/compact', 'compact'],
  ['/review', 'review'],
])

const WITH_ARGUMENT = /^\/(goal|rewind)(?:\s+([\s\S]*))?$/

/** The command that a prompt consists of, as a person types it in the terminals of agents. */
export function verbIn(prompt: string): VerbPrompt | undefined {
  const text = prompt.trim()
  const verb = ALONE.get(text)
  if (verb !== undefined) return { verb, argument: '' }
  const [, name, argument = ''] = WITH_ARGUMENT.exec(text) ?? []
  return name === 'goal' || name === 'rewind' ? { verb: name, argument } : undefined
}

/** The turn that a `/rewind` names. */
export function rewindTurn({ argument }: VerbPrompt): number {
  if (/^[1-9]\d{0,8}$/.test(argument)) return Number(argument)
  throw new MainstemError('invalid_request', 'rewind: name the turn before which the files are restored', {
    field: 'turn',
    advice: 'Send `/rewind 3` to restore the files as they were before turn 3.',
  })
}
