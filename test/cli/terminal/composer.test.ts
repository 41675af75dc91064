import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Home } from '../mainstem-process.ts'
import { CTRL_C, ENTER, PseudoTerminal, type TerminalOptions } from './pseudo-terminal.ts'

const ESCAPE = '\x1b'
const STEER = '\x13'
const CLEAR = '\x15'
const UP = '\x1b[A'

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

let folders = 0
function folder(): string {
  const path = join(home.path, `compose-${folders++}`)
  mkdirSync(path)
  return path
}

const run = (cwd: string, prompt: string, options: Partial<TerminalOptions> = {}) =>
  PseudoTerminal.mainstem(['run', 'claude', prompt], {
    cwd,
    ...options,
    env: { ...home.env, ...options.env },
  })

describe('while an agent works', () => {
  test('Enter queues a prompt, which runs after the turn, and the program ends after it', async () => {
    const cwd = folder()
    await using shown = run(cwd, 'wait')
    await shown.shows('Enter queues')
    shown.press('then this')
    await shown.shows('❯ then this')
    shown.press(ENTER)
    await shown.shows('turn 2 waits')
    writeFileSync(join(cwd, 'go-on'), '')
    expect(await shown.exited).toBe(0)
    expect(shown.text).toMatch(/✔ completed[\s\S]*❯ then this[\s\S]*✔ completed/)
  })

  test('Ctrl-S steers the turn', async () => {
    await using shown = run(folder(), 'work')
    await shown.shows('Ctrl-S steers')
    shown.press('rather this')
    await shown.shows('❯ rather this')
    shown.press(STEER)
    expect(await shown.exited).toBe(0)
    expect(shown.text).toContain('sent to the turn that runs')
  })

  test('Escape interrupts, a draft is kept until it is sent or removed, and an earlier prompt comes back', async () => {
    await using shown = run(folder(), 'work')
    await shown.shows('working')
    shown.press('half a')
    await shown.shows('❯ half a')
    shown.press(ESCAPE)
    await shown.shows(/■ interrupted[\s\S]*❯ half a[\s\S]*Enter sends/)
    shown.press(CLEAR + UP)
    await shown.shows(/❯ work\s[\s\S]*❯ work/)
    shown.press(CTRL_C)
    expect(await shown.exited).toBe(130)
  })

  test('a / command acts on the session, and a wrong one names the right one and keeps the draft', async () => {
    const cwd = folder()
    await using shown = run(cwd, 'wait')
    await shown.shows('/help')
    shown.press('/polic')
    await shown.shows('  /policy')
    shown.press(`y auto-edit${ENTER}`)
    await shown.shows('policy auto-edit, from')
    shown.press('/hlep')
    shown.press(ENTER)
    await shown.shows('Did you mean /help?')
    await shown.shows('❯ /hlep')
    shown.press(CLEAR)
    writeFileSync(join(cwd, 'go-on'), '')
    expect(await shown.exited).toBe(0)
  })

  test('on a dumb terminal, a prompt is printed when it was sent', async () => {
    const cwd = folder()
    await using shown = run(cwd, 'wait', { env: { TERM: 'dumb' } })
    await shown.shows('working')
    shown.press(`then this${ENTER}`)
    await shown.shows('> then this')
    await shown.shows('turn 2 waits')
    writeFileSync(join(cwd, 'go-on'), '')
    expect(await shown.exited).toBe(0)
    expect(shown.raw).not.toContain('\x1b')
  })
})
