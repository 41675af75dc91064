import { MainstemError } from '../../model/index.ts'

/** The location of a store, parsed from its URL. */
export interface Address {
  /** For the client, with the password. Must not be shown. */
  connection: string
  /** The schema that has the tables; `mainstem` unless the URL has `?schema=`. */
  schema: string
  /** Host, port and database, for messages. */
  shown: string
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/
const EXAMPLE = 'write postgres://user:password@host:5432/database'

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text)
}

/** The text is never part of an error, because it may contain a password. */
export function parseAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isPostgresUrl(text)) throw wrong(`the store URL cannot be parsed: ${EXAMPLE}`)
  if (url.host === '' && !url.searchParams.has('host')) throw wrong(`the store URL has no host: ${EXAMPLE}`)
  const database = url.pathname.slice(1)
  if (database === '') throw wrong(`the store URL names no database: ${EXAMPLE}`)
  const schema = url.searchParams.get('schema') ?? 'mainstem'
  if (!SCHEMA.test(schema)) {
    throw wrong(`the store URL has schema "${schema}": use lower-case letters, digits and _, at most 63`)
  }
  url.searchParams.delete('schema')
  const shown = `${url.host || url.searchParams.get('host')}/${database}`
  return { connection: url.href, schema, shown }
}

/** Parameters such as `password` and `sslpassword`. */
const SECRET_PARAMETERS = /[?&][^=&#]*password=([^&#]*)/gi

/** The secrets in a URL: the passwords, as they are and as they are written there. */
export function passwordsIn(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { password } = new URL(text)
  const given = [...text.matchAll(SECRET_PARAMETERS)].map(([, value = '']) => value)
  const all = [password, ...given].flatMap((one) => [one, safelyDecoded(one)])
  return [...new Set(all.filter((secret) => secret !== ''))]
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (thrown) {
    if (thrown instanceof URIError) return text
    throw thrown
  }
}

function wrong(message: string): MainstemError {
  return new MainstemError('invalid_request', message)
}
