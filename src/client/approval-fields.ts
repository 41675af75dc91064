import type { RequestOpened } from '../model/index.ts'

/** A part of a request that a person must see before allowing it. */
export interface ApprovalField {
  /** `tool`, `title`, `permission`, `location`, `data`, or the name of a field of the input. */
  name: string
  /** The whole value, never shortened, with invisible characters escaped. */
  text: string
}

/**
 * Characters that a display hides or that reorder text: control characters apart from newline and tab, line and
 * paragraph separators, unpaired surrogates, bidirectional controls, and characters without a glyph.
 */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/gu

/** Replaces invisible characters by their escapes, such as `\u202e`, because they can disguise a command or a path. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The parts of a request that an `allow` applies to. */
export type Approvable = Pick<RequestOpened, 'tool' | 'title' | 'permission' | 'input' | 'locations' | 'data'>

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
  ]
  return fields.filter(([, value]) => value !== undefined)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}
