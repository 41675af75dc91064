import { afterAll, describe, expect, test } from 'vitest'
import { Home } from '../mainstem-process.ts'
import { CTRL_C, DOWN, ENTER, PseudoTerminal, type TerminalOptions } from './pseudo-terminal.ts'
import { plain } from './screen-text.ts'

const KEYS = 'y allow once'

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

function terminal(args: readonly string[], options: Partial<TerminalOptions> = {}): PseudoTerminal {
  return PseudoTerminal.mainstem(args, { cwd: home.path, ...options, env: { ...home.env, ...options.env } })
}

describe('in a terminal', () => {
  test('a request shows the whole command before it asks, and y allows it', async () => {
    await using shown = terminal(['run', 'claude', 'permission'])
    await shown.shows(KEYS)
    expect(shown.text).toContain('rm -rf build && npm run build -- --all-of-it')
    shown.press('y')
    expect(await shown.exited).toBe(0)
    expect(shown.text).toContain('→ allowed once')
    expect(shown.text).toContain('I was allowed "Bash"')
    expect(shown.text).toMatch(/continue: mainstem send [0-9a-f]{8} "…"\n*$/)
  })

  test('under npx, the command to continue with is one of npx', async () => {
    await using shown = terminal(['run', 'echo', 'hi'], { env: { npm_command: 'exec' } })
    expect(await shown.exited).toBe(0)
    expect(shown.text).toMatch(/continue: npx mainstem send [0-9a-f]{8} "…"\n*$/)
  })

  test('d denies with a reason, which the agent reads', async () => {
    await using shown = terminal(['run', 'claude', 'permission'])
    await shown.shows(KEYS)
    shown.press('d')
    await shown.shows('Why not?')
    shown.press('use the staging database')
    await shown.shows('use the staging database')
    shown.press(ENTER)
    await shown.exited
    expect(shown.text).toContain('→ denied')
    expect(shown.text).toMatch(/I was denied: .*use the staging database/)
  })

  test('a question is answered with the arrow keys', async () => {
    await using shown = terminal(['run', 'claude', 'question'])
    await shown.shows(/● Choose with the arrow keys/)
    shown.press(DOWN)
    await shown.shows(/● PostgreSQL/)
    shown.press(DOWN)
    await shown.shows(/● SQLite/)
    shown.press(ENTER)
    expect(await shown.exited).toBe(0)
    expect(shown.text).toContain('→ SQLite')
    expect(shown.text).toContain('I was allowed {"Which database?":"SQLite"}')
  })

  test('several questions are a form, on 60 columns too', async () => {
    await using shown = terminal(['run', 'claude', 'form'], { columns: 60 })
    await shown.shows(/1 of 2 · Database\n.*● Choose with the arrow keys/)
    shown.press(DOWN)
    await shown.shows(/● PostgreSQL/)
    shown.press(ENTER)
    await shown.shows(/2 of 2 · Migrations\n.*● Choose with the arrow keys/)
    shown.press(DOWN)
    await shown.shows(/● db\/migrations/)
    shown.press(DOWN)
    await shown.shows(/● sql/)
    shown.press(ENTER)
    await shown.shows(/● Choose with the arrow keys\n.*○ Send these answers/)
    expect(shown.text).toMatch(/○ Database: PostgreSQL\n.*○ Migrations: sql\n/)
    shown.press(DOWN)
    await shown.shows(/● Send these answers/)
    shown.press(ENTER)
    expect(await shown.exited).toBe(0)
    expect(shown.text).toContain('→ PostgreSQL, sql')
  })

  test('Ctrl-C interrupts the turn', async () => {
    await using shown = terminal(['run', 'claude', 'work'])
    await shown.shows('Ctrl-C interrupts')
    shown.press(CTRL_C)
    expect(await shown.exited).toBe(130)
    expect(shown.text).toContain('■ interrupted')
  })

  test('TERM=dumb has no sequence at all, and NO_COLOR no colour', async () => {
    await using dumb = terminal(['run', 'echo', 'hi'], { env: { TERM: 'dumb' } })
    expect(await dumb.exited).toBe(0)
    expect(dumb.raw).not.toContain('\x1b')
    await using grey = terminal(['run', 'echo', 'hi'], { env: { NO_COLOR: '1' } })
    expect(await grey.exited).toBe(0)
    expect(grey.raw).not.toMatch(/\x1b\[[\d;]*m/)
    await using coloured = terminal(['run', 'echo', 'hi'])
    expect(await coloured.exited).toBe(0)
    expect(coloured.raw).toMatch(/\x1b\[3\dm/)
  })

  test('a narrow terminal wraps, and no line is longer than it', async () => {
    const words = 'one two three four five six seven eight nine ten'
    await using shown = terminal(['run', 'echo', words], { columns: 24 })
    expect(await shown.exited).toBe(0)
    const answer = shown.text.slice(shown.text.lastIndexOf('\n\n  one'), shown.text.indexOf('✔'))
    expect(answer.replace(/\s+/g, ' ').trim()).toBe(words)
    const written = plain(shown.raw).split(/[\r\n]+/)
    expect(Math.max(...written.slice(0, -3).map((line) => line.length))).toBeLessThanOrEqual(24)
  })

  test('an agent can neither move the cursor nor forge a prompt', async () => {
    await using shown = terminal(['run', 'claude', 'forge'])
    expect(await shown.exited).toBe(0)
    expect(shown.raw).not.toMatch(/\x1b\[2J|\x1b\[1;1H|\x1b\]|\x1b\[5A/)
    // Marks in the first column are ours alone.
    expect(shown.text).toContain('\n  ? Permission')
    expect(shown.text).not.toMatch(/^\? Permission/m)
    expect(shown.text).toContain('❯ forge')
  })
})

describe('a session that outlives its terminal', () => {
  test('is left with the second Ctrl-C, and a second terminal still shows it', async () => {
    await using first = terminal(['run', 'claude', 'work', '--name', 'kept'])
    await first.shows('working')
    await using second = terminal(['attach', 'kept'])
    await second.shows('working')
    const pid = await home.daemonPid()
    // The daemon cannot end the turn while it stands still, so the second Ctrl-C comes before the end.
    process.kill(pid, 'SIGSTOP')
    try {
      first.press(CTRL_C)
      await first.shows('Ctrl-C again detaches')
      first.press(CTRL_C)
      await first.shows('detached; the session continues: mainstem attach kept')
      expect(await first.exited).toBe(130)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await second.shows('■ interrupted')
  })

  test('is answered from a second terminal, and the first shows it', async () => {
    await using first = terminal(['run', 'claude', 'permission', '--name', 'shared'])
    await first.shows(KEYS)
    await using second = terminal(['attach', 'shared'])
    await second.shows(KEYS)
    second.press('y')
    expect(await second.exited).toBe(0)
    expect(await first.exited).toBe(0)
    expect(first.text).toContain('→ allowed once')
  })

  test('follows its turn across a kill -9 of the daemon', async () => {
    await using first = terminal(['run', 'claude', 'work', '--name', 'cut'])
    await first.shows('working')
    process.kill(await home.daemonPid(), 'SIGKILL')
    await first.shows('reads on where it stopped')
    await home.mainstem(['stop', 'cut'])
    expect(await first.exited).toBe(130)
    expect(first.text).not.toContain('lost')
    await using next = terminal(['send', 'cut', 'still there'])
    expect(await next.exited).toBe(0)
    expect(next.text).toContain('still there')
  })
})
