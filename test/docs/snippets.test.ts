import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { defaultPaths } from '../../src/compose/paths.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { blocksOf, pages } from './pages.ts'

const run = promisify(execFile)

const blocks = (path: string) => pages.filter((page) => page.path === path).flatMap(blocksOf)

/** The call with curl on a page, and the answer that is printed below it. */
function call(path: string): { command: string; answer: string } {
  const all = blocks(path)
  const at = all.findIndex(({ language, text }) => language === 'sh' && text.startsWith('curl '))
  return { command: all[at]?.text ?? '', answer: all[at + 1]?.text ?? '' }
}

const anyDuration = (text: string) => text.replace(/"duration_ms":\d+/, '"duration_ms":0')

/** A server as `mainstem serve` starts it for a user with an empty home. */
async function server(auth: boolean) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')))
  const { data } = defaultPaths({}, home)
  const config = await loadConfig({
    flags: { port: 0, data, cwd: home, auth },
    environment: { MAINSTEM_HOME: home },
    cwd: home,
  })
  const running = await serve({
    config,
    report: (thrown) => {
      throw thrown
    },
  })
  return {
    url: running.url,
    shell: async (command: string) => {
      const here = command.replace('http://127.0.0.1:7380', running.url)
      const { stdout } = await run('bash', ['-c', here], { env: { PATH: process.env.PATH, HOME: home } })
      return stdout
    },
    async [Symbol.asyncDispose]() {
      await running.stop()
      rmSync(home, { recursive: true })
    },
  }
}

describe('the call that a page shows', () => {
  it.each([
    ['README.md', true],
    ['docs/compatibility/execute.md', false],
  ])('%s is answered as the page says, twice', async (path, auth) => {
    const { command, answer } = call(path)
    expect(command).toContain('127.0.0.1:7380')
    await using gateway = await server(auth)
    const first = await gateway.shell(command)
    expect(anyDuration(first)).toBe(anyDuration(answer))
    expect(await gateway.shell(command)).toBe(first)
  })

  it('fails with the message that the page shows', async () => {
    const problem =
      blocks('docs/compatibility/execute.md').find(({ language }) => language === 'json')?.text ?? '{}'
    await using gateway = await server(false)
    const response = await fetch(`${gateway.url}/v1/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': JSON.parse(problem).requestId },
      body: JSON.stringify({ idempotency_key: 'k', driver: 'echo' }),
    })
    expect(response.headers.get('content-type')).toContain('application/problem+json')
    expect(await response.json()).toEqual(JSON.parse(problem))
  })

  it('listens on the port that is the default', async () => {
    const config = await loadConfig({ flags: {}, environment: { MAINSTEM_HOME: tmpdir() }, cwd: '/' })
    expect(config).toMatchObject({ host: '127.0.0.1', port: 7380 })
  })
})

it('the transcript in the README is what the demonstration prints, with parts left out', () => {
  const shown = blocks('README.md').find(({ text }) => text.startsWith('❯'))?.text ?? ''
  let rest = readFileSync('test/cli/goldens/demo.txt', 'utf8')
  const parts = shown.split('…\n')
  expect(parts.length).toBeGreaterThan(2)
  for (const part of parts) {
    const at = rest.indexOf(part)
    expect(at, part).toBeGreaterThanOrEqual(0)
    rest = rest.slice(at + part.length)
  }
})
