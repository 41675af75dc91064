import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { pageServer } from './page-server.ts'
import { blocksOf, inSources, pages } from './pages.ts'

const run = promisify(execFile)
mkdirSync('.cache', { recursive: true })
const directory = mkdtempSync('.cache/guides-')
afterAll(() => rmSync(directory, { recursive: true }))
const server = pageServer()

/** Programs and commands of the guides that call a server, with the output that the page shows. */
const snippets = pages
  .filter(({ path }) => /^docs\/(guides|migrate)\//.test(path))
  .flatMap((page) => {
    const blocks = blocksOf(page)
    return blocks.flatMap(({ place, language, text }, index) => {
      const next = blocks[index + 1]
      return text.includes('127.0.0.1:7380') && ['ts', 'sh'].includes(language)
        ? [{ place, language, text, output: next?.language === 'text' ? next.text : undefined }]
        : []
    })
  })

it('every snippet that calls a server shows its output', () => {
  expect(snippets.length).toBeGreaterThan(3)
  expect(snippets.filter(({ output }) => output === undefined)).toEqual([])
})

it.each(snippets)('$place prints what the page shows', async ({ place, language, text, output }) => {
  const here = text.replaceAll('http://127.0.0.1:7380', server.url)
  const file = join(directory, `${place.replaceAll(/\W/g, '-')}.ts`)
  writeFileSync(file, inSources(here))
  const [program, ...args] = language === 'ts' ? [process.execPath, file] : ['bash', '-c', here]
  const { stdout } = await run(program, args, { env: { PATH: process.env.PATH, HOME: server.home } })
  expect(stdout).toBe(output)
})
