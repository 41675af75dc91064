import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Home, MAIN } from './mainstem-process.ts'

// Starting a program takes its time on a busy machine.
const PATIENT = { timeout: 30_000 }

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())
const printed = async (...args: string[]) => (await home.mainstem(args)).out

describe('mainstem alone', PATIENT, () => {
  test('starts no server, and says what to type', async () => {
    const { code, out } = await home.mainstem([])
    expect(code).toBe(0)
    expect(out).toMatch(/^No sessions yet\.\n\nType next\n/)
    expect(out).toContain('mainstem run claude "…"')
    expect(existsSync(join(home.data, 'daemon.sock'))).toBe(false)
  })

  test('lists the sessions of the server that runs', async () => {
    await using own = new Home()
    await own.mainstem(['run', 'echo', 'hello', '--name', 'first'])
    expect((await own.mainstem([])).out).toMatch(/^Last {2}1\n {2}echo .*\n +.*mainstem logs first\n/)
  })
})

describe('logs', PATIENT, () => {
  const PROMPT = 'created 60'
  beforeAll(async () => {
    expect(await home.mainstem(['run', 'claude', PROMPT, '--name', 'long'])).toMatchObject({ code: 0 })
  })

  test('leaves out the end of a long change, and --full does not', async () => {
    const short = await printed('logs', 'long')
    expect(short).toContain('│ +line 40\n')
    expect(short).not.toContain('│ +line 41\n')
    expect(short).toContain('… 20 more lines')
    const full = await printed('logs', 'long', '--full')
    expect(full).toContain('│ +line 60\n')
    expect(full).not.toContain('more lines')
    expect(full).toContain(`❯ ${PROMPT}\n`)
  })

  test('with --changes, has only the changed files, each whole', async () => {
    const changes = await printed('logs', 'long', '--changes')
    const lines = Array.from({ length: 60 }, (_, index) => `│ +line ${index + 1}\n`).join('')
    expect(changes).toBe(`│ created long.txt  +60 −0\n${lines}\n`)
  })

  test.each(['--raw', '--json'])('refuses --full and --changes with %s', async (flag) => {
    for (const option of ['--full', '--changes'])
      expect(await home.mainstem(['logs', 'long', option, flag])).toMatchObject({ code: 2 })
  })
})

describe('send', PATIENT, () => {
  test('shows paths relative to the directory of the session, which it does not show itself', async () => {
    await home.mainstem(['run', 'claude', 'hello', '--name', 'again'])
    const { err } = await home.mainstem(['send', 'again', 'created 1'])
    expect(err).not.toContain(home.path)
    expect(err).toContain('● Write  long.txt\n')
    expect(err).toContain('│ created long.txt  +1 −0\n')
  })
})

describe('ls --since', PATIENT, () => {
  test('lists the sessions that changed since', async () => {
    await home.mainstem(['run', 'echo', 'hello', '--name', 'recent'])
    expect(await printed('ls', '--since', '1h')).toContain('recent')
    expect(await printed('ls', '--since', '2999-01-01', '--json')).toBe('')
    expect(await printed('ls', '--since', '2999-01-01')).not.toContain('recent')
  })
})

describe('run of an agent without a login', PATIENT, () => {
  async function noted(): Promise<string> {
    const args = [MAIN, 'run', 'claude', 'silence']
    const child = spawn(process.execPath, args, {
      env: home.env,
      cwd: home.path,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let text = ''
    for await (const piece of child.stderr.setEncoding('utf8')) {
      text += piece
      if (text.includes('login')) child.kill('SIGINT')
    }
    return text
  }

  test('says after a moment of silence that it needs a login, and how', async () => {
    expect(await noted()).toContain('! claude needs login: ')
  })
})
