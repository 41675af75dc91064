import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LAYERS, MAX_FOLDER_FILES, MEDIAN_FILE_LINES } from './architecture/layers.ts'
import { PLANTS } from './architecture/plants.ts'
import { hollowTests, lineCount, RULES, type Rule } from './architecture/rules.ts'
import { type Source, source } from './architecture/source.ts'
import { namesDeclaredTwice, SAME_NAME } from './architecture/type-names.ts'

const read = (pattern: string): Source[] =>
  globSync(pattern)
    .filter((path) => !/\/(?:fixtures|goldens)\//.test(path))
    .sort()
    .map((path) => source(path, readFileSync(path, 'utf8')))

const code = [
  ...read('src/**/*.ts'),
  ...read('scripts/**/*.ts'),
  ...read('faults/**/*.ts'),
  ...read('bench/**/*.ts'),
]
const tests = read('test/**/*.ts')

const broken = (rule: Rule, files: readonly Source[]): string[] => files.flatMap(rule)

describe('the sources', () => {
  it('are found, and every folder of the table that exists is among them', () => {
    expect(code.length).toBeGreaterThan(25)
    expect(tests.length).toBeGreaterThan(10)
    const folders = new Set(code.map(({ path }) => path.split('/')[1]))
    for (const folder of ['model', 'framing', 'agents', 'drivers', 'stores'])
      expect(folders).toContain(folder)
  })

  it.each(Object.entries(RULES))('keep the rule %s', (_name, rule) => {
    expect(broken(rule, code)).toEqual([])
  })

  it('have rooms: no folder of src is a long list of files', () => {
    const folders = Map.groupBy(globSync('src/**/*.ts'), (path) => dirname(path))
    const long = [...folders].filter(([, files]) => files.length > MAX_FOLDER_FILES).map(([folder]) => folder)
    expect(long).toEqual([])
  })

  it('stay small: the median file is within its budget', () => {
    const lengths = code.map(({ text }) => lineCount(text)).sort((a, b) => a - b)
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(MEDIAN_FILE_LINES)
  })

  it('give each type a name of its own', () => {
    const twice = namesDeclaredTwice(code.filter(({ path }) => path.startsWith('src/')))
    expect(Object.keys(SAME_NAME).filter((name) => !twice.has(name))).toEqual([])
    const others = [...twice].filter(([name]) => !Object.hasOwn(SAME_NAME, name))
    expect(others.map(([name, paths]) => `${name}: ${paths.join(', ')}`)).toEqual([])
  })

  it('have tests that are all run, within the length of a file, and mock nothing of ours', () => {
    expect(broken(hollowTests, tests)).toEqual([])
    expect(broken(RULES.fileLength, tests)).toEqual([])
    expect(broken(RULES.casts, tests)).toEqual([])
  })
})

describe('the table of layers', () => {
  it('names only folders that have a row, or files below them', () => {
    for (const layer of Object.values(LAYERS)) {
      for (const allowed of layer.imports) {
        const [path = ''] = allowed.split(' ').reverse()
        expect(Object.keys(LAYERS)).toContain(path.split('/')[0])
      }
    }
  })
})

describe.each(Object.entries(PLANTS))('the rule %s', (name, plant) => {
  const rule: Rule = RULES[name as keyof typeof RULES]

  it.each(plant.breaks)('catches planted violation %# in %s', (path, text) => {
    expect(rule(source(path, text))).not.toEqual([])
  })

  it.each(plant.keeps)('lets pass look-alike %# in %s', (path, text) => {
    expect(rule(source(path, text))).toEqual([])
  })
})

describe('the rule for names', () => {
  const twice = (...texts: string[]) => [
    ...namesDeclaredTwice(texts.map((text, index) => source(`src/${index}.ts`, text))).keys(),
  ]

  it('catches a type that two files declare, exported or not', () => {
    expect(twice('export interface A {}', 'type A = string')).toEqual(['A'])
    expect(twice('export class A {}', 'interface A { x: 1 }')).toEqual(['A'])
  })

  it('lets a schema with its type pass, an import, and a name inside a function', () => {
    expect(
      twice('export const A = z.string()\nexport type A = string', `import type { A } from './0.ts'`),
    ).toEqual([])
    expect(twice('interface A {}', 'function f() { interface A {} }')).toEqual([])
  })
})

describe('the rule for tests', () => {
  it.each(['skip', 'only', 'todo'])('catches it.%s', (word) => {
    expect(hollowTests(source('test/x.test.ts', `it.${word}('x', () => f())`))).toHaveLength(1)
  })

  it('catches a mocked module and lets a spy pass', () => {
    expect(hollowTests(source('test/x.test.ts', `vi.${'mock'}('../src/x.ts')`))).toHaveLength(1)
    expect(hollowTests(source('test/x.test.ts', 'const seen = vi.fn()'))).toEqual([])
  })
})
