import type { SessionConfig } from '../config.ts'
import { AgentError } from '../errors/agent-error.ts'
import type { TranslatedConfig } from '../protocol-adapter.ts'
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

/** Translates settings. Refuses values that it cannot translate, and returns the settings that a session does not have. */
export function configFrom(names: NativeConfig, native: Readonly<Record<string, unknown>>): TranslatedConfig {
  const config: SessionConfig = {}
  for (const [setting, words] of Object.entries(names.modes)) {
    const value = valueAt(native, setting)
    if (value !== undefined) Object.assign(config, meaningOf(setting, words, value))
  }
  for (const [setting, field] of Object.entries(names.texts)) {
    const value = valueAt(native, setting)
    // A table under this name has settings of its own.
    if (typeof value === 'string') config[field] = value
    else if (value !== undefined && !isTable(value)) throw refusal(setting, value, 'a text')
  }
  for (const [setting, field] of Object.entries(names.lists)) {
    const value = valueAt(native, setting)
    if (value !== undefined) config[field] = listOf(setting, value)
  }
  for (const setting of names.maxTurns) {
    const value = valueAt(native, setting)
    if (value !== undefined) config.maxTurns = countOf(setting, value)
  }
  const known = [names.modes, names.texts, names.lists].flatMap((settings) => Object.keys(settings))
  const untranslated = Object.fromEntries(leaves(native, new Set([...known, ...names.maxTurns]), ''))
  return Object.keys(untranslated).length === 0 ? config : { ...config, untranslated }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The settings that are not known, by their paths. */
function leaves(
  table: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  under: string,
): [string, unknown][] {
  return Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    const path = under + name
    if (isTable(value)) return leaves(value, known, `${path}.`)
    return value === undefined || known.has(path) ? [] : [[path, value]]
  })
}

function valueAt(native: Readonly<Record<string, unknown>>, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => fieldOf(value, name), native)
}

function meaningOf(setting: string, words: Readonly<Record<string, Modes>>, value: unknown): Modes {
  const meaning = Object.hasOwn(words, String(value)) ? words[String(value)] : undefined
  if (meaning) return meaning
  throw refusal(setting, value, `one of ${Object.keys(words).join(', ')}`)
}

function listOf(setting: string, value: unknown): string[] {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return [...value]
  throw refusal(setting, value, 'a list of texts')
}

function countOf(setting: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value
  throw refusal(setting, value, 'a positive integer')
}

function refusal(setting: string, value: unknown, expected: string): AgentError {
  return new AgentError('protocolError', `${setting}: ${JSON.stringify(value)} is not ${expected}`)
}
