import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Reply } from '../../src/testing/index.ts'
import { ask, CLIENTS, post, saying, streamed, WAYS } from './ask.ts'

const SAID: Reply = {
  thinking: 'First this.',
  text: 'Then that.',
  calls: [
    { name: 'Bash', input: { command: 'echo one' } },
    { name: 'Bash', input: { command: 'echo two', nested: [{ quote: '"' }] } },
  ],
}

describe.each(WAYS)('%s', (_name, client, streaming) => {
  it('says thinking, text and calls as the script has them, in the shape of the vendor', async () => {
    await using model = await saying(SAID)
    const heard = await ask(model, client, { streaming })
    expect(heard).toMatchObject({ thinking: SAID.thinking, text: SAID.text })
    expect(heard.calls.map(({ name, input }) => ({ name, input }))).toEqual(SAID.calls)
    expect(heard.stop).toBe(client.stops.tools)
  })

  it('gives every call a unique id, also a repeated one', async () => {
    await using model = await saying(SAID)
    const heard = [await ask(model, client, { streaming }), await ask(model, client, { streaming })]
    const ids = heard.flatMap(({ calls }) => calls.map(({ id }) => id))
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(4)
  })

  it('reports the tokens of the script in the figures of the vendor', async () => {
    const usage = { input: 70, cacheRead: 30, output: 20, reasoning: 5 }
    await using model = await saying({ text: 'x', usage })
    expect((await ask(model, client, { streaming })).usage).toEqual(client.usage)
  })

  it.each(['end', 'length', 'refusal'] as const)('stops for the reason %s', async (stop) => {
    await using model = await saying({ text: 'x', stop })
    expect((await ask(model, client, { streaming })).stop).toBe(client.stops[stop])
  })
})

describe.each(Object.values(CLIENTS))('$name', (client) => {
  it('streams a text in as many pieces as the script wants', async () => {
    await using model = await saying({ text: 'abcdefg', deltas: 7 })
    const { pieces } = await ask(model, client)
    expect(pieces).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  it('returns the same in a stream and as a whole, for every script', async () => {
    const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 })
    const anyReply = fc.record(
      {
        thinking: anyText,
        text: anyText,
        deltas: fc.integer({ min: 1, max: 9 }),
        calls: fc.array(
          fc.record({ name: fc.constant('Bash'), input: fc.dictionary(fc.string(), fc.jsonValue()) }),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: ['text'] },
    )
    await fc.assert(
      fc.asyncProperty(anyReply, async (reply) => {
        await using model = await saying(reply)
        const parts = await ask(model, client)
        const whole = await ask(model, client, { streaming: false })
        const inputs = (heard: typeof whole) => heard.calls.map(({ input }) => input)
        expect(parts.text).toBe(reply.text)
        expect(parts.pieces.join('')).toBe(reply.text)
        expect(whole.text).toBe(parts.text)
        expect(whole.thinking).toBe(parts.thinking)
        expect(parts.thinking).toBe(reply.thinking ?? '')
        expect(inputs(whole)).toEqual(inputs(parts))
        expect(inputs(parts)).toEqual(
          JSON.parse(JSON.stringify(reply.calls?.map(({ input }) => input) ?? [])),
        )
      }),
      { numRuns: 20 },
    )
  })

  it.each([400, 401, 403, 404, 429, 500, 503, 529])(
    'refuses with %i in the words of the vendor',
    async (status) => {
      await using model = await saying({ faults: [{ kind: 'status', status, message: `no, ${status}` }] })
      const response = await post(model, client)
      expect(response.status).toBe(status)
      expect(client.problem(await response.json())).toBe(`no, ${status}`)
      expect(response.headers.get('retry-after')).toBeNull()
    },
  )

  it('says when to come back', async () => {
    await using model = await saying({ faults: [{ kind: 'status', status: 429, retryAfterSeconds: 7 }] })
    const response = await post(model, client)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(client.problem(await response.json())).not.toBe('')
  })

  it('refuses with the headers of the script', async () => {
    await using model = await saying({
      faults: [{ kind: 'status', status: 429, headers: { 'x-reset': '1795117459' } }],
    })
    expect((await post(model, client)).headers.get('x-reset')).toBe('1795117459')
  })

  it('sends another error body where the script has one', async () => {
    await using model = await saying({
      faults: [{ kind: 'status', status: 429, body: { error: { code: 'insufficient_quota' } } }],
    })
    const response = await post(model, client)
    expect(await response.json()).toEqual({ error: { code: 'insufficient_quota' } })
  })

  it('escapes the separators that some programs take for the end of a line', async () => {
    await using model = await saying({ text: 'a\u2028b\u2029c', deltas: 1 })
    const response = await post(model, client)
    const bytes = await response.text()
    expect(bytes).not.toMatch(/[\u2028\u2029]/)
    expect(client.stream(streamed(bytes)).text).toBe('a\u2028b\u2029c')
  })
})

describe('a stream of Anthropic Messages', () => {
  it('opens, fills and closes one block after the other', async () => {
    await using model = await saying({
      thinking: 't',
      text: 'x',
      calls: [{ name: 'Bash', input: {} }],
      deltas: 1,
    })
    const response = await post(model, CLIENTS.messages)
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop']
    expect(streamed(await response.text()).map(({ event }) => event)).toEqual([
      'message_start',
      'ping',
      // The signature of the thinking.
      ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
      ...block,
      ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
      'message_delta',
      'message_stop',
    ])
  })
})

describe('free text for a tool', () => {
  it('goes to Codex as a call of its own kind', async () => {
    await using model = await saying({ calls: [{ name: 'apply_patch', input: '*** Begin Patch' }] })
    const heard = [
      await ask(model, CLIENTS.responses),
      await ask(model, CLIENTS.responses, { streaming: false }),
    ]
    for (const { calls } of heard)
      expect(calls).toMatchObject([{ name: 'apply_patch', input: '*** Begin Patch' }])
  })
})
