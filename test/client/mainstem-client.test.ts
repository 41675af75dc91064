import { describe, expect, it } from 'vitest'
import { MainstemClient, MainstemError } from '../../src/client/index.ts'
import { ASKS, script, success, text } from '../gateway/puppet.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { collect, quick } from './scene.ts'

const clientOf = (server: TestGateway, token = TOKEN) =>
  new MainstemClient({ baseUrl: server.url, token, timers: quick })

describe('the client of our own API', () => {
  it('begins a session once for a key, and follows its log to the end', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const request = { agent: 'puppet', prompt: script(text('a', 'one'), success) }
    const { id, turn } = await client.begin(request, 'key')
    expect(turn).toBe(1)
    expect((await client.begin(request, 'key')).id).toBe(id)
    const types: string[] = []
    for await (const { event } of client.entries(id)) {
      types.push(event.type)
      if (event.type === 'turn.completed' && event.turn === 1)
        expect(await client.prompt(id, script(text('b', 'two'), success))).toBe(2)
      if (event.type === 'turn.completed' && event.turn === 2) await client.end(id)
    }
    expect(types.filter((type) => type === 'text.completed')).toHaveLength(2)
    expect(types.at(-1)).toBe('session.ended')
    const all = await collect(client.entries(id))
    expect(await collect(client.entries(id, { after: 3 }))).toEqual(all.slice(3))
    expect(await collect(client.entries(id, { after: all.length })), 'nothing is left').toEqual([])
  })

  it('sends a prompt once for a key', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const { id } = await client.begin({ agent: 'echo' })
    const turns = [1, 2].map(() => client.prompt(id, 'hello', undefined, 'key'))
    expect(await Promise.all(turns)).toEqual([1, 1])
    expect(await client.prompt(id, 'hello', undefined, 'another')).toBe(2)
  })

  it('lists sessions, interrupts a turn, and removes what is no longer wanted', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const { id } = await client.begin({ agent: 'puppet', prompt: script({ ...success, wait: true }) })
    await server.gate.reached()
    expect((await client.interrupt(id)).lastOutcome).toBe('interrupted')
    expect((await client.sessions({ status: 'idle' })).sessions.map((one) => one.id)).toEqual([id])
    expect((await client.sessions({ asking: true, limit: 1 })).sessions).toEqual([])
    await client.delete(id)
    await expect(client.session(id)).rejects.toMatchObject({ code: 'session_not_found' })
    await expect(collect(client.entries(id))).rejects.toMatchObject({ code: 'session_not_found' })
  })

  it('answers a request once, and rejects a late answer', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const { id } = await client.begin({ agent: 'puppet', prompt: ASKS })
    for await (const { event } of client.entries(id)) if (event.type === 'request.opened') break
    const [open] = await client.requests()
    if (!open) throw new Error('there is a request')
    expect(open).toMatchObject({ session: id, agent: 'puppet', request: { requestId: 'r1' } })
    const { inputDigest } = open.request
    const wrong = client.answer(id, 'r1', { decision: 'allow', inputDigest: 'another' })
    await expect(wrong).rejects.toMatchObject({ code: 'conflict' })
    expect((await client.answer(id, 'r1', { decision: 'deny', inputDigest })).requests).toEqual([])
    const late = client.answer(id, 'r1', { decision: 'allow', inputDigest })
    await expect(late).rejects.toMatchObject({
      code: 'conflict',
      details: { winner: { requestId: 'r1', decision: 'deny' } },
    })
  })

  it('throws the code of the server, and knows nothing of what belongs to others', async () => {
    await using server = await startGateway()
    const { id } = await clientOf(server).begin({ agent: 'echo' })
    await expect(clientOf(server, GUEST).session(id)).rejects.toThrow(MainstemError)
    await expect(clientOf(server, GUEST).session(id)).rejects.toMatchObject({ code: 'session_not_found' })
    await expect(clientOf(server, 'x').session(id)).rejects.toMatchObject({ code: 'unauthorized' })
    await expect(clientOf(server).begin({ agent: 'nobody' })).rejects.toMatchObject({
      code: 'agent_not_found',
    })
    const nowhere = new MainstemClient({ baseUrl: 'http://127.0.0.1:1' })
    await expect(nowhere.requests()).rejects.toMatchObject({ code: 'connection_failed' })
  })

  it('stops reading when its signal fires', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const { id } = await client.begin({ agent: 'echo' })
    const leave = new AbortController()
    const reading = (async () => {
      for await (const _ of client.entries(id, { signal: leave.signal })) leave.abort()
    })()
    await expect(reading).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    expect((await client.session(id)).status).toBe('idle')
  })

  it('takes an answer of something else for what it is', async () => {
    const other = new MainstemClient({ fetch: async () => Response.json({ hello: 1 }) })
    await expect(other.session('1')).rejects.toMatchObject({ code: 'protocol_error' })
    await expect(other.requests()).rejects.toMatchObject({ code: 'protocol_error' })
  })
})
