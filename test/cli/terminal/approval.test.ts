import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Home, MAIN } from '../mainstem-process.ts'
import { CTRL_C, PseudoTerminal, type TerminalOptions } from './pseudo-terminal.ts'
import { randomRun } from './random-approvals.ts'

const KEYS = 'y allow once'
const CLEAR = '\x15'

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

let folders = 0
/** A directory for one run, where the agent records which tools ran. */
function folder(): string {
  const path = join(home.path, `run-${folders++}`)
  mkdirSync(path)
  return path
}

const ranIn = (cwd: string): string =>
  existsSync(join(cwd, 'ran.log')) ? readFileSync(join(cwd, 'ran.log'), 'utf8') : ''

function terminal(cwd: string, prompt: string, options: Partial<TerminalOptions> = {}): PseudoTerminal {
  return PseudoTerminal.mainstem(['run', 'claude', prompt], { cwd, env: home.env, ...options })
}

describe('a key approves only what was on the screen before it', () => {
  test('keys that were typed ahead stay in the draft, and answer nothing', async () => {
    const cwd = folder()
    await using shown = terminal(cwd, 'later')
    await shown.shows('thinking')
    shown.press('yyy typed ahead')
    await shown.shows('❯ yyy typed ahead')
    writeFileSync(join(cwd, 'ask-now'), '')
    await shown.shows(KEYS)
    expect(shown.text).not.toContain('typed ahead')
    shown.press('n')
    await shown.shows('❯ yyy typed ahead')
    shown.press(CLEAR)
    await shown.exited
    expect(shown.text).toContain('→ denied')
    expect(ranIn(cwd)).toBe('')
  })

  test('the second key of a double tap does not answer the next request', async () => {
    const cwd = folder()
    await using shown = terminal(cwd, 'twice')
    await shown.shows(KEYS)
    shown.press('yy')
    await shown.shows(/command: second[\s\S]*y allow once/)
    shown.press('n')
    await shown.exited
    expect(ranIn(cwd)).toBe('Bash first\n')
  })
})

describe('pasted text answers nothing', () => {
  test.each([
    ['marked by the terminal', ['\x1b[200~yes, please\r\x1b[201~']],
    ['in one piece', ['yes, please\r']],
    ['byte by byte', [...'yes, please\r']],
  ])('%s', async (_, pieces) => {
    const cwd = folder()
    await using shown = terminal(cwd, 'permission')
    await shown.shows(KEYS)
    for (const piece of pieces) shown.press(piece)
    await shown.shows(/ignored: several keys at once[\s\S]*y allow once/)
    shown.press('n')
    await shown.exited
    expect(ranIn(cwd)).toBe('')
  })
})

describe('what is allowed was on the screen', () => {
  test('an input higher than the screen is viewed to its end first, and its name is beside the keys', async () => {
    const cwd = folder()
    await using shown = terminal(cwd, 'write 100', { rows: 40 })
    await shown.shows('v view all, then allow (68 lines not shown)')
    expect(shown.text).toMatch(/Write {2}\/project\/long\.txt · 101 lines\n {2}v view all/)
    expect(shown.text).not.toContain('line 100')
    shown.press('y')
    await shown.shows(/v view all[^\n]*\n\s*v view all/)
    shown.press('v')
    await shown.shows('lines 1 to 38 of 101')
    shown.press(' ')
    await shown.shows('lines 39 to 76 of 101')
    shown.press(' ')
    await shown.shows(/line 100\n[^\n]*long\.txt[^\n]*\n {2}y allow once/)
    expect(ranIn(cwd)).toBe('')
    shown.press('y')
    expect(await shown.exited).toBe(0)
    expect(ranIn(cwd)).toBe('Write /project/long.txt\n')
  })

  test('a resize draws the request again, and its keys count anew', async () => {
    const cwd = folder()
    await using shown = terminal(cwd, 'permission')
    await shown.shows(KEYS)
    shown.resize(60, 20)
    await shown.shows(/y allow once[\s\S]*\? Permission/)
    shown.press('y')
    await shown.shows(/y allow once[\s\S]*\? Permission[\s\S]*y allow once/)
    shown.press('n')
    await shown.exited
    expect(ranIn(cwd)).toBe('')
  })

  test('invisible characters of a command are escaped', async () => {
    await using shown = terminal(folder(), 'hidden')
    await shown.shows(KEYS)
    expect(shown.text).toContain('command: echo safe \\u202e\\u200b\\u001b[8m; rm -rf secret')
    shown.press('n')
    await shown.exited
  })

  test('of several requests, each answer names what it belongs to', async () => {
    const cwd = folder()
    await using shown = terminal(cwd, 'parallel')
    await shown.shows(/first · 1 more request waits\n[^\n]*y allow once/)
    shown.press('y')
    await shown.shows(/second\n[^\n]*y allow once/)
    shown.press('n')
    await shown.exited
    expect(shown.text).toContain('→ allowed once, by local (terminal) · Bash  first')
    expect(shown.text).toContain('→ denied, by local (terminal) · Bash  second')
    expect(ranIn(cwd)).toBe('Bash first\n')
  })
})

describe('the terminal is left as it was', () => {
  const state = 'stty -a | grep -o -e " -\\?echo " -e " -\\?icanon" | tr -d "\\n"'
  const run = (scene: string) => `${process.execPath} ${MAIN} run claude ${scene}`

  test.each([
    ['at the end of a turn', 'work', CTRL_C],
    ['after Ctrl-C at a request', 'permission', CTRL_C],
    ['after Ctrl-\\', 'permission', '\x1c'],
  ])('%s', async (_, scene, key) => {
    await using shown = new PseudoTerminal(`${run(scene)}; echo "after:$(${state})."`, {
      cwd: folder(),
      env: home.env,
    })
    await shown.shows(scene === 'work' ? 'working' : KEYS)
    shown.press(key)
    await shown.shows('after: icanon echo .')
  })

  test('while it is suspended with Ctrl-Z, and the request is asked again afterwards', async () => {
    const cwd = folder()
    await using shown = new PseudoTerminal('exec bash --norc --noprofile -i', {
      cwd,
      env: home.env,
    })
    shown.press(`${run('permission')}\r`)
    await shown.shows(KEYS)
    shown.press('\x1a')
    await shown.shows('Stopped')
    shown.press(`echo "after:$(${state})."\r`)
    await shown.shows('after: icanon echo .')
    shown.press('fg\r')
    await shown.shows(/ fg\n[\s\S]*\? Permission[\s\S]*y allow once/)
    shown.press('n')
    await shown.shows('→ denied')
    expect(ranIn(cwd)).toBe('')
  })
})

test('random input allows only what was on the screen before the key', async () => {
  const runs = await Promise.all([1, 2, 3, 4].map((seed) => randomRun(home, seed)))
  expect(runs.flatMap((run) => run.unintended)).toEqual([])
})
