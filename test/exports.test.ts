import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isNode, type Node, source } from './architecture/source.ts'

/** Every exported name of the package, by entry. A change of the file is a change of the public interface. */
const PINNED: Record<string, readonly string[]> = JSON.parse(readFileSync('test/exports.json', 'utf8'))

const manifest: { exports: Record<string, string | { default: string }> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

/** The modules among the entries; data files are exported as they are. */
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === 'string'
    ? []
    : [[entry, target.default.replace('./dist/', 'src/').replace(/js$/, 'ts')] as const],
)

const nodesIn = (list: unknown): Node[] => (Array.isArray(list) ? list.filter(isNode) : [])

/** The names a module exports, types marked as such; an entry is a table of contents and declares nothing. */
function exportedNames(path: string): string[] {
  const { root } = source(path, readFileSync(path, 'utf8'))
  return nodesIn(root.body)
    .flatMap((statement) =>
      nodesIn(statement.specifiers).map((name) => {
        const isType = statement.exportKind === 'type' || name.exportKind === 'type'
        return `${isType ? 'type ' : ''}${isNode(name.exported) ? name.exported.name : '?'}`
      }),
    )
    .sort()
}

describe('the public interface', () => {
  it('has exactly the pinned entries', () => {
    expect(entries.map(([entry]) => entry).sort()).toEqual(Object.keys(PINNED).sort())
  })

  it.each(entries)('%s exports exactly the pinned names', (entry, path) => {
    expect(exportedNames(path)).toEqual(PINNED[entry])
  })

  it.each(entries)('%s loads, and gives a value for every name that is not a type', async (_entry, path) => {
    const module: object = await import(pathToFileURL(path).href)
    const values = exportedNames(path).filter((name) => !name.startsWith('type '))
    expect(Object.keys(module).sort()).toEqual(values)
  })
})
