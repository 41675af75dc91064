import { describe, expect, it } from 'vitest'
import type { Fault, ScriptedModel } from '../../src/testing/index.ts'
import { ask, CLIENTS, post, prompt, saying, streamed, WAYS } from './ask.ts'

const TEXT = 'abcdefgh'

/** A model whose answer goes wrong in this way. */
function failing(...faults: Fault[]): Promise<ScriptedModel> {
  return saying({ text: TEXT, deltas: 8, faults })
}

/** What arrives before the body ends or breaks. */
async function readSome(response: Response): Promise<{ text: string; broken: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true })
    return { text, broken: false }
  } catch {
    return { text, broken: true }
  }
}

/** The pieces of the text that are in a stream, whatever its API. */
const letters = (text: string) =>
  [...text.matchAll(/"(?:text|delta|content)":"([a-h])"/g)].map(([, letter]) => letter).join('')

describe.each(WAYS)('%s', (_name, client, streaming) => {
  const asking = { streaming }

  it('a connection that drops early never answers', async () => {
    await using model = await failing({ kind: 'drop', after: 0 })
    await expect(post(model, client, asking)).rejects.toThrow('fetch failed')
  })

  it('a connection that drops in the middle breaks the body', async () => {
    await using model = await failing({ kind: 'drop' })
    const { text, broken } = await readSome(await post(model, client, asking))
    expect(broken).toBe(true)
    expect(text).not.toBe('')
  })

  it('a truncated answer ends as if it were whole, and is not', async () => {
    await using model = await failing({ kind: 'truncate' })
    const { text, broken } = await readSome(await post(model, client, asking))
    expect(broken).toBe(false)
    expect(() => (streaming ? client.stream(streamed(text)) : client.whole(JSON.parse(text)))).toThrow()
  })

  it('a garbled answer has one message that is no JSON', async () => {
    await using model = await failing({ kind: 'garble' })
    const { text, broken } = await readSome(await post(model, client, asking))
    expect(broken).toBe(false)
    if (!streaming) {
      expect(() => JSON.parse(text)).toThrow(SyntaxError)
      return
    }
    const isJson = ({ data }: { data: string }) => {
      try {
        return JSON.parse(data) !== undefined
      } catch {
        return data === '[DONE]'
      }
    }
    const messages = streamed(text)
    expect(messages.filter((message) => !isJson(message))).toHaveLength(1)
    expect(client.stream(messages.filter(isJson)).text).toBe(TEXT)
  })

  it('a stalled answer is whole once it is released', async () => {
    await using model = await failing({ kind: 'stall' })
    const heard = ask(model, client, asking)
    await model.waitFor(({ place }) => place?.scenario === 'x')
    model.release()
    expect((await heard).text).toBe(TEXT)
  })

  it('an answer that stalls before its headers is whole once it is released', async () => {
    await using model = await failing({ kind: 'stall', after: 0 })
    const heard = ask(model, client, asking)
    await model.waitFor(() => true)
    model.release()
    expect((await heard).text).toBe(TEXT)
  })

  it('a stall for a time ends by itself', async () => {
    await using model = await failing({ kind: 'stall', ms: 1 })
    expect((await ask(model, client, asking)).text).toBe(TEXT)
  })

  it('a fault that happens once is over at the second attempt', async () => {
    await using model = await failing({ kind: 'status', status: 500, times: 1 })
    await expect(ask(model, client, asking)).rejects.toThrow(/^500 /)
    expect((await ask(model, client, asking)).text).toBe(TEXT)
    expect(model.requests.map(({ place }) => place?.attempt)).toEqual([1, 2])
  })

  it('faults come in their order, each as often as it says', async () => {
    await using model = await failing(
      { kind: 'status', status: 500, times: 2 },
      { kind: 'status', status: 429, times: 1 },
    )
    const statuses: number[] = []
    for (let attempt = 0; attempt < 4; attempt++) {
      const response = await post(model, client, asking)
      statuses.push(response.status)
      await response.text()
    }
    expect(statuses).toEqual([500, 500, 429, 200])
  })
})

describe.each(Object.values(CLIENTS))('$name, streamed', (client) => {
  it.each([1, 3, 8])('a drop comes after %i pieces', async (after) => {
    await using model = await failing({ kind: 'drop', after })
    const { text } = await readSome(await post(model, client))
    expect(letters(text)).toBe(TEXT.slice(0, after))
  })

  it('a vendor failure is reported in the stream, which ends with it', async () => {
    await using model = await failing({ kind: 'error', message: 'overloaded, sorry', after: 2 })
    const { text, broken } = await readSome(await post(model, client))
    expect(broken).toBe(false)
    const last = streamed(text).at(-1)
    expect(last && client.failure(last)).toBe('overloaded, sorry')
    expect(letters(text)).toBe('ab')
  })

  it('a failure before the first piece still comes in a stream', async () => {
    await using model = await failing({ kind: 'error', message: 'at once', after: 0 })
    const response = await post(model, client)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const [only, ...rest] = streamed(await response.text())
    expect(only && client.failure(only)).toBe('at once')
    expect(rest).toEqual([])
  })

  it('garbage before the first piece does not spoil the rest', async () => {
    await using model = await failing({ kind: 'garble', after: 0 })
    const response = await post(model, client)
    const [garbage, ...rest] = streamed(await response.text())
    expect(() => JSON.parse(garbage?.data ?? '')).toThrow(SyntaxError)
    expect(client.stream(rest).text).toBe(TEXT)
  })

  it('pieces arrive before a stall, and the rest after it', async () => {
    await using model = await failing({ kind: 'stall', after: 2 })
    const response = await post(model, client)
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      if (letters(text) === 'ab') model.release()
    }
    expect(client.stream(streamed(text)).text).toBe(TEXT)
  })

  it('pieces that are paced take their time', async () => {
    await using model = await saying({ text: TEXT, deltas: 8, paceMs: 5 })
    const before = performance.now()
    expect((await ask(model, client)).text).toBe(TEXT)
    // A timer may be a millisecond early.
    expect(performance.now() - before).toBeGreaterThan(8 * 4)
  })
})

describe('a failure that an answer without a stream cannot tell', () => {
  it.each(Object.values(CLIENTS))('is the status 500 with $name', async (client) => {
    await using model = await failing({ kind: 'error', message: 'sorry' })
    const response = await post(model, client, { streaming: false })
    expect(response.status).toBe(500)
    expect(client.problem(await response.json())).toBe('sorry')
  })
})

describe('faults that happen once', () => {
  it('happen once in each conversation', async () => {
    await using model = await failing({ kind: 'status', status: 500, times: 1 })
    const status = async (text: string) => (await post(model, CLIENTS.chat, { turns: prompt(text) })).status
    expect(await status('SCENARIO:x for me')).toBe(500)
    expect(await status('SCENARIO:x for you')).toBe(500)
    expect(await status('SCENARIO:x for me')).toBe(200)
    expect(await status('SCENARIO:x for you')).toBe(200)
  })
})
