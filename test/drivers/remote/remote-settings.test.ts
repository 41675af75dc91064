import { describe, expect, it } from 'vitest'
import { remoteDriver } from '../../../src/drivers/remote.ts'
import { FakeBoard } from '../fake-board.ts'
import { contextOf } from '../fake-run.ts'
import { LAUNCH, prompt, start } from './remote-runs.ts'

const withEnv = (env: Record<string, string>, environment: Record<string, string> = {}) =>
  remoteDriver({ environment }).start(LAUNCH, contextOf({ env }))

describe('the address of a server', () => {
  it.each([
    [{}, 'set SERVER_URL to the address of the server'],
    [{ SERVER_URL: '' }, 'set SERVER_URL to the address of the server'],
    [{ SERVER_URL: 'board' }, 'SERVER_URL is not an http address'],
    [{ SERVER_URL: 'file:///etc/passwd' }, 'SERVER_URL is not an http address'],
    [{ SERVER_URL: 'http://me:hunter2@127.0.0.1' }, 'SERVER_URL has more than host, port and path'],
    [{ SERVER_URL: 'http://127.0.0.1/?token=hunter2' }, 'SERVER_URL has more than host, port and path'],
    [{ SERVER_URL: 'http://127.0.0.1', SERVER_TOKEN: 'hunter2\n' }, 'SERVER_TOKEN contains characters'],
  ])('%o is refused, and no secret is repeated', async (env, message) => {
    const run = withEnv(env)
    const { error } = await run.exit
    expect(error).toEqual({ code: 'agent_not_ready', message: expect.stringContaining(message) })
    expect(error?.message).not.toContain('hunter2')
  })

  it('may have a path, a slash at its end, or be that of a socket', async () => {
    await using board = await FakeBoard.start()
    for (const url of [`${board.url}/`, `${board.url}/prefix//`, board.url.replace('http', 'ws')]) {
      const { run, read } = start(url)
      board.instead.push({ path: /POST/, answer: [401, {}] })
      await prompt(run)
      await read
    }
    expect(board.heard.map(({ path }) => path)).toEqual([
      '/api/sessions',
      '/prefix/api/sessions',
      '/api/sessions',
    ])
  })

  it('comes from the configuration, otherwise from the environment', async () => {
    await using configured = await FakeBoard.start()
    await using inherited = await FakeBoard.start()
    for (const board of [configured, inherited]) board.end('done')
    const ours = { SERVER_URL: inherited.url, SERVER_TOKEN: 'ours' }
    for (const env of [{ SERVER_URL: configured.url }, {}]) {
      const run = withEnv(env, ours)
      await prompt(run)
      await run.exit
    }
    expect(configured.asked(/POST/)).toMatchObject([{ token: 'Bearer ours' }])
    expect(inherited.asked(/POST/)).toMatchObject([{ token: 'Bearer ours' }])
  })
})

describe('the body of the opening call', () => {
  it('is the request, with the fields that the configuration overrides', async () => {
    await using board = await FakeBoard.start()
    board.end('done')
    const asked = { agentId: 'claude', projectId: 'p', prompt: 'Go' }
    for (const env of [{}, { SERVER_AGENT: 'codex', SERVER_PROJECT: 'nobody asks for this' }]) {
      const run = withEnv({ SERVER_URL: board.url, ...env })
      await prompt(run)
      await run.exit
    }
    expect(board.asked(/POST/).map(({ body, token }) => [body, token])).toEqual([
      [asked, undefined],
      [{ ...asked, agentId: 'codex' }, undefined],
    ])
  })
})
