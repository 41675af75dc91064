import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, inSources, pages } from './pages.ts'

const run = promisify(execFile)

/** The agents that a snippet starts; those that are built in need no program and no key. */
const needsProgram = (text: string) =>
  [...text.matchAll(/agent: '([^']+)'|agentType: AgentType\.(\w+)/g)].some(
    ([, agent = '']) => !['demo', 'echo'].includes(agent),
  )

/** Programs that call a server are run where there is one, beside their page. */
const needsServer = (text: string) => text.includes('127.0.0.1:7380')

/** Every TypeScript block, with the output that is printed below it, if there is one. */
const snippets = pages.flatMap((page) => {
  const blocks = blocksOf(page)
  return blocks.flatMap(({ place, language, text }, index) => {
    const next = blocks[index + 1]
    return language === 'ts'
      ? [{ place, text, output: next?.language === 'text' ? next.text : undefined }]
      : []
  })
})

/** Below the root, so that the compiler finds the types of Node. */
mkdirSync('.cache', { recursive: true })
const directory = mkdtempSync('.cache/docs-')
afterAll(() => rmSync(directory, { recursive: true }))

const files = snippets.map(({ text }, index) => {
  const file = join(directory, `snippet-${index + 1}.ts`)
  writeFileSync(file, inSources(text))
  return file
})

describe('the TypeScript in the pages', () => {
  it('is found', () => {
    expect(snippets.map(({ place }) => place)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^README\.md/)]),
    )
  })

  it('compiles under the rules of this repository', async () => {
    const config = join(directory, 'tsconfig.json')
    writeFileSync(config, JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts'] }))
    // The sources may have errors of their own, which the check of types reports; these are about the snippets.
    const { stdout } = await run('node_modules/.bin/tsc', ['-p', config, '--listFiles']).catch(
      (failed) => failed,
    )
    const lines = String(stdout).split('\n')
    expect(lines.filter((line) => files.some((file) => line.endsWith(file)))).toHaveLength(files.length)
    expect(lines.filter((line) => files.some((file) => line.startsWith(`${file}(`)))).toEqual([])
  })

  // What prints something runs in any case: a refusal needs no program either.
  const runs = snippets
    .map((snippet, index) => ({ ...snippet, file: files[index] ?? '' }))
    .filter(({ text, output }) => !needsServer(text) && (output !== undefined || !needsProgram(text)))

  it('runs where it can', () => {
    const pagesThatRun = new Set(runs.map(({ place }) => place.split(':')[0]))
    expect([...pagesThatRun]).toEqual(expect.arrayContaining(['README.md', 'docs/library.md']))
  })

  const hasRunner = ({ text }: { text: string }) => text.includes(`from 'node:test'`)
  const together = runs.filter((one) => !hasRunner(one))
  // In one process, because each would take a second to load the sources.
  const printed = new Map<string, string>()
  beforeAll(async () => {
    const paths = together.map(({ file }) => file)
    const { stdout } = await run(process.execPath, ['test/docs/run-snippets.ts', ...paths])
    for (const line of stdout.trimEnd().split('\n')) {
      const [file, text]: [string, string] = JSON.parse(line)
      printed.set(file, text)
    }
  }, 180_000)

  it.each(together)('$place runs, and prints what the page says', ({ output, file }) => {
    const text = printed.get(file)
    expect(text).toBeTypeOf('string')
    if (output !== undefined) expect(text).toBe(output)
  })

  it.each(runs.filter(hasRunner))('$place, which is a test, passes', async ({ file }) => {
    const { stdout } = await run(process.execPath, ['--import', './test/docs/fast.mjs', file])
    expect(stdout).toMatch(/pass [1-9]\d*\n.*fail 0\n/s)
  })
})
