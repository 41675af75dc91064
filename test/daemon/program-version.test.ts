import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import { fitOf } from '../../src/compose/program-version.ts'
import { type AgentReadiness, type ReadinessQuestion, readiness } from '../../src/compose/readiness.ts'
import { systemTimers } from '../../src/drivers/timers.ts'
import { isAlive } from '../drivers/fake-run.ts'
import { Machine, STUBBORN, VERSIONS } from './fake-programs.ts'

const claude = agents.filter(({ id }) => id === 'claude')

/** Time that does not pass: only what ends by itself, or is stopped for another reason, ends. */
const NEVER_LATE: ReadinessQuestion = {
  timers: {
    sleep: (_ms, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  },
}

async function ask(machine: Machine, more: ReadinessQuestion = NEVER_LATE): Promise<AgentReadiness> {
  const [answer] = await readiness({ agents: claude, environment: machine.environment, ...more })
  if (!answer) throw new TypeError('no answer')
  return answer
}

const claudeThat = (script: string) => {
  const machine = new Machine()
  machine.program('claude', script)
  return machine
}

describe('a version', () => {
  test.each([
    ['2.1.326', 'tested'],
    ['2.1.324', 'older'],
    ['1.9.9999', 'older'],
    ['2.1.326-beta.1', 'older'],
    ['2.1.1000', 'newer'],
    ['10.0.0', 'newer'],
  ])('%s is %s', async (version, fit) => {
    const answer = await ask(claudeThat(`echo "${version} (Claude Code)"`))
    expect(answer).toMatchObject({ version, fit, testedVersion: '2.1.326' })
  })

  test('is ordered by its numbers, and a pre-release comes before its release', () => {
    const version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30), fc.boolean())
    const text = ([a, b, c, early]: readonly [number, number, number, boolean]) =>
      `${a}.${b}.${c}${early ? '-rc.1' : ''}`
    const rank = ([a, b, c, early]: readonly [number, number, number, boolean]) =>
      ((a * 31 + b) * 31 + c) * 2 + (early ? 0 : 1)
    fc.assert(
      fc.property(version, version, (one, tested) => {
        const order = rank(one) - rank(tested)
        expect(fitOf(text(one), text(tested))).toBe(order === 0 ? 'tested' : order < 0 ? 'older' : 'newer')
      }),
    )
  })

  test('holds nothing but a version, whatever a program prints', () => {
    const patterns = agents.flatMap(({ setup }) => setup?.version?.pattern ?? [])
    expect(patterns.length).toBeGreaterThan(4)
    const around = fc.constantFrom(
      '',
      'codex-cli ',
      ' (Claude Code)',
      'GitHub Copilot CLI ',
      '\x1b[31m',
      '\n',
    )
    const line = fc.tuple(
      around,
      fc.string({ unit: 'binary' }),
      fc.constantFrom('1.2.3', ''),
      fc.string(),
      around,
    )
    fc.assert(
      fc.property(line, fc.constantFrom(...patterns), (parts, pattern) => {
        expect(pattern.exec(parts.join(''))?.[1] ?? '1.2.3').toMatch(/^\d+\.\d+\.\d+[\w.+-]*$/)
      }),
    )
  })

  test('is read even if the program waits for the end of its input, or exits with an error afterwards', async () => {
    const reads = claudeThat(`while read line; do :; done\n${VERSIONS.claude}`)
    expect(await ask(reads)).toMatchObject({ version: '2.1.326', state: 'needs_login' })
    expect(await ask(claudeThat(`${VERSIONS.claude}; exit 3`))).toMatchObject({ version: '2.1.326' })
  })
})

