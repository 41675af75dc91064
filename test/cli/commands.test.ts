import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { registerRun } from '../../src/cli/run.ts'
import { Entry } from '../../src/model/index.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

interface Ran {
  code: number | null
  out: string
  err: string
}

/** The program as somebody without a terminal runs it. */
async function mainstem(args: readonly string[], input = ''): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: '/nonexistent' },
  })
  child.stdin.end(input)
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [code, out, err] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}

// Starting a program takes its time on a busy machine.
const PATIENT = { timeout: 30_000 }

describe('run', PATIENT, () => {
  test('prints the answer for people, without colours where there is no terminal', async () => {
    const { code, out, err } = await mainstem(['run', 'echo', 'hello', '--cwd', '/'])
    expect(out).toMatch(/^echo {2}live in \/\n\n❯ hello\n\n {2}hello\n\n✔ completed in \d+ ms\n$/)
    expect([code, err]).toEqual([0, ''])
  })

  test.each([[['-']], [[]]])('takes the prompt from standard input (%j)', async (argument) => {
    const { out } = await mainstem(['run', 'echo', ...argument, '--to', 'execute'], 'two\nlines')
    expect(JSON.parse(out.split('\n')[0] ?? '')).toEqual({ kind: 'agent_token', text: 'two\nlines' })
  })

  test('prints valid entries with --json, from the first to the last', async () => {
    const { out } = await mainstem(['run', 'echo', 'hello', '--launch', 'oneshot', '--json'])
    const entries = out
      .trim()
      .split('\n')
      .map((line) => Entry.parse(JSON.parse(line)))
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    expect(entries[0]?.event).toMatchObject({ type: 'session.started', launch: 'oneshot' })
    expect(entries.at(-1)?.event.type).toBe('session.ended')
  })

  test('exits as its outcome says', async () => {
    const { code, out } = await mainstem(['run', 'demo', 'go', '--timeout', '0.2'])
    expect(out).toContain('✖ timeout')
    expect(code).toBe(3)
  })

  test.each([
    [['run', 'nobody', 'hi'], 4, 'there is no agent "nobody"'],
    [['run', 'echo'], 2, 'the prompt is empty'],
    [['run', 'demo', 'hi', '--launch', 'oneshot'], 2, 'demo has no oneshot launch'],
    [['run', 'echo', 'hi', '--config', '/nonexistent/config.json'], 2, 'there is no such file'],
    [['run', 'echo', 'hi', 'there'], 2, 'too many arguments'],
  ] as const)('%j exits with %i and says why', async (args, code, reason) => {
    const ran = await mainstem(args)
    expect(ran.err).toContain(reason)
    expect(ran).toMatchObject({ code, out: '' })
  })

  test.each([
    [[], "missing required argument 'agent'"],
    [['echo', 'hi', '--to', 'nowhere'], 'Allowed choices are mainstem'],
    [['echo', 'hi', '--approval', 'never'], 'Allowed choices are ask'],
    [['echo', 'hi', '--sandbox', 'sand'], 'Allowed choices are none'],
    [['echo', 'hi', '--launch', 'twice'], 'Allowed choices are live'],
    [['echo', 'hi', '--timeout', 'soon'], 'number of seconds'],
    [['echo', 'hi', '--timeout', '0'], 'number of seconds'],
    [['echo', 'hi', '--json', '--to', 'execute'], 'cannot be used with'],
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
