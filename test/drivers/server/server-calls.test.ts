import { afterEach, describe, expect, it } from 'vitest'
import { expectNothingLeft, QUICK, readAll } from '../fake-run.ts'
import { type Heard, startServer } from './server-runs.ts'

afterEach(expectNothingLeft)

const get = (path: string) => ({ kind: 'http', method: 'GET', path, tag: path.slice(1) }) as const

/** All that it says until it is stopped. */
async function stopped(server: Heard): Promise<Heard> {
  await server.run.stop()
  await server.ended
  return server
}

describe('a call to a server', () => {
  it('is answered by a frame with its tag, the status and the body', async () => {
    const server = startServer('plain')
    const body = { text: 'ä\u2028"' }
    await server.run.write({ kind: 'http', method: 'POST', path: '/echo', body, tag: 'echo' })
    for (const path of ['/conflict', '/words', '/empty']) await server.run.write(get(path))
    await server.run.write({ kind: 'http', method: 'GET', path: '/nowhere' })
    const { run } = await stopped(server)
    expect(server.values('http')).toEqual([
      { tag: 'echo', status: 200, body: { body, type: 'application/json' } },
      { tag: 'conflict', status: 409, body: { message: 'not now' } },
      { tag: 'words', status: 200, body: 'plain "words"' },
      { tag: 'empty', status: 204, body: '' },
      { status: 404, body: {} },
    ])
    expect(await run.exit).toEqual({ signal: 'SIGTERM' })
  })

  it('waits for the response to the previous one', async () => {
    const server = startServer('plain')
    const paths = ['/slow', '/words', '/slow', '/empty', '/slow']
    await Promise.all([...paths, '/log'].map((path) => server.run.write(get(path))))
    await stopped(server)
    expect(server.values('http').at(-1)).toMatchObject({
      body: { requests: ['/event', ...paths, '/log'].map((path) => `GET ${path}`), mostOpen: 1 },
    })
  })

  it('that takes as long as its work delays no other call, has no time limit, and ends with the server', async () => {
    const server = startServer('plain', { callMs: 200 })
    await server.run.write({ ...get('/never'), isLong: true })
    await server.run.write({ ...get('/slow'), isLong: true })
    await server.run.write(get('/words'))
    await server.until('{"tag":"slow"')
    expect(server.values('http')).toMatchObject([{ tag: 'words' }, { tag: 'slow' }])
    await stopped(server)
    expect(await server.run.exit).toEqual({ signal: 'SIGTERM' })
  })

  it('without a response ends the run, because its effect is unknown', async () => {
    const server = startServer('plain', { callMs: 200 })
    await server.run.write(get('/never'))
    await server.ended
    expect(await server.run.exit).toEqual({
      signal: 'SIGTERM',
      error: { code: 'timeout', message: 'GET /never: no response within 200 ms' },
    })
  })

  it('has a bounded response', async () => {
    const server = startServer('plain')
    await server.run.write(get('/big'))
    expect((await server.run.exit).error).toEqual({
      code: 'protocol_error',
      message: 'GET /big: the response exceeds 16777216 characters',
    })
    expect(server.of('http')).toEqual([])
  })

  it('is dropped when the server is to end', async () => {
    const server = startServer('lingering', { graces: { ...QUICK, SIGTERM: 500 } })
    await server.until('server.connected')
    const ending = server.run.stop()
    await server.run.write(get('/words'))
    await ending
    await server.run.write(get('/words'))
    expect(await server.run.exit).toEqual({ signal: 'SIGKILL' })
    expect(server.of('http')).toEqual([])
  })

  it('is rejected when too many are queued', async () => {
    const { run } = startServer('silent')
    const calls = Array.from({ length: 1_001 }, () => run.write(get('/words')))
    await expect(calls.at(-1)).rejects.toMatchObject({ code: 'overloaded' })
    await run.stop()
    await Promise.all(calls.slice(0, -1))
    await readAll(run)
  })

  it('is the only thing that can be written to it', async () => {
    const { run } = startServer('silent')
    await expect(run.write({ kind: 'text', text: 'x' })).rejects.toMatchObject({ code: 'unsupported_option' })
    await run.stop()
    await run.exit
  })
})
