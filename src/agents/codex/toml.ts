import { MainstemError } from '../../model/index.ts'

export type Toml = boolean | string | readonly string[] | { readonly [key: string]: Toml }

/** A value for `--config key=value`. Keys are ours, so they need no quotes. */
export function tomlOf(value: Toml): string {
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return quoted(value)
  if (isList(value)) return `[${value.map(quoted).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, inner]) => `${key}=${tomlOf(inner)}`)
    .join(',')}}`
}

function isList(value: Toml): value is readonly string[] {
  return Array.isArray(value)
}

/** JSON strings are TOML strings, but for half a character and for DEL. */
function quoted(text: string): string {
  if (!text.isWellFormed()) throw new MainstemError('invalid_request', 'an option holds half a character')
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}
