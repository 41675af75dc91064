import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { Home, MAIN } from './mainstem-process.ts'

const home = Home.withAskingAgent()
afterAll(() => home[Symbol.asyncDispose]())

/** Runs a command line of a shell in which `mainstem` is the program. */
async function shell(line: string): Promise<string> {
  const script = `mainstem() { ${process.execPath} ${MAIN} "$@"; }; ${line}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: home.env, cwd: home.path })
  return stdout
}

describe('a reader that closes the pipe', () => {
  test.each(['attach kept', 'send kept more'])('disconnects, and the turn continues: %s', async (command) => {
    await home.mainstem(['run', 'claude', 'chat', '--detach', '--name', 'kept'])
    const out = await shell(`mainstem ${command} --json 2>err.txt | head -1; echo "code \${PIPESTATUS[0]}"`)
    expect(out).toMatch(/^\{.*\}\ncode 141\n$/)
    const { out: listed } = await home.mainstem(['ls', '--json'])
    expect(JSON.parse(listed.split('\n')[0] ?? '')).toMatchObject({ name: 'kept', status: 'busy' })
    await home.mainstem(['rm', 'kept'])
  })
})

describe('output has no control characters in a pipe either', () => {
  const prompt = 'a\x1b[31mb\x9b31mc\u202ed'
  const CONTROLS = /[\x1b\x7f-\x9f\u202e]/

  test.each([
    [['run', 'echo', prompt]],
    [['run', 'echo', prompt, '--quiet']],
    [['run', 'echo', prompt, '--json']],
    [['attach', 'last']],
    [['ls', '--json']],
    [['logs', 'last']],
    [['logs', 'last', '--json']],
    [['export', 'last', '--format', 'md']],
    [['export', 'last', '--format', 'html']],
  ])('%j', async (args) => {
    await home.mainstem(['run', 'echo', prompt])
    const { out, err } = await home.mainstem(args)
    expect(out).toMatch(/a.*b.*c/)
    expect(out).not.toMatch(CONTROLS)
    expect(err).not.toMatch(CONTROLS)
  })

  test('JSON has the same values, and an export can be imported', async () => {
    await home.mainstem(['run', 'echo', prompt, '--name', 'exact'])
    const { out } = await home.mainstem(['logs', 'exact', '--json'])
    const started = out.split('\n').find((line) => line.includes('turn.started')) ?? ''
    expect(JSON.parse(started).event.prompt).toBe(prompt)
    await home.mainstem(['stop', 'exact', '--end'])
    const { out: exported } = await home.mainstem(['export', 'exact'])
    await home.mainstem(['rm', 'exact'])
    expect((await home.mainstem(['import', '-'], exported)).code).toBe(0)
  })
})
