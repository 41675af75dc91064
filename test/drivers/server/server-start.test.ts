import { afterEach, describe, expect, it } from 'vitest'
import type { ServerLaunch } from '../../../src/agents/agent.ts'
import type { ChildKeys, Timers } from '../../../src/drivers/driver.ts'
import { driver } from '../../../src/drivers/index.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import { contextOf, expectNothingLeft, readAll } from '../fake-run.ts'
import { fakeServer, Heard, startServer } from './server-runs.ts'

afterEach(expectNothingLeft)

const startOf = (launch: ServerLaunch) => new Heard(driver().start(launch, contextOf()))

describe('the start of a server', () => {
  it.each([
    ['plain', 'stdout'],
    ['stderr', 'stderr'],
  ] as const)(
    'is known by a line of its output (%s), which is a frame as any other',
    async (mode, stream) => {
      const server = startServer(mode)
      await server.until('server.connected')
      expect(server.run.pid).toBeGreaterThan(0)
      expect(server.of('stdout')[0]).toBe(`fake server ${server.run.pid}`)
      expect(server.of(stream).at(-1)).toMatch(/^opencode server listening on http:\/\/127\.0\.0\.1:\d+$/)
      expect(server.of('sse')).toEqual(['{"type":"server.connected"}'])
      await server.run.stop()
      expect(await server.run.exit).toEqual({ signal: 'SIGTERM' })
    },
  )

  it('is awaited: no call is made before the event stream is open', async () => {
    const server = startServer('shy')
    expect(await server.answer('/log')).toMatchObject({
      requests: ['GET /event', 'GET /log'],
      beforeGreeting: 0,
    })
    await server.run.stop()
    await server.run.exit
  })

  it.each([
    ['silent', 'fake server'],
    ['mute', 'listening on'],
  ])('that takes too long is a timeout that quotes the output so far (%s)', async (mode, last) => {
    const late = Promise.withResolvers<void>()
    const timers: Timers = {
      sleep: (ms, signal) => (ms === 12_345 ? late.promise : systemTimers.sleep(ms, signal)),
    }
    const server = startServer(mode, { startMs: 12_345, timers })
    const call = server.run.write({ kind: 'http', method: 'GET', path: '/log' })
    await server.until(last)
    late.resolve()
    const { error, ...exit } = await server.run.exit
    const said = server.of('stdout').join('\n')
    expect(error?.code).toBe('timeout')
    expect(error?.message).toBe(`${process.execPath} was not ready within 12.345 s; it printed: ${said}`)
    expect(exit).toEqual({ signal: 'SIGTERM' })
    await call
    expect(server.of('http')).toEqual([])
  })

  it('that ends in an exit reports the exit, and releases waiting calls', async () => {
    const server = startServer('exit')
    await server.run.write({ kind: 'http', method: 'GET', path: '/log' })
    expect(await server.run.exit).toEqual({ code: 3 })
    expect(server.of('stderr')).toEqual(['no such model'])
  })

  it('fails when there is no event stream', async () => {
    const server = startServer('refuse')
    expect((await server.run.exit).error).toEqual({
      code: 'connection_failed',
      message: 'GET /event returned 500 (no content type) instead of an event stream',
    })
  })

  it('explains a server that answers with a page where its events should be', async () => {
    const server = startOf({ ...fakeServer('page'), absent: 'this is another version' })
    expect((await server.run.exit).error).toEqual({
      code: 'connection_failed',
      message: 'GET /event returned 200 (text/html) instead of an event stream: this is another version',
    })
  })

  it('fails when the announced port is closed', async () => {
    const server = startOf({ ...fakeServer('plain'), listening: /^fake server (\d)/ })
    const { error } = await server.run.exit
    expect(error).toMatchObject({
      code: 'connection_failed',
      message: expect.stringMatching(/^GET http:\/\/127\.0\.0\.1:\d+\/event failed/),
    })
  })

  it('fails when the program does not exist', async () => {
    const { run } = startOf({ ...fakeServer('plain'), argv: ['no-such-program'] })
    await run.write({ kind: 'http', method: 'GET', path: '/log' })
    expect(await readAll(run)).toEqual([])
    expect((await run.exit).error?.code).toBe('agent_not_found')
  })

  it('can be stopped half-way', async () => {
    const server = startServer('silent')
    await server.until('fake server')
    await Promise.all([server.run.stop(), server.run.stop()])
    expect(await server.run.exit).toEqual({ signal: 'SIGTERM' })
  })
})

describe('the password of a server', () => {
  const environmentOf = async (...[mode, options, context]: Parameters<typeof startServer>) => {
    const server = startServer(mode, options, context)
    void server.run.write({ kind: 'http', method: 'GET', path: '/environment', tag: 'environment' })
    const { text } = await server.until('"tag":"environment"')
    await server.run.stop()
    await server.run.exit
    const { env, argv } = JSON.parse(text).body
    return { user: env.OPENCODE_SERVER_USERNAME, password: env.OPENCODE_SERVER_PASSWORD, argv }
  }

  it('is in its environment alone, and never shown', async () => {
    const { user, password, argv } = await environmentOf('plain')
    expect(user).toBe('opencode')
    expect(password).toBe('[masked:43]')
    expect(argv).toEqual([process.execPath, expect.stringMatching(/server\.mjs$/), 'plain'])
  })

  it('cannot be chosen from outside', async () => {
    const theirs = { OPENCODE_SERVER_PASSWORD: 'known', OPENCODE_SERVER_USERNAME: 'somebody' }
    const inherited = await environmentOf('plain', { environment: { ...process.env, ...theirs } })
    expect(inherited).toMatchObject({ user: 'opencode', password: '[masked:43]' })
    const wished = await environmentOf('plain', {}, { env: theirs })
    expect(wished).toMatchObject({ user: 'opencode', password: '[masked:43]' })
  })

  it('is masked wherever the server repeats it', async () => {
    const server = startServer('plain')
    expect(await server.answer('/leak')).toEqual({ password: '[masked:43]' })
    await server.until('header')
    await server.run.stop()
    await server.ended
    expect(server.of('stdout')).toContain('password [masked:43]')
    expect(server.of('stderr')).toEqual(['header Basic [masked:72]'])
    expect(server.values('sse')).toContainEqual({ password: '[masked:43]', login: 'Basic [masked:72]' })
  })

  it('is protected separately from the keys in the environment, which the owner of the server knows', async () => {
    let keys: ChildKeys | undefined
    const protect = (given: ChildKeys) => {
      keys = given
    }
    const server = startServer('plain', {}, { protect })
    await server.until('fake server')
    await server.run.stop()
    await server.run.exit
    expect(keys?.environment).toMatchObject({ OPENCODE_SERVER_USERNAME: 'opencode' })
    expect(keys?.environment).not.toHaveProperty('OPENCODE_SERVER_PASSWORD')
    expect(keys?.login).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      expect.stringMatching(/^[\w+/=]{72}$/),
    ])
  })
})
