import { MainstemError } from '../../model/index.ts'

export type Toml = boolean | string | readonly string[] | { readonly [key: string]: Toml }

/** A value for `--config key=value`. Our keys need no quotes. */
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

/** JSON strings are TOML strings, except for lone surrogates and DEL. */
function quoted(text: string): string {
  if (!text.isWellFormed()) throw new MainstemError('invalid_request', 'an option contains a lone surrogate')
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}
