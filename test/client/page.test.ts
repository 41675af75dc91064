import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { type Server, serve } from '../../src/daemon/serve.ts'
import { blocksOf, pages } from '../docs/pages.ts'

vi.setConfig({ testTimeout: 30_000 })

const run = promisify(execFile)
const home = realpathSync(mkdtempSync(join(tmpdir(), 'client-')))
mkdirSync('.cache', { recursive: true })
const snippets = mkdtempSync('.cache/client-')

let server: Server
beforeAll(async () => {
  const config = await loadConfig({
    flags: { port: 0, data: home, cwd: home, auth: false },
    environment: { MAINSTEM_HOME: home },
    cwd: home,
  })
  server = await serve({
    config,
    report: (thrown) => {
      throw thrown
    },
  })
})
afterAll(async () => {
  await server.stop()
  rmSync(home, { recursive: true })
  rmSync(snippets, { recursive: true })
})

const blocks = pages.filter(({ path }) => path === 'docs/client.md').flatMap(blocksOf)

/** The programs on the page that need a server, and what the page says they print. */
const programs = blocks.flatMap(({ place, language, text }, index) =>
  language === 'ts' && text.includes('127.0.0.1:7380')
    ? [{ place, text, output: blocks[index + 1]?.text }]
    : [],
)

describe('the page on the client', () => {
  it('has a program for each of the two clients', () => {
    expect(programs).toHaveLength(2)
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