describe('a program without a version', () => {
  test.each([
    ['exit 127', 'exit code 127'],
    [`printf 'first\\nno \\033[31mnode\\n\\n' >&2; exit 1`, 'no \x1b[31mnode'],
    ['kill -9 $$', 'signal SIGKILL'],
  ])('is broken when it fails (%s), and the way out is to install it', async (script, why) => {
    expect(await ask(claudeThat(script))).toMatchObject({
      state: 'broken',
      note: expect.stringContaining(why),
      fix: 'npm install -g @anthropic-ai/claude-code',
    })
  })

  test('is broken when it cannot be started', async () => {
    const machine = new Machine()
    machine.executable('claude', '#!/nowhere/interpreter\n')
    expect(await ask(machine)).toMatchObject({
      state: 'broken',
      note: expect.stringContaining('needs /nowhere/interpreter, which does not exist'),
    })
  })

  test('is broken where agents cannot be started at all', async () => {
    const answer = await ask(claudeThat(VERSIONS.claude), { platform: 'win32' })
    expect(answer).toMatchObject({ state: 'broken', note: expect.stringContaining('Windows') })
  })

  test.each([
    ['nothing', ':'],
    ['a version in an escape sequence', `printf '\\033]0;2.1.326 (Claude Code)\\007\\n'`],
    ['another version', 'echo 2.1.326'],
    ['a version on stderr', `${VERSIONS.claude} >&2`],
    ['bytes that are no text', `printf '\\377\\376\\000\\n'`],
    ['a line without an end', '/usr/bin/head -c 300000 /dev/zero'],
    ['lines without an end', 'while echo yes; do :; done'],
  ])('that prints %s may still work', async (_what, script) => {
    const answer = await ask(claudeThat(script))
    expect(answer).toMatchObject({ state: 'needs_login', note: 'it printed no readable version' })
    expect(answer).not.toHaveProperty('version')
  })
})

describe('a program that does not end', () => {
  test('is stopped with everything it started, and leaves no file', async () => {
    const machine = claudeThat(`echo $TMPDIR > $here/temporary\n${STUBBORN}`)
    // Late is when it has got going.
    const timers = { sleep: () => machine.left('pids').then(() => undefined) }
    const answer = await ask(machine, { timers })
    expect(answer).toMatchObject({ state: 'broken', note: 'it did not print its version within 5 s' })
    const pids = (await machine.left('pids')).split(' ').map(Number)
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(existsSync(await machine.left('temporary'))).toBe(false)
  })

  test('is stopped when the caller aborts', async () => {
    const machine = claudeThat(STUBBORN)
    const stop = new AbortController()
    const asking = readiness({ environment: machine.environment, signal: stop.signal })
    const pids = (await machine.left('pids')).split(' ').map(Number)
    expect(pids.map(isAlive)).toEqual([true, true])
    stop.abort()
    expect(await asking).toHaveLength(agents.length)
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  test('is given five seconds', async () => {
    const asked: number[] = []
    const timers = {
      sleep(ms: number, signal: AbortSignal) {
        asked.push(ms)
        return systemTimers.sleep(ms, signal)
      },
    }
    await ask(claudeThat(VERSIONS.claude), { timers })
    expect(asked).toEqual([5_000])
  })
})

test('a program that is queried for its version gets no key and no unrelated variable', async () => {
  const machine = claudeThat(`/usr/bin/env > $here/seen; pwd > $here/cwd\n${VERSIONS.claude}`)
  const secret = { ANTHROPIC_API_KEY: 'canary', CLAUDE_CODE_OAUTH_TOKEN: 'canary', MAINSTEM_TOKEN: 'canary' }
  const answer = await ask(machine, {
    environment: { ...machine.environment, ...secret, SSH_AUTH_SOCK: 'canary', CLAUDECODE: 'canary' },
    settings: { claude: { env: { ANTHROPIC_API_KEY: 'canary', MINE: 'mine' } } },
  })
  expect(answer).toMatchObject({ state: 'ready', version: '2.1.326' })
  const seen = readFileSync(join(machine.bin, 'seen'), 'utf8')
  expect(seen).not.toContain('canary')
  expect(seen.split('\n')).toEqual(
    expect.arrayContaining([`HOME=${machine.home}`, 'MINE=mine', expect.stringMatching(/^MAINSTEM_RUN=./)]),
  )
  expect(await machine.left('cwd')).not.toBe(process.cwd())
})
