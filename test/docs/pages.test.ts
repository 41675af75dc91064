import { existsSync, globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, blocksOf, pages, proseOf } from './pages.ts'

const manifest: { dependencies: Record<string, string>; scripts: Record<string, string> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

const page = (path: string) => {
  const found = pages.find((one) => one.path === path)
  if (!found) throw new TypeError(`there is no page ${path}`)
  return found
}

/** The first cell of each row of a page's tables, without its code marks. */
const firstCells = (path: string) =>
  [...page(path).text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell)

function brokenLink(from: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? from : posix.join(posix.dirname(from), path)
  if (!existsSync(file)) return true
  return anchor !== undefined && !anchorsOf({ path: file, text: readFileSync(file, 'utf8') }).includes(anchor)
}

it('the pages are found', () => {
  expect(pages.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'docs/architecture.md']),
  )
})

describe.each(pages.map((one) => [one.path, one] as const))('%s', (path, one) => {
  it('links only to what exists', () => {
    const links = [...proseOf(one).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    expect(links.filter((target) => !/^https?:/.test(target) && brokenLink(path, target))).toEqual([])
  })

  it('has one title, and code blocks that say their language', () => {
    expect(proseOf(one).match(/^# .+$/gm)).toHaveLength(1)
    expect(blocksOf(one).filter(({ language }) => language === '')).toEqual([])
  })

  it('names only npm scripts that exist', () => {
    const named = [...one.text.matchAll(/npm run ([\w:-]+)/g)].map(([, script = '']) => script)
    expect(named.filter((script) => !(script in manifest.scripts))).toEqual([])
  })
})

describe('the pages together', () => {
  it('give a reason for each runtime dependency, and for no other', () => {
    expect(firstCells('docs/dependencies.md').sort()).toEqual(Object.keys(manifest.dependencies).sort())
  })

  it('describe each folder of the sources, and no other', () => {
    const described = firstCells('docs/architecture.md').filter((cell) => /^src\/.*\/$/.test(cell ?? ''))
    expect(described.sort()).toEqual(
      globSync('src/*/')
        .map((folder) => `${folder}/`)
        .sort(),
    )
  })

  it('name only files of this repository, where they describe it', () => {
    const about = pages.filter(({ path }) => /^docs\/(?:architecture|add-|decisions\/)/.test(path))
    const missing = about.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:src|test|faults|scripts)\/[\w./-]+)`/g)].flatMap(([, named = '']) =>
        existsSync(named) ? [] : `${path}: ${named}`,
      ),
    )
    expect(missing).toEqual([])
  })

  it('number each decision once, with context, choice and price', () => {
    const decisions = pages.filter(({ path }) => /^docs\/decisions\/\d/.test(path))
    expect(decisions.length).toBeGreaterThan(0)
    const numbers = decisions.map(({ path }) => Number(/\/(\d{4})-/.exec(path)?.[1]))
    expect(new Set(numbers).size).toBe(decisions.length)
    decisions.forEach(({ text }, index) => {
      expect(text).toMatch(new RegExp(`^# ${numbers[index]}\\. `))
      expect([...text.matchAll(/^## (\w+)$/gm)].map(([, title]) => title)).toEqual([
        'Context',
        'Choice',
        'Price',
      ])
    })
  })

  it('list every decision in the index, under its own title', () => {
    const listed = [...page('docs/decisions/index.md').text.matchAll(/^- \[(.+)\]\((.+)\)$/gm)]
    const decisions = pages.filter(({ path }) => /^docs\/decisions\/\d/.test(path))
    expect(listed.map(([, title, file]) => `${file}: ${title}`)).toEqual(
      decisions.map(({ path, text }) => `${posix.basename(path)}: ${/^# (.+)$/m.exec(text)?.[1]}`),
    )
  })
})
