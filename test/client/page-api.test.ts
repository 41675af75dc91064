import { describe, expect, it } from 'vitest'
import { type ConnectionState, MainstemClient } from '../../src/client/index.ts'
import { able, script, success, text } from '../gateway/puppet.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { quick } from './scene.ts'

const clientOf = (server: TestGateway) =>
  new MainstemClient({ baseUrl: server.url, token: TOKEN, timers: quick })

describe('calls of the page to the client', () => {
  it('names the server, its agents and the usage', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    expect(await client.server()).toMatchObject({ principal: 'owner', cwd: server.root, version: '0.0.0' })
    expect(await client.agents()).toEqual([])
    expect((await client.usage()).total).toEqual({ sessions: 0, turns: 0, usage: {} })
    expect(await client.ticket()).toMatch(/^[\w.-]{43,}$/)
    await client.signIn({ ticket: await client.ticket() })
    await client.signOut()
  })

  it('reads a log page by page, with raw frames and in other dialects', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const { id } = await client.begin({ agent: 'puppet', prompt: script(text('a', 'one'), success) })
    await server.sessions.get(id)?.settled(1)
    const first = await client.page(id, { limit: 2 })
    expect(first.entries?.map(({ seq }) => seq)).toEqual([1, 2])
    const texts = await client.page(id, { after: Number(first.next), types: ['text.completed'], raw: true })
    expect(texts.entries).toMatchObject([{ event: { text: 'one' }, raw: expect.stringContaining('one') }])
    const { messages } = await client.page(id, { dialect: 'ues' })
    expect(messages).not.toEqual([])
    expect(await client.coverage(id)).toMatchObject({ unaccounted: 0 })
    expect(await client.search('one', { limit: 1 })).toMatchObject({
      hits: [{ session: id, type: 'text.completed' }],
      complete: true,
    })
  })

  it('steers a turn and changes model and mode', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const { id } = await client.begin({ agent: able.id, prompt: script({ ...success, wait: true }) })
    await server.gate.reached()
    await client.steer(id, 'use tabs')
    expect(await client.setModel(id, 'large')).toMatchObject({ applied: 'now' })
    const policy = { approval: 'auto-edit', sandbox: 'none' } as const
    expect(await client.setMode(id, { policy })).toMatchObject({ id, policy })
    await server.gate.open()
    await server.sessions.get(id)?.settled(1)
  })

  it('follows all sessions live, and reports its connection', async () => {
    await using server = await startGateway()
    const client = clientOf(server)
    const stop = new AbortController()
    const states: ConnectionState[] = []
    const opened = Promise.withResolvers<void>()
    const onConnection = (state: ConnectionState) => {
      states.push(state)
      if (state === 'open') opened.resolve()
    }
    const live = client.live({ types: ['turn.completed'], signal: stop.signal, onConnection })
    const first = live.next()
    await opened.promise
    const { id } = await client.begin({ agent: 'puppet', prompt: script(text('a', 'one'), success) })
    const { value } = await first
    expect(value).toMatchObject({ session: id, event: { type: 'turn.completed' } })
    expect(value?.cursor).toMatch(/^[0-9a-f]{8}-\d+$/)
    stop.abort()
    await expect(live.next()).rejects.toThrow()
    expect(states).toEqual(['connecting', 'open', 'closed'])
  })

  it('misses nothing when it is cut off before its first entry', async () => {
    await using server = await startGateway()
    let cut = false
    const client = new MainstemClient({
      baseUrl: server.url,
      token: TOKEN,
      timers: quick,
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        if (cut || !url.includes('/v1/events')) return response
        cut = true
        await response.body?.cancel()
        await clientOf(server).begin({ agent: 'puppet', prompt: script(text('a', 'one'), success) })
        return new Response(null, { headers: response.headers })
      },
    })
    const stop = new AbortController()
    const live = client.live({ types: ['session.started'], signal: stop.signal })
    expect((await live.next()).value).toMatchObject({ seq: 1, event: { type: 'session.started' } })
    stop.abort()
    await live.return()
  })
})
