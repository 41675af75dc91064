import { MainstemError } from '../model/index.ts'

/** In bytes: an argument near this size makes the system refuse the whole command line. */
const MAX_ARGUMENT = 100_000

const encoder = new TextEncoder()

/** What cannot be enforced is refused before anything starts, never silently weakened. */
export function unsupported(agent: string, option: string, why: string): MainstemError {
  return new MainstemError('unsupported_option', `${option} is not supported by ${agent}: ${why}`, {
    agent,
    option,
  })
}

/** `--flag=value`: in this form a value can never be taken for a flag of its own. */
export function flagValue(agent: string, flag: string, value: string): string {
  if (value.includes('\0')) throw new MainstemError('invalid_request', `${flag} contains a NUL character`)
  if (encoder.encode(value).length > MAX_ARGUMENT)
    throw unsupported(agent, flag, `more than ${MAX_ARGUMENT} bytes`)
  return `${flag}=${value}`
}
