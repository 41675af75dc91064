import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { afterAll, describe, expect, test } from 'vitest'
import { registerRun } from '../../src/cli/commands/run.ts'
import { Entry } from '../../src/model/index.ts'
import { Home, MAIN } from './mainstem-process.ts'

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())
const mainstem = (args: readonly string[], input?: string | null) => home.mainstem(args, input)

// Starting a program takes its time on a busy machine.
const PATIENT = { timeout: 30_000 }

describe('run', PATIENT, () => {
  test('prints the final answer alone on standard output, and the transcript on standard error', async () => {
    const { code, out, err } = await mainstem(['run', 'echo', 'hello', '-C', '/'])
    expect(out).toBe('hello\n')
    expect(err).toMatch(/^echo {2}live in \/\n\n❯ hello\n\n {2}hello\n\n✔ completed in \d+ ms\n$/)
    expect(code).toBe(0)
  })

  test('prints nothing else with --quiet', async () => {
    expect(await mainstem(['run', 'echo', 'hello', '--quiet'])).toEqual({ code: 0, out: 'hello\n', err: '' })
  })

  test.each([[['-']], [[]]])('takes the prompt from standard input (%j)', async (argument) => {
    const { out } = await mainstem(['run', 'echo', ...argument], 'two\nlines')
    expect(out).toBe('two\nlines\n')
  })

  test('takes a prompt and standard input, which becomes context', async () => {
    const { out } = await mainstem(['run', 'echo', 'review this'], '+added\n')
    expect(out).toBe('review this\n\n<stdin>\n+added\n</stdin>\n')
  })

  test('does not wait for a standard input that is open and silent', async () => {
    const { code, out, err } = await mainstem(['run', 'echo', 'hello'], null)
    expect([code, out]).toEqual([0, 'hello\n'])
    expect(err).toContain('no input on standard input for 3 s')
  })

  test('prints only valid entries with --json, up to the end of the turn', async () => {
    const { out, err } = await mainstem(['run', 'echo', 'hello', '--launch', 'oneshot', '--json'])
    const entries = out
      .trim()
      .split('\n')
      .map((line) => Entry.parse(JSON.parse(line)))
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    expect(entries[0]?.event).toMatchObject({ type: 'session.started', launch: 'oneshot' })
    expect(entries.at(-1)?.event.type).toBe('turn.completed')
    expect(err).toBe('')
  })

  test('prints the messages of a dialect', async () => {
    const { out } = await mainstem(['run', 'echo', 'hello', '--dialect', 'execute'])
    expect(JSON.parse(out.split('\n')[0] ?? '')).toEqual({ kind: 'agent_token', text: 'hello' })
  })

  test('keeps nothing with --ephemeral, and starts no daemon', async () => {
    await using bare = new Home()
    expect((await bare.mainstem(['run', 'echo', 'hello', '--ephemeral'])).out).toBe('hello\n')
    expect(existsSync(join(bare.path, 'data'))).toBe(false)
  })

  test('names the command that installs an agent, and exits with 6', async () => {
    await using bare = new Home()
    bare.env.PATH = bare.path
    const { code, err } = await bare.mainstem(['run', 'claude', 'hi'])
    expect(err).toContain('Claude Code is not installed (agent_not_found)')
    expect(err).toContain('Run: npm install -g @anthropic-ai/claude-code')
    expect(err).not.toContain('PATH')
    expect(code).toBe(6)
  })

  test('exits as its outcome says', async () => {
    const { code, err } = await mainstem(['run', 'demo', 'go', '--timeout', '0.2'])
    expect(err).toContain('✖ timeout')
    expect(code).toBe(3)
  })

  test.each([
    [['run', 'nobody', 'hi'], 4, 'there is no agent "nobody"'],
    [['run', 'ecoh', 'hi'], 4, 'Did you mean "echo"?'],
    [['run', 'echo'], 2, 'the prompt is empty'],
    [['run', 'demo', 'hi', '--launch', 'oneshot'], 2, 'demo has no oneshot launch'],
    [['run', 'echo', 'hi', '--config', '/nonexistent/config.json'], 2, 'no such file'],
    [['run', 'echo', 'hi', 'there'], 2, 'too many arguments'],
    [['run', 'echo', 'hi', '--schema', '/nonexistent'], 2, '--schema: /nonexistent does not exist'],
    [['run', 'echo', 'hi', '--image', 'picture.tiff'], 2, 'the kind of picture.tiff is unknown'],
    [['run', 'echo', 'hi', '--subagents', '/nonexistent'], 2, '--subagents: /nonexistent does not exist'],
    [['run', 'echo', 'hi', '--skill', '/nonexistent'], 5, 'options.skills'],
    [['run', 'codex', 'hi', '--fallback-model', 'small'], 2, 'fallbackModel'],
    [['run', 'echo', 'hi', '--resume', 'nonsense'], 4, 'there is no session "nonsense"'],
    [['run', 'echo', 'hi', '--name', '1st'], 2, 'name: a name begins with a letter'],
  ] as const)('%j exits with %i and says why', async (args, code, reason) => {
    const ran = await mainstem(args)
    expect(ran.err).toContain(reason)
    expect(ran).toMatchObject({ code, out: '' })
  })

  test.each([
    [[], "missing required argument 'agent'"],
    [['echo', 'hi', '--dialect', 'nowhere'], 'Allowed choices are mainstem'],
    [['echo', 'hi', '--approval', 'never'], 'Allowed choices are ask'],
    [['echo', 'hi', '--sandbox', 'sand'], 'Allowed choices are none'],
    [['echo', 'hi', '--launch', 'twice'], 'Allowed choices are oneshot'],
    [['echo', 'hi', '--timeout', 'soon'], 'number of seconds'],
    [['echo', 'hi', '--timeout', '0'], 'number of seconds'],
    [['echo', 'hi', '--json', '--dialect', 'execute'], 'cannot be used with'],
    [['echo', 'hi', '--continue', '--resume', 'x'], 'cannot be used with'],
    [['echo', 'hi', '--ephemeral', '--detach'], 'cannot be used with'],
    [['echo', 'hi', '--max-turns', '0'], 'whole number'],
    [['echo', 'hi', '--max-cost', 'free'], 'amount'],
  ])('%j is bad usage', async (args, reason) => {
    const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined })
    registerRun(program)
    await expect(program.parseAsync(['run', ...args], { from: 'user' })).rejects.toThrow(reason)
  })
})

