/** A change of a file that a call makes when it runs, as far as its input says. */
export interface ProposedChange {
  /** The path in the input; undefined if the input names none. */
  path: string | undefined
  /** `created` also stands for a file that is written whole, because the input does not say whether it exists. */
  change: 'created' | 'modified' | 'deleted'
  /** The replaced text. */
  before: string | undefined
  /** The new text, or the content of a new file. */
  after: string | undefined
  /** The change as a unified diff, if the input has one instead of texts. */
  diff: string | undefined
}

/** The changes in an input, and the fields of the input that they show completely. */
export interface ProposedChanges {
  /** One for each file. */
  changes: readonly ProposedChange[]
  /** Names of fields. Show every other field of the input too. */
  fields: readonly string[]
}

type Texts = Readonly<Record<string, unknown>>

const PATH = /^(?:file_?path|path|file|notebook_path|absolute_path|target_file)$/i
const CONTENT = /^(?:content|contents|file_text)$/i

const NONE: ProposedChanges = { changes: [], fields: [] }

/** Finds the change of a file in the input of a call, in the forms that agents use: two texts, edits, patches, content. */
export function proposedChanges(input: unknown): ProposedChanges {
  if (!isTexts(input)) return NONE
  const [pathName, path] = textFields(input).find(([name]) => PATH.test(name)) ?? []
  const paths = pathName === undefined ? [] : [pathName]
  const pair = replacedTexts(input)
  if (pair) return { changes: [modified(path, pair)], fields: [...paths, ...pair.names] }
  const listed = editsIn(input, path) ?? patchesIn(input)
  if (listed)
    return {
      changes: listed.changes,
      fields: [...(listed.changes[0]?.path === path ? paths : []), listed.field],
    }
  const content = textFields(input).find(([name]) => CONTENT.test(name))
  if (!content || path === undefined) return NONE
  return {
    changes: [{ path, change: 'created', before: undefined, after: content[1], diff: undefined }],
    fields: [...paths, content[0]],
  }
}

interface Replacement {
  before: string
  after: string
  names: readonly [string, string]
}

/** An edit as most tools describe it: two texts whose names differ by "old" and "new", or "from" and "to" in a file. */
function replacedTexts(input: Texts): Replacement | undefined {
  const texts = textFields(input)
  for (const [name, before] of texts) {
    if (!name.startsWith('old')) continue
    const twin = texts.find(([other]) => other === name.replace(/^old/, 'new'))
    if (twin) return { before, after: twin[1], names: [name, twin[0]] }
  }
  const { from, to } = input
  if (typeof from !== 'string' || typeof to !== 'string' || !texts.some(([name]) => PATH.test(name)))
    return undefined
  return { before: from, after: to, names: ['from', 'to'] }
}

interface ListedChanges {
  changes: readonly ProposedChange[]
  field: string
}

/** Several edits of one file. Edits with anything besides their two texts are not shown completely by a diff. */
function editsIn({ edits }: Texts, path: string | undefined): ListedChanges | undefined {
  if (!Array.isArray(edits) || edits.length === 0) return undefined
  const pairs = edits.map((edit: unknown) => {
    const pair = isTexts(edit) ? replacedTexts(edit) : undefined
    return pair && isTexts(edit) && Object.keys(edit).length === 2 ? modified(path, pair) : undefined
  })
  const changes = pairs.filter((change) => change !== undefined)
  return changes.length === edits.length ? { changes, field: 'edits' } : undefined
}

/** A list of files, each with a diff. Of a new or deleted file, the "diff" is its content. */
function patchesIn({ changes: listed }: Texts): ListedChanges | undefined {
  if (!Array.isArray(listed) || listed.length === 0) return undefined
  const changes = listed.map((change: unknown) => (isTexts(change) ? patchOf(change) : undefined))
  const known = changes.filter((change) => change !== undefined)
  return known.length === listed.length ? { changes: known, field: 'changes' } : undefined
}

function patchOf({ path, diff, kind, ...rest }: Texts): ProposedChange | undefined {
  if (typeof path !== 'string' || typeof diff !== 'string' || Object.keys(rest).length > 0) return undefined
  const { type, ...more } = isTexts(kind) ? kind : { type: kind }
  if (Object.values(more).some((value) => value !== null && value !== undefined)) return undefined
  const texts = { path, before: undefined, after: undefined, diff: undefined }
  if (type === 'add') return { ...texts, change: 'created', after: diff }
  if (type === 'delete') return { ...texts, change: 'deleted', before: diff }
  return type === 'update' ? { ...texts, change: 'modified', diff } : undefined
}

function modified(path: string | undefined, { before, after }: Replacement): ProposedChange {
  return { path, change: 'modified', before, after, diff: undefined }
}

function textFields(input: Texts): [string, string][] {
  return Object.entries(input).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
}

function isTexts(value: unknown): value is Texts {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
