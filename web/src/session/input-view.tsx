import { DiffView } from '../text/diff-view.tsx'
import { jsonText, unmasked } from '../text/format.ts'

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

/** The whole input of a call, field by field and never shortened, because people decide by it. */
export function InputView({ input }: { input: unknown }) {
  if (input === undefined || input === null) return null
  if (typeof input !== 'object' || Array.isArray(input)) return <Text text={jsonText(input)} />
  const change = changeIn(input)
  const path = change && pathIn(input)
  // The heading of the diff has the path already.
  const fields = Object.entries(input).filter(([name]) => !change?.names.includes(name) && name !== path?.[0])
  return (
    <div className="space-y-1.5">
      {fields.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <span className="text-xs text-soft">{unmasked(name)}</span>
          <Text text={jsonText(value)} />
        </div>
      ))}
      {change && <DiffView file={{ path: path?.[1] ?? 'edit', change: 'modified', ...change }} />}
    </div>
  )
}

function Text({ text }: { text: string }) {
  return (
    <pre
      className="max-h-96 overflow-auto rounded bg-raised px-2 py-1 break-words whitespace-pre-wrap"
      tabIndex={-1}
    >
      {unmasked(text)}
    </pre>
  )
}
