import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newToken } from '../../src/daemon/token.ts'
import { Home, MAIN } from './mainstem-process.ts'

const home = Home.withAskingAgent()
beforeAll(() => home.mainstem(['ls']))
afterAll(() => home[Symbol.asyncDispose]())

/** What the command prints: the message with its code, and the advice. */
async function refusal(...args: readonly string[]): Promise<{ code: number | null; err: string }> {
  const { code, err, out } = await home.mainstem(args)
  expect(out).toBe('')
  return { code, err }
}

describe('the error of a situation names the fix', () => {
  test('a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const data = join(home.path, 'port')
    expect(await refusal('serve', '--port', port, '--data', data)).toEqual({
      code: 1,
      err: `mainstem: port ${port} of 127.0.0.1 is in use (conflict)\nStop the process that uses it, or pass another --port; 0 takes a free one.\n`,
    })
    taken.close()
  })

  test('a store that another process has open', async () => {
    const { code, err } = await refusal('serve', '--port', '0')
    expect(err).toMatch(/process \d+ has this store open/)
    expect(err).toContain('Use that server, stop it (`mainstem daemon stop`')
    expect(code).toBe(1)
  })

  test('an agent that is not logged in', async () => {
    const { code, out, err } = await home.mainstem(['run', 'claude', 'login'])
    expect(err).toContain('Invalid API key · Please run /login (authentication_failed)')
    expect(err).toContain(
      'Log in with `claude auth login`, or set ANTHROPIC_AUTH_TOKEN or ANTHROPIC_API_KEY or',
    )
    expect(err).toContain('mainstem daemon stop')
    expect({ code, out }).toEqual({ code: 6, out: '' })
  })

  test.each([
    [
      ['--sandbox', 'workspace-write'],
      'With approval ask, it accepts the sandbox none, read-only or full-access.',
    ],
    [
      ['--approval', 'auto-edit', '--sandbox', 'read-only'],
      'With approval auto-edit, it accepts the sandbox none or full-access. With sandbox read-only, it accepts the approval ask, ask-dangerous or auto-all.',
    ],
  ])('a policy that the agent cannot enforce: %j', async (policy, accepted) => {
    const { code, err } = await refusal('run', 'claude', 'hi', ...policy)
    expect(err).toMatch(/is not supported by claude: .+ \(unsupported_option\)\n/)
    expect(err).toContain(`${accepted}\n`)
    expect(code).toBe(2)
  })

  test('a configuration with a line that is wrong', async () => {
    const config = join(home.path, 'wrong.json')
    writeFileSync(config, '{\n  "timeouts": { "drainMs": 1 },\n  "agnts": {}\n}')
    const { code, err } = await refusal('ls', '--config', config)
    expect(err).toContain(`configuration (${config}, line 3): `)
    expect(code).toBe(2)
    writeFileSync(config, '{\n  "timeouts": {},\n')
    expect((await refusal('ls', '--config', config)).err).toMatch(
      /wrong\.json\): not valid JSON: .*\(line 3 /,
    )
  })

  test('a Host that the server does not have', async () => {
    const address = readFileSync(join(home.data, 'address'), 'utf8').trim()
    const call = request(`${address}/v1/sessions`, { headers: { host: 'agents.example.com' } }).end()
    const [response] = await once(call, 'response')
    expect(response.statusCode).toBe(403)
    expect(JSON.parse(await text(response))).toMatchObject({
      detail: 'this Host is not allowed: "agents.example.com"',
      advice: expect.stringContaining('have the operator add the name to `hosts`'),
    })
  })

  test('a token that the server does not accept', async () => {
    const file = join(home.data, 'token')
    copyFileSync(file, join(home.path, 'token'))
    writeFileSync(file, `${newToken()}\n`)
    const refused = [await refusal('ls')]
    const port = new URL(readFileSync(join(home.data, 'address'), 'utf8').trim()).port
    refused.push(await refusal('open', '--print', '--port', port))
    const { out } = await home.mainstem(['doctor'])
    copyFileSync(join(home.path, 'token'), file)
    for (const { code, err } of refused) {
      expect(err).toContain(
        `the server that runs does not accept the token in ${file} (unauthorized)\nStop that`,
      )
      expect(code).toBe(7)
    }
    expect(out).toContain('✖ daemon     cannot be used: the server that runs does not accept the token')
  })

  test.each([
    ['a data directory that others can write to', 0o777, undefined, 'chmod 700'],
    ['a token that is none', 0o700, 'short', 'Delete it; the next start creates a token.'],
  ])('%s', async (name, mode, token, fix) => {
    const data = join(home.path, name.replaceAll(' ', '-'))
    mkdirSync(data)
    chmodSync(data, mode)
    if (token !== undefined) writeFileSync(join(data, 'token'), token, { mode: 0o600 })
    const { code, err } = await refusal('ls', '--data', data)
    expect(err).toContain(fix)
    expect(code).toBe(5)
  })

  const program = (name: string, text: string) => {
    const path = join(home.path, name)
    writeFileSync(path, text, { mode: 0o755 })
    const config = `${path}.json`
    writeFileSync(config, JSON.stringify({ agents: { claude: { command: [path] } } }))
    return ['run', 'claude', 'hi', '--ephemeral', '--config', config]
  }

  test.each([
    [
      'an interpreter that does not exist',
      () => program('lost', '#!/no/such/node\n'),
      /lost needs \/no\/such\/node, which does not exist \(agent_not_ready\)\n +Install \/no\/such\/node/,
      6,
    ],
    [
      'an interpreter that is not in PATH',
      () => program('lost-env', '#!/usr/bin/env no-such-node\n'),
      /lost-env needs no-such-node, which is not in PATH \(agent_not_ready\)\n +Install no-such-node[\s\S]*daemon stop/,
      6,
    ],
    [
      'an agent that ends at its start',
      () => program('broken', '#!/bin/sh\necho "no module foo" >&2\nexit 1\n'),
      /no module foo \(unknown\)\n +The agent ended at its start\. Run its program/,
      1,
    ],
    [
      'an agent that crashes',
      () => program('crash', '#!/bin/sh\nkill -SEGV $$\n'),
      /\(signal SIGSEGV\) \(protocol_error\)\n +The agent crashed/,
      1,
    ],
    [
      'a program that the configuration names and that does not exist',
      () => {
        const args = program('gone', '')
        rmSync(join(home.path, 'gone'))
        return args
      },
      /there is no program \S+gone \(agent_not_found\)\n +Correct `agents\.claude\.command`/,
      6,
    ],
    [
      'an agent without a program',
      () => ['run', 'acp', 'hi'],
      /Any ACP agent has no command \(agent_not_found\)\n +Set `agents\.acp\.command`/,
      6,
    ],
  ])('%s', async (_, args, expected, exit) => {
    const { code, err } = await refusal(...args())
    expect(err).toMatch(expected)
    expect(code).toBe(exit)
  })

  test.each([
    [['run', 'echo', 'hi', '--cwd', '/no/such'], '--cwd: /no/such does not exist', 'Check the path.'],
    [
      ['compare', 'echo,echo', 'hi', '--cwd', '/no/such'],
      '--cwd: /no/such does not exist',
      'Check the path.',
    ],
    [
      ['run', 'echo', 'hi', '--cwd', '/dev/null'],
      '--cwd: /dev/null is not a directory',
      'Name the directory',
    ],
    [['run', 'claude', 'hi', '--schema', '/no/such'], '--schema: /no/such does not exist', 'Check the path.'],
    [['run', 'claude', 'hi', '--image', '/no.png'], '--image: /no.png does not exist', 'Check the path.'],
    [['import', '/no/such'], '/no/such does not exist', 'Check the path.'],
    [['import', '/'], '/ is a directory', 'Name a file.'],
    [['decode', '--agent', 'claude', '/no/such'], '/no/such does not exist', 'Check the path.'],
    [
      ['decode', '--agent', 'claude', '/dev/null', '--exit', '/no/such'],
      '--exit: /no/such does not exist',
      'Ch',
    ],
    [['ls', '--config', '/no/such'], 'configuration (/no/such): no such file', 'Check the path in --config'],
    [['serve', '--cwd', '/no/such'], 'configuration: roots: no such directory /no/such', 'Create it, or'],
  ])('a path that cannot be used: %j', async (args, message, advice) => {
    const { code, err } = await refusal(...args)
    expect(err).toContain(`mainstem: ${message} (invalid_request)\n${advice}`)
    expect(code).toBe(2)
  })

  test.each([
    [['run'], "error: missing required argument 'agent'\nUsage: mainstem run [options] <agent> [prompt]\n"],
    [['ls', '--fast'], "error: unknown option '--fast'\nUsage: mainstem ls [options]\n"],
    [
      ['sotp'],
      "error: unknown command 'sotp'\n(Did you mean stop?)\nList the commands with `mainstem --help`.\n",
    ],
  ])('a command line that is wrong: %j', async (args, message) => {
    const { code, err } = await refusal(...args)
    expect(err).toContain(message)
    expect(code).toBe(2)
  })

  test('a directory that was deleted', async () => {
    const line = `mkdir gone && cd gone && rmdir ../gone && ${process.execPath} ${MAIN} doctor`
    const { stderr } = await promisify(execFile)('sh', ['-c', `${line}; true`], {
      cwd: home.path,
      env: home.env,
    })
    expect(stderr).toContain(
      'the current directory was deleted (invalid_request)\nChange to another directory.',
    )
  })

  test.each([
    ['below a file', '/dev/null/data', '/dev/null is not a directory'],
    ['with a name that is too long', `/tmp/${'x'.repeat(300)}`, 'the path is too long'],
  ])('a data directory %s', async (_, data, why) => {
    const { code, err } = await refusal('ls', '--data', data)
    expect(err).toContain(`mainstem: ${data} cannot be written: ${why}`)
    expect(err).toContain('(storage_failed)\nName a data directory that you can write to with --data')
    expect(code).toBe(1)
  })

  test('a data directory that cannot be created, in doctor', async () => {
    const { code, out } = await home.mainstem(['doctor', '--data', '/dev/null/data'])
    expect(out).toMatch(/✖ data +\/dev\/null\/data cannot be written: \/dev\/null is not a directory/)
    expect(code).toBe(1)
  })

  test('a full store', async () => {
    const data = join(home.path, 'small')
    mkdirSync(data, { mode: 0o700 })
    const config = join(home.path, 'small.json')
    writeFileSync(config, JSON.stringify({ data, maxBytes: 200_000 }))
    const prompt = 'too long '.repeat(50_000)
    const { code, out, err } = await home.mainstem(['run', 'echo', '--config', config], prompt)
    expect(err).toMatch(/database or disk is full \(storage_failed\)\n.*disk space/)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    await home.mainstem(['daemon', 'stop', '--config', config])
  })
})
