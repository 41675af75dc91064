import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { pageServer } from '../docs/page-server.ts'
import { blocksOf, pages } from '../docs/pages.ts'

const run = promisify(execFile)
mkdirSync('.cache', { recursive: true })
const snippets = mkdtempSync('.cache/client-')

const server = pageServer()
afterAll(() => rmSync(snippets, { recursive: true }))

const blocks = pages.filter(({ path }) => path === 'docs/client.md').flatMap(blocksOf)

/** The programs on the page that need a server, and what the page says they print. */
const programs = blocks.flatMap(({ place, language, text }, index) =>
  language === 'ts' && text.includes('127.0.0.1:7380')
    ? [{ place, text, output: blocks[index + 1]?.text }]
    : [],
)

describe('the page on the client', () => {
  it('has a program for each of the two clients and for the timeline', () => {
    expect(programs).toHaveLength(3)
  })

  it.each(programs)('$place prints what the page says', async ({ place, text, output }) => {
    const file = join(snippets, `${place.replaceAll(/\W/g, '-')}.ts`)
    const here = text
      .replaceAll('http://127.0.0.1:7380', server.url)
      .replaceAll(`from 'mainstem/client'`, `from '../../src/client/index.ts'`)
    writeFileSync(file, here)
    expect((await run(process.execPath, [file])).stdout).toBe(output)
  })

  it('has an example that runs, and says what is wrong when there is no server', async () => {
    const { stdout } = await run(process.execPath, ['examples/client.ts', 'echo', 'hello', server.url])
    expect(stdout).toBe('hello\ncompleted\n')
    const nowhere = run(process.execPath, ['examples/client.ts', 'echo', 'hello', 'http://127.0.0.1:1'])
    await expect(nowhere).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^connectionFailed: /),
    })
  })
})
