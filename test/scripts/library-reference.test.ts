import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Documented, referencePages } from '../../scripts/library-reference/pages.ts'

const PAGES: readonly (readonly [string, string])[] = [
  ['.', 'library'],
  ['./client', 'client'],
  ['./client/adapters', 'client-adapters'],
  ['./client/stdio', 'client-stdio'],
  ['./model', 'model'],
  ['./testing', 'testing'],
  ['./ues', 'ues'],
]
const PINNED: Record<string, readonly string[]> = JSON.parse(readFileSync('test/exports.json', 'utf8'))
const textOf = (name: string) => readFileSync(`docs/reference/${name}.md`, 'utf8')
const headings = (text: string) => [...text.matchAll(/^## `(\w+)`$/gm)].map(([, name = '']) => name)

it('every entry of the package has a page', () => {
  expect(PAGES.map(([entry]) => entry).sort()).toEqual(Object.keys(PINNED).sort())
})

it.each(PAGES)('every export of %s is on its page, described or as a link', (entry, name) => {
  const text = textOf(name)
  const [, more = ''] = text.split('\n## More exports\n')
  const linked = [...more.matchAll(/\[`(\w+)`\]/g)].map(([, one = '']) => one)
  const exported = PINNED[entry]?.map((one) => one.replace(/^type /, ''))
  expect([...headings(text), ...linked].sort()).toEqual(exported?.toSorted())
})

it.each(PAGES)('every section of the page of %s (%s) has a sentence and a declaration', (_entry, name) => {
  const sections = textOf(name).split('\n## More exports\n')[0]?.split(/^## /m).slice(1) ?? []
  expect(sections.filter((one) => !/^`\w+`\n\n\S.+\n\n```ts\n\S[\s\S]+\n```\n/.test(one))).toEqual([])
})

it.each(PAGES)('every link of the page of %s (%s) leads to the section of that name', (_entry, name) => {
  const links = [...textOf(name).matchAll(/\[`(\w+)`\]\((?:([\w-]+)\.md)?#([\w-]+)\)/g)]
  const wrong = links.filter(([, label = '', file = name, anchor]) => {
    const names = headings(textOf(file))
    const before = names
      .slice(0, names.indexOf(label))
      .filter((one) => one.toLowerCase() === label.toLowerCase())
    const expected = label.toLowerCase() + (before.length > 0 ? `-${before.length}` : '')
    return !names.includes(label) || anchor !== expected
  })
  expect(wrong.map(([link]) => link)).toEqual([])
})

it('no declaration has a body, a private member or a type that the compiler cut', () => {
  for (const [, name] of PAGES) {
    expect(textOf(name)).not.toMatch(/^ {2}(?:(?:static|readonly|async) )*#\w/m)
    expect(textOf(name)).not.toMatch(/^\s+(?:private|protected) /m)
    expect(textOf(name)).not.toMatch(/\.\.\. \d+ more|^\s+return |\bthis\.#/m)
  }
})

it('what two entries export is described once, and names that differ in case only get numbers', () => {
  const one = (name: string, rank: number): Documented => ({
    ...{ name, id: name, rank, doc: 'A sentence.', isSchema: false },
    declaration: `type ${name} = Shared`,
  })
  const both = one('Shared', 3)
  const pages = referencePages([
    { path: 'docs/a.md', title: 'A', intro: 'Intro.', exports: [both] },
    { path: 'docs/b.md', title: 'B', intro: 'Intro.', exports: [one('Make', 1), one('make', 0), both] },
  ])
  expect(headings(pages['docs/b.md'] ?? '')).toEqual(['make', 'Make'])
  expect(pages['docs/b.md']).toContain('Uses [`Shared`](a.md#shared).')
  expect(pages['docs/b.md']).toContain('## More exports\n\nThis entry also exports [`Shared`](a.md#shared).')
})
