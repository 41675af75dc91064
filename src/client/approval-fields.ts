import type { RequestOpened } from '../model/index.ts'
import { offeredScopes } from '../model/request/offered-scopes.ts'

/** A part of a request that a person must see before allowing it. */
export interface ApprovalField {
  /** `tool`, `title`, `permission`, `location`, `data`, `for this session`, `always`, or the name of a field of the input. */
  name: string
  /** The whole value, never shortened, with invisible characters escaped. */
  text: string
}

/**
 * Characters that are invisible, reorder text, look like an ordinary space, or have no agreed glyph: control, format,
 * private and unassigned characters, separators, and characters without a glyph.
 */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Spaces, tabs and line breaks, and the wide space of East Asian text. */
const ORDINARY: ReadonlySet<string> = new Set([' ', '\n', '\t', '\u3000'])

/** Replaces invisible characters by their escapes, such as `\u202e`, because they can disguise a command or a path. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (char) => {
    if (ORDINARY.has(char)) return char
    const code = char.codePointAt(0) ?? 0
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The parts of a request that an `allow` applies to. */
export type Approvable = Pick<
  RequestOpened,
  'tool' | 'title' | 'permission' | 'input' | 'locations' | 'data'
> &
  Partial<Pick<RequestOpened, 'options'>>

/** What an `allow` of a scope is called where it is described. */
const SCOPE_NAMES = { once: 'once', session: 'for this session', always: 'always' } as const

/** Labels that say no more than the name of their scope. */
const PLAIN_LABEL =
  /^(?:always(?: allow)?|allow always|(?:(?:allow|approve|accept) )?for (?:this|the) session)$/i

/**
 * What an `allow` for longer than this call allows besides it, by scope, in the words of the agent: rules, modes and
 * directories. Show it together with the request.
 */
function alsoAllows({ options = [] }: Partial<Pick<RequestOpened, 'options'>>): ApprovalField[] {
  return offeredScopes({ options })
    .filter((scope) => scope !== 'once')
    .flatMap((scope) => {
      const option = options.find((one) => one.effect === 'allow' && one.scope === scope)
      if (!option || PLAIN_LABEL.test(option.label)) return []
      return [{ name: SCOPE_NAMES[scope], text: escapeInvisible(option.label) }]
    })
}

/**
 * Everything that an `allow` of this request applies to. Display every field whole before you offer to allow it, and
 * send `inputDigest` of the same request with the answer.
 */
export function approvalFields(request: Approvable): ApprovalField[] {
  const { tool, title } = request
  const fields: (readonly [name: string, value: unknown])[] = [
    ['tool', tool],
    ['title', title],
    ...approvalDetails(request).map(([name, value]) => [name ?? 'input', value] as const),
  ]
  return fields
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name: escapeInvisible(name), text: escapeInvisible(textOf(value)) }))
}

/** The fields below the heading of a request; an input that is no object has no name. */
export function approvalDetails({
  permission,
  input,
  locations = [],
  data,
  options = [],
}: Omit<Approvable, 'tool' | 'title'>): (readonly [name: string | undefined, value: unknown])[] {
  const inputJson = JSON.stringify(input) ?? ''
  const isEmpty = input === undefined || inputJson === '{}'
  const fields: (readonly [name: string | undefined, value: unknown])[] = [
    ['permission', permission],
    ...(isRecord(input) ? Object.entries(input) : [[undefined, input] as const]),
    ...locations
      .filter(({ path }) => !inputJson.includes(JSON.stringify(path)))
      .map(({ path }) => ['location', path] as const),
    // Otherwise it describes the same call in other words.
    ['data', permission !== undefined || isEmpty ? data : undefined],
    ...alsoAllows({ options }).map(({ name, text }) => [name, text] as const),
  ]
  return fields.filter(([, value]) => value !== undefined)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}
