import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Home } from '../mainstem-process.ts'
import { CTRL_C, PseudoTerminal } from './pseudo-terminal.ts'
import { plain } from './screen-text.ts'

const KEYS = 'y allow once'

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

function compare(...args: readonly string[]): PseudoTerminal {
  return PseudoTerminal.mainstem(['compare', ...args], { cwd: home.path, env: home.env, columns: 120 })
}

/** Until both columns show this word. */
const twice = (word: string) => new RegExp(`${word} +│ +${word}`)

describe('compare in a terminal', () => {
  test('shows columns, asks one request after the other, and ends with a table', async () => {
    await using shown = compare('claude,claude,echo', 'permission')
    await shown.shows(KEYS)
    expect(plain(shown.raw)).toMatch(/claude +│ claude 2 +│ echo/)
    const [first = ''] = shown.text.match(/── claude(?: 2)? ──/) ?? []
    shown.press('y')
    const other = first.includes('2') ? '── claude ──' : '── claude 2 ──'
    await shown.shows(other)
    await shown.shows(new RegExp(`${other}[\\s\\S]*${KEYS}`))
    shown.press('n')
    await shown.exited
    expect(shown.text).toMatch(/AGENT +OUTCOME +TIME +TOKENS +COST +FILES +SESSION/)
    expect(shown.text).toContain('I was allowed "Bash"')
    expect(shown.text).toContain('I was denied')
    expect(shown.text).not.toContain('Ctrl-C interrupts all')
  })

  test('interrupts all agents with Ctrl-C, and the table says so', async () => {
    await using shown = compare('claude,claude', 'work')
    await shown.shows(twice('working'))
    shown.press(CTRL_C)
    expect(await shown.exited).toBe(130)
    expect(shown.text).toMatch(/^claude +interrupted /m)
    expect(shown.text).toMatch(/^claude 2 +interrupted /m)
  })

  test('interrupts all agents while it asks, and asks nothing more', async () => {
    await using shown = compare('claude,claude', 'permission')
    await shown.shows(KEYS)
    shown.press(CTRL_C)
    expect(await shown.exited).toBe(130)
    expect(shown.text).toMatch(/^claude +interrupted /m)
    expect(shown.text).toMatch(/^claude 2 +interrupted /m)
  })

  test('detaches with the second Ctrl-C, and names the commands that attach', async () => {
    await using shown = compare('claude,claude', 'work')
    await shown.shows(twice('working'))
    const pid = await home.daemonPid()
    // The daemon cannot end the turns while it stands still, so the second Ctrl-C comes before the end.
    process.kill(pid, 'SIGSTOP')
    try {
      shown.press(CTRL_C)
      await shown.shows('Ctrl-C again detaches')
      shown.press(CTRL_C)
      expect(await shown.exited).toBe(130)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect(shown.text.replace(/\s+/g, ' ')).toMatch(
      /detached; the sessions continue: mainstem attach [0-9a-f]{8} · mainstem attach [0-9a-f]{8}/,
    )
  })

  test('names the worktrees that it made, and how to look at one and remove it', async () => {
    const path = join(home.path, 'project')
    mkdirSync(path)
    const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
    for (const args of [
      ['init', '-q'],
      ['commit', '-qm', 'first', '--allow-empty'],
    ])
      execFileSync('git', ['-C', path, ...who, ...args])
    await using shown = compare('echo,echo', 'hi', '--worktree', '-C', path)
    expect(await shown.exited).toBe(0)
    const text = shown.text.replace(/\n/g, '')
    expect(text).toMatch(/echo: \S+\/project-compare-[0-9a-f]{6}\/echo \(branch compare-[0-9a-f]{6}\/echo\)/)
    const [, remove = ''] = /remove one: (git worktree remove .+ && git branch -D \S+\/echo)/.exec(text) ?? []
    execFileSync('/bin/sh', ['-c', remove], { cwd: path })
    expect(execFileSync('git', ['-C', path, 'worktree', 'list'], { encoding: 'utf8' })).not.toMatch(/\/echo /)
  })
})
