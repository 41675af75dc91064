import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { SCENARIOS, scriptedModel } from '../../src/testing/index.ts'
import { ask, CLIENTS, post, prompt, SHELL, saying, WAYS } from './ask.ts'
import { CLAUDE } from './offered.ts'

describe('the scripted model', () => {
  it('listens on this machine only', async () => {
    await using model = await scriptedModel()
    const { hostname, port } = new URL(model.url)
    expect(hostname).toBe('127.0.0.1')
    const reach = (host: string) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host, port: Number(port) })
        socket.once('connect', () => resolve('connected'))
        socket.once('error', (error) => resolve('code' in error ? String(error.code) : error.message))
        socket.once('close', () => socket.destroy())
      })
    // A server on all addresses would answer here as well.
    expect(await reach('127.0.0.2')).toBe('ECONNREFUSED')
    expect(await reach('127.0.0.1')).toBe('connected')
  })

  it('separates concurrent conversations', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `s${index}`)
    const scenarios = Object.fromEntries(
      names.map((name) => [name, { replies: [{ text: `this is ${name}`, deltas: 5 }] }]),
    )
    await using model = await scriptedModel({ scenarios })
    const heard = await Promise.all(
      names.flatMap((name) =>
        WAYS.map(([, client, streaming]) =>
          ask(model, client, { turns: prompt(`SCENARIO:${name}`), streaming }),
        ),
      ),
    )
    expect(heard.map(({ text }) => text)).toEqual(names.flatMap((name) => WAYS.map(() => `this is ${name}`)))
    expect(model.requests).toHaveLength(names.length * WAYS.length)
  })

  it('shares no ids with another one, so that a conversation may move', async () => {
    const ids = async () => {
      await using model = await scriptedModel()
      const { calls } = await ask(model, CLIENTS.messages, { turns: prompt('SCENARIO:parallel') })
      return calls.map(({ id }) => id)
    }
    const seen = [...(await ids()), ...(await ids())]
    expect(seen).toHaveLength(4)
    expect(new Set(seen).size).toBe(4)
  })

  it('ends what is stalled when it is closed', async () => {
    const model = await saying({ text: 'x', faults: [{ kind: 'stall' }] })
    const heard = ask(model, CLIENTS.chat).then(
      () => 'whole',
      () => 'broken',
    )
    await model.waitFor(() => true)
    await model.close()
    expect(await heard).toBe('broken')
    await expect(post(model, CLIENTS.chat)).rejects.toThrow('fetch failed')
  })

  it('drops a client that disconnected, and serves the next', async () => {
    await using model = await saying({ text: 'x', faults: [{ kind: 'stall', times: 1 }] })
    const leave = new AbortController()
    const heard = post(model, CLIENTS.chat, { signal: leave.signal }).then((response) => response.text())
    await model.waitFor(() => true)
    leave.abort()
    await expect(heard).rejects.toThrow('aborted')
    expect((await ask(model, CLIENTS.chat)).text).toBe('x')
  })

  it('counts tokens', async () => {
    await using model = await scriptedModel()
    const count = async (path: string) => {
      const response = await fetch(model.url + path, { method: 'POST', body: '{"messages":[]}' })
      return response.json()
    }
    expect(await count('/v1/messages/count_tokens?beta=true')).toEqual({ input_tokens: 4 })
    expect(await count('/v1beta/models/a-model:countTokens')).toEqual({ totalTokens: 4 })
  })

  it('lists a model', async () => {
    await using model = await scriptedModel()
    const response = await fetch(`${model.url}/v1/models`)
    expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'scripted' }] })
  })

  it('refuses what is no JSON in the words of the vendor, and what it does not know', async () => {
    await using model = await scriptedModel()
    for (const client of Object.values(CLIENTS)) {
      const response = await fetch(model.url + client.path(true), { method: 'POST', body: '[1' })
      expect(response.status).toBe(400)
      expect(client.problem(await response.json())).toBe('The body is not a JSON object.')
    }
    for (const [method, path] of [['GET', '/v1/messages'] as const, ['POST', '/v1/nothing'] as const]) {
      const response = await fetch(model.url + path, { method })
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({
        error: { message: `Nothing is scripted at ${method} ${path}.` },
      })
    }
  })
})

