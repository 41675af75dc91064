import { MainstemError, Policy } from '../model/index.ts'

/** In bytes: an argument or a variable near this size makes the system refuse the whole start. */
const MAX_ARGUMENT = 100_000

const encoder = new TextEncoder()

/** What cannot be enforced is refused before anything starts, never silently weakened. */
export function unsupported(agent: string, option: string, why: string, advice?: string): MainstemError {
  return new MainstemError('unsupported_option', `${option} is not supported by ${agent}: ${why}`, {
    agent,
    option,
    ...(advice !== undefined && { advice }),
  })
}

/** The path of one of a launch's files. No value of a caller can look like it, because NUL is refused in all. */
export function filePath(name: string): string {
  return `\0${name}\0`
}

/** `--flag=value`: in this form a value can never be taken for a flag of its own. */
export function flagValue(agent: string, flag: string, value: string): string {
  return `${flag}=${fitting(agent, flag, value)}`
}

/** A setting that is handed over in a variable, as JSON. */
export function jsonVariable(agent: string, variable: string, value: object): string {
  return fitting(agent, variable, JSON.stringify(value))
}

function fitting(agent: string, place: string, value: string): string {
  if (value.includes('\0')) throw new MainstemError('invalid_request', `${place} contains a NUL character`)
  if (encoder.encode(value).length > MAX_ARGUMENT)
    throw unsupported(agent, place, `more than ${MAX_ARGUMENT} bytes`)
  return value
}

const FIELDS = Policy.keyof().options

/** Limits that the session keeps, whatever the agent was started with. */
const KEPT_OUTSIDE: readonly (keyof Policy)[] = ['timeoutMs', 'idleTimeoutMs']

/** Whether a process that was started with one policy keeps the other as well, but for these fields. */
export function isSamePolicy(one: Policy, other: Policy, ...but: (keyof Policy)[]): boolean {
  const compared = FIELDS.filter((field) => !but.includes(field) && !KEPT_OUTSIDE.includes(field))
  return compared.every((field) => JSON.stringify(one[field]) === JSON.stringify(other[field]))
}