describe('demo', PATIENT, () => {
  test('runs to its end by itself where there is no terminal', async () => {
    const { code, out } = await mainstem(['demo', '--fast'])
    expect(out.match(/→ allowed once/g)).toHaveLength(2)
    expect(out).toContain('✔ completed')
    expect(code).toBe(0)
  })

  test('stops calmly when its reader goes away', async () => {
    const child = spawn(process.execPath, [MAIN, 'demo', '--yes'])
    const errors = text(child.stderr)
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, await errors]).toEqual([130, ''])
  })

  test.each(['SIGINT', 'SIGHUP'] as const)('is interrupted by %s, and says so', async (signal) => {
    const child = spawn(process.execPath, [MAIN, 'demo', '--yes'])
    child.stdout.once('data', () => child.kill(signal))
    const [out, code] = await Promise.all([
      text(child.stdout),
      new Promise((resolve) => child.once('close', resolve)),
    ])
    expect(out).toContain('■ interrupted')
    expect(code).toBe(130)
  })
})

describe('send --agent', PATIENT, () => {
  test('has another agent continue the session, and says so in the transcript', async () => {
    await mainstem(['run', 'echo', 'the heron', '--name', 'handed'])
    const { code } = await mainstem(['send', 'handed', '--agent', 'demo', 'go on', '--detach'])
    expect(code).toBe(0)
    const { out } = await mainstem(['logs', 'handed', '--json'])
    expect(out).toContain('"type":"session.handed_over"')
    expect((await mainstem(['logs', 'handed'])).out).toContain('demo continues the session of echo')
    expect((await mainstem(['ls'])).out).toMatch(/handed +demo/)
    await mainstem(['stop', 'handed'])
  })

  test('refuses an agent that does not exist, and --steer beside it, and changes nothing', async () => {
    await mainstem(['run', 'echo', 'hello', '--name', 'kept'])
    expect(await mainstem(['send', 'kept', '--agent', 'ecko', 'x'])).toMatchObject({ code: 4 })
    expect(await mainstem(['send', 'kept', '--agent', 'demo', '--steer', 'x'])).toMatchObject({ code: 2 })
    expect((await mainstem(['ls'])).out).toMatch(/kept +echo/)
  })
})