describe('a recorded request', () => {
  it('has its path, body, time and place in the script, and no secret', async () => {
    await using model = await scriptedModel()
    const before = Date.now()
    await ask(model, CLIENTS.chat, { turns: prompt('SCENARIO:text') })
    const [request] = model.requests
    expect(request).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      body: CLIENTS.chat.body(prompt('SCENARIO:text'), [SHELL], true),
      place: { scenario: 'text', reply: 0, attempt: 1 },
      headers: { authorization: '<redacted>', 'x-api-key': '<redacted>', 'content-type': 'application/json' },
    })
    expect(request?.at.getTime()).toBeGreaterThanOrEqual(before)
    expect(JSON.stringify(request)).not.toContain('secret')
  })

  it('has the usage of its answer, unless the answer does not arrive', async () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 1 }
    const replies = [{ text: 'x', usage, faults: [{ kind: 'status', status: 500, times: 1 } as const] }]
    await using model = await scriptedModel({ scenarios: { x: { replies } } })
    await ask(model, CLIENTS.chat, { turns: prompt('SCENARIO:x') }).catch(() => undefined)
    await ask(model, CLIENTS.chat, { turns: prompt('SCENARIO:x') })
    expect(model.requests.map((request) => request.usage)).toEqual([undefined, usage])
  })

  it('has no key in its path either', async () => {
    await using model = await scriptedModel()
    await fetch(`${model.url}/v1beta/models/m:countTokens?alt=json&key=secret`, { method: 'POST' })
    expect(model.requests[0]?.path).toBe('/v1beta/models/m:countTokens?alt=json&key=%3Credacted%3E')
  })

  it('has its text where that is no JSON, and no place where it is no part of a scenario', async () => {
    await using model = await scriptedModel()
    await fetch(`${model.url}/anything`, { method: 'POST', body: 'just text' })
    await ask(model, CLIENTS.gemini, { turns: prompt('hello') })
    expect(model.requests.map(({ body, place }) => [typeof body, place])).toEqual([
      ['string', undefined],
      ['object', undefined],
    ])
  })
})

describe('waiting for a request', () => {
  const isNews = ({ path }: { path: string }) => path === '/news'

  it('finds one that has come, and one that is still to come', async () => {
    await using model = await scriptedModel()
    const waiting = model.waitFor(isNews)
    await fetch(`${model.url}/old`)
    await fetch(`${model.url}/news`)
    expect((await waiting).path).toBe('/news')
    expect(await model.waitFor(({ path }) => path === '/old')).toBe(model.requests[0])
  })

  it('ends when its signal says so', async () => {
    await using model = await scriptedModel()
    const stop = new AbortController()
    const waiting = model.waitFor(isNews, stop.signal)
    stop.abort(new TypeError('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(model.waitFor(isNews, stop.signal)).rejects.toThrow('enough')
  })

  it('ends when the model is closed', async () => {
    const model = await scriptedModel()
    const waiting = model.waitFor(isNews)
    await model.close()
    const refused = { name: 'MainstemError', code: 'connection_failed' }
    await expect(waiting).rejects.toMatchObject(refused)
    await expect(model.waitFor(isNews)).rejects.toMatchObject(refused)
  })

  it('fails with the condition, and the one who asked is served', async () => {
    await using model = await scriptedModel()
    const waiting = model.waitFor(() => {
      throw new TypeError('a mistake')
    })
    const failed = expect(waiting).rejects.toThrow('a mistake')
    expect((await ask(model, CLIENTS.chat, { turns: prompt('SCENARIO:thinking') })).text).toBe('It is 42.')
    await failed
  })
})

describe('every ready-made scenario', () => {
  it.each(Object.entries(SCENARIOS))('%s answers the first call', async (name) => {
    await using model = await scriptedModel()
    const leave = new AbortController()
    const asking = { turns: prompt(`SCENARIO:${name}`), tools: CLAUDE, signal: leave.signal }
    const answered = post(model, CLIENTS.messages, asking).then(
      ({ status }) => status,
      () => 'dropped' as const,
    )
    const { place } = await model.waitFor(() => true)
    expect(place).toEqual({ scenario: name, reply: 0, attempt: 1 })
    expect([200, 401, 403, 404, 429, 500, 529, 'dropped']).toContain(await answered)
    leave.abort()
  })
})
