import { MainstemError, Policy, SessionOptions } from '../../model/index.ts'
import { sameValue } from './fields.ts'

/** In bytes: the system rejects the whole start for an argument or variable near this size. */
const MAX_ARGUMENT = 100_000

const OPTIONS = SessionOptions.keyof().options

const encoder = new TextEncoder()

/** A policy or option that cannot be enforced is rejected before the start, never silently weakened. */
export function unsupported(agent: string, option: string, why: string, advice?: string): MainstemError {
  return new MainstemError('unsupported_option', `${option} is not supported by ${agent}: ${why}`, {
    agent,
    option,
    ...(advice !== undefined && { advice }),
  })
}

/** Rejects each of these options that is set, with its reason. */
export function refuseSet(
  agent: string,
  options: SessionOptions,
  reasons: Partial<Record<keyof SessionOptions, string>>,
): void {
  for (const option of OPTIONS) {
    const why = reasons[option]
    if (why !== undefined && options[option] !== undefined) throw unsupported(agent, option, why)
  }
}

/**
 * A placeholder for the path of a launch file. No caller's value can look like it, because NUL is rejected everywhere.
 */
export function filePath(name: string): string {
  return `\0${name}\0`
}

/** `--flag=value`: in this form a value cannot be parsed as another flag. */
export function flagValue(agent: string, flag: string, value: string): string {
  return `${flag}=${fitting(agent, flag, value)}`
}

/** A setting passed as JSON in a variable. It may contain paths of launch files. */
export function jsonVariable(agent: string, variable: string, value: object): string {
  return fitting(agent, variable, JSON.stringify(value))
}

function fitting(agent: string, option: string, value: string): string {
  if (value.includes('\0')) throw new MainstemError('invalid_request', `${option} contains a NUL character`)
  if (encoder.encode(value).length > MAX_ARGUMENT)
    throw unsupported(agent, option, `more than ${MAX_ARGUMENT} bytes`)
  return value
}

const FIELDS = Policy.keyof().options

/** Limits that the session enforces for every agent. */
const KEPT_OUTSIDE: readonly (keyof Policy)[] = ['timeoutMs', 'idleTimeoutMs']

/** Returns whether a process started with one policy also enforces the other, except for these fields. */
export function isSamePolicy(one: Policy, other: Policy, ...but: (keyof Policy)[]): boolean {
  const compared = FIELDS.filter((field) => !but.includes(field) && !KEPT_OUTSIDE.includes(field))
  return compared.every((field) => sameValue(one[field], other[field]))
}
