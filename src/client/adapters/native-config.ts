import { AgentError } from '../agent-error.ts'
import type { SessionConfig } from '../config.ts'

type Modes = Pick<SessionConfig, 'approvalMode' | 'sandboxMode'>
type TextField = 'agentType' | 'projectId' | 'workingDirectory' | 'model'
type ListField = 'allowedTools' | 'blockedTools'

/** The settings of one agent, by its own names and words. */
export interface NativeConfig {
  /** Settings whose value is one of a few words, and what each means. Those further down win. */
  modes: Readonly<Record<string, Readonly<Record<string, Modes>>>>
  texts: Readonly<Record<string, TextField>>
  /** An array, or names with commas between them. */
  lists: Readonly<Record<string, ListField>>
  /** Settings that count model calls. */
  maxTurns: readonly string[]
}

/** Settings that have no place in a session are left out; a word that nobody knows is refused, not guessed. */
export function configFrom(names: NativeConfig, native: Readonly<Record<string, unknown>>): SessionConfig {
  const config: SessionConfig = {}
  for (const [setting, words] of Object.entries(names.modes)) {
    if (native[setting] !== undefined) Object.assign(config, meaningOf(setting, words, native[setting]))
  }
  for (const [setting, field] of Object.entries(names.texts)) {
    const value = native[setting]
    if (typeof value === 'string') config[field] = value
  }
  for (const [setting, field] of Object.entries(names.lists)) {
    const list = listOf(native[setting])
    if (list) config[field] = list
  }
  for (const setting of names.maxTurns) {
    const value = native[setting]
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) config.maxTurns = value
  }
  return config
}

function meaningOf(setting: string, words: Readonly<Record<string, Modes>>, value: unknown): Modes {
  const meaning = Object.hasOwn(words, String(value)) ? words[String(value)] : undefined
  if (meaning) return meaning
  throw new AgentError('protocolError', `${setting}: nobody knows what ${JSON.stringify(value)} allows`)
}

function listOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined
}
