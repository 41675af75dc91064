import { AgentError } from '../agent-error.ts'
import type { SessionConfig } from '../config.ts'
import { fieldOf } from '../rest.ts'

type Modes = Pick<SessionConfig, 'approvalMode' | 'sandboxMode'>
type TextField = 'agentType' | 'projectId' | 'workingDirectory' | 'model'
type ListField = 'allowedTools' | 'blockedTools'

/** The settings of one agent by its own names. A name with dots is a path into tables; later names win. */
export interface NativeConfig {
  /** Settings with a fixed set of values, and the modes that each value means. */
  modes: Readonly<Record<string, Readonly<Record<string, Modes>>>>
  texts: Readonly<Record<string, TextField>>
  /** Settings that are an array, or names separated by commas. */
  lists: Readonly<Record<string, ListField>>
  /** Settings that limit the model calls. */
  maxTurns: readonly string[]
}

/** Translates settings. Ignores settings that a session does not have, and refuses unknown values. */
export function configFrom(names: NativeConfig, native: Readonly<Record<string, unknown>>): SessionConfig {
  const config: SessionConfig = {}
  for (const [setting, words] of Object.entries(names.modes)) {
    const value = valueAt(native, setting)
    if (value !== undefined) Object.assign(config, meaningOf(setting, words, value))
  }
  for (const [setting, field] of Object.entries(names.texts)) {
    const value = valueAt(native, setting)
    if (typeof value === 'string') config[field] = value
  }
  for (const [setting, field] of Object.entries(names.lists)) {
    const list = listOf(valueAt(native, setting))
    if (list) config[field] = list
  }
  for (const setting of names.maxTurns) {
    const value = valueAt(native, setting)
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) config.maxTurns = value
  }
  return config
}

function valueAt(native: Readonly<Record<string, unknown>>, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => fieldOf(value, name), native)
}

function meaningOf(setting: string, words: Readonly<Record<string, Modes>>, value: unknown): Modes {
  const meaning = Object.hasOwn(words, String(value)) ? words[String(value)] : undefined
  if (meaning) return meaning
  throw new AgentError(
    'protocolError',
    `${setting}: ${JSON.stringify(value)} is not a known value; known: ${Object.keys(words).join(', ')}`,
  )
}

function listOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined
}
