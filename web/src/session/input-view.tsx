import { approvalFields, escapeInvisible } from 'mainstem/client'
import { DiffView } from '../text/diff-view.tsx'
import { LongText } from '../text/long-text.tsx'
import { keyed } from '../ui/keyed.ts'

interface Change {
  before: string
  after: string
  names: readonly string[]
}

/** An edit as most tools describe it: two texts whose names differ by "old" and "new". */
function changeIn(input: object): Change | undefined {
  const texts = Object.entries(input).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  for (const [name, before] of texts) {
    if (!name.startsWith('old')) continue
    const twin = texts.find(([other]) => other === name.replace(/^old/, 'new'))
    if (twin) return { before, after: twin[1], names: [name, twin[0]] }
  }
  return undefined
}

function pathIn(input: object): [name: string, path: string] | undefined {
  return Object.entries(input).find(
    (pair): pair is [string, string] => /path|file/i.test(pair[0]) && typeof pair[1] === 'string',
  )
}

/** Fields that need no label. */
const UNNAMED: ReadonlySet<string> = new Set(['tool', 'title'])

/** The whole input of a call, field by field and never shortened, because people decide by it. */
export function InputView(request: Parameters<typeof approvalFields>[0]) {
  const { input } = request
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  const change = isObject ? changeIn(input) : undefined
  const path = change && isObject ? pathIn(input) : undefined
  // The diff shows these.
  const inDiff = new Set([...(change?.names ?? []), ...(path ? [path[0]] : [])].map(escapeInvisible))
  const fields = approvalFields(request).filter(({ name }) => !inDiff.has(name))
  return (
    <>
      {keyed(fields, ({ name }) => name).map(([key, { name, text }]) =>
        UNNAMED.has(name) ? (
          <p
            key={key}
            className={`whitespace-pre-wrap ${name === 'tool' ? 'mb-0 text-xs text-soft' : 'font-medium'}`}
          >
            {text}
          </p>
        ) : (
          <div key={key}>
            <span className="text-xs text-soft">{name}</span>
            <LongText text={text} />
          </div>
        ),
      )}
      {change && <DiffView whole file={{ path: path?.[1] ?? 'edit', change: 'modified', ...change }} />}
    </>
  )
}
