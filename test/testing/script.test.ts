import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModelCall, type ScriptedModel, scriptedModel } from '../../src/testing/index.ts'
import { ask, CLIENTS, prompt, SHELL } from './ask.ts'
import type { Turn } from './clients/client.ts'

let model: ScriptedModel

beforeAll(async () => {
  model = await scriptedModel({
    scenarios: {
      three: {
        replies: [
          { text: 'one', calls: [{ do: 'shell', command: 'a' }] },
          { text: 'two', calls: [{ do: 'shell', command: 'b' }] },
          { text: 'three' },
        ],
      },
      other: { replies: [{ text: 'another' }] },
      text: { replies: [{ text: 'not the ready-made one' }] },
    },
  })
})
afterAll(() => model.close())

const call: Turn = { role: 'assistant', text: 'a call' }
const result: Turn = { role: 'tool', text: 'a result' }

describe.each(Object.values(CLIENTS))('with $name', (client) => {
  const hear = async (...turns: Turn[]) => (await ask(model, client, { turns })).text

  it('the history of the conversation selects the next reply', async () => {
    const start = prompt('SCENARIO:three')
    expect(await hear(...start)).toBe('one')
    expect(await hear(...start, call, result)).toBe('two')
    expect(await hear(...start, call, result, call, result)).toBe('three')
  })

  it('a call that is repeated gets the same reply', async () => {
    const turns = [...prompt('SCENARIO:three'), call, result]
    expect([await hear(...turns), await hear(...turns), await hear(...turns)]).toEqual(['two', 'two', 'two'])
  })

  it('several results of one reply count as one turn', async () => {
    expect(await hear(...prompt('SCENARIO:three'), call, result, result, result)).toBe('two')
  })

  it('a reply in several messages counts as one turn', async () => {
    expect(await hear(...prompt('SCENARIO:three'), call, call, result)).toBe('two')
  })

  it('after the last reply nothing more is scripted', async () => {
    const turns = [call, result, call, result, call]
    expect(await hear(...prompt('SCENARIO:three'), ...turns, ...prompt('go on'))).toBe(
      'Nothing more is scripted.',
    )
  })

  it('a prompt without a marker continues the scenario', async () => {
    expect(await hear(...prompt('SCENARIO:three'), call, ...prompt('go on'))).toBe('two')
  })

  it('the last marker of the user counts, and starts from the beginning', async () => {
    const turns = [...prompt('SCENARIO:three'), call, result]
    expect(await hear(...turns, ...prompt('now SCENARIO:other'))).toBe('another')
    expect(await hear(...turns, ...prompt('now SCENARIO:three'))).toBe('one')
  })

  it('the last of two markers in one message counts', async () => {
    expect(await hear(...prompt('SCENARIO:three and\nthen SCENARIO:other'))).toBe('another')
  })

  it('a marker counts without a space before it, because a program may add text there', async () => {
    expect(await hear(...prompt('Image read successfullySCENARIO:other'))).toBe('another')
  })

  it.each([
    'Your task is to generate a very short title for a conversation.\n\nSCENARIO:three',
    '[SUGGESTION MODE: Suggest what the user might naturally type next.]',
    'Managed memory has TWO directories. Scan the recent conversation.',
  ])('a side call plays no scenario: %s', async (text) => {
    expect(await hear(...prompt('SCENARIO:three'), call, result, ...prompt(text))).toBe(
      'Hello from the scripted model.',
    )
  })

  it('a marker in a result or in a model answer is ignored', async () => {
    const echoed = [
      { role: 'assistant', text: 'SCENARIO:other' },
      { role: 'tool', text: 'SCENARIO:other' },
    ] satisfies Turn[]
    expect(await hear(...prompt('SCENARIO:three'), ...echoed)).toBe('two')
  })

  it('an endless scenario repeats its last reply', async () => {
    const steps = Array.from({ length: 5 }, () => [call, result]).flat()
    const { text, calls } = await ask(model, client, { turns: [...prompt('SCENARIO:endless'), ...steps] })
    expect(text).toBe('One more step.')
    expect(calls).toHaveLength(1)
  })

  it('without a marker, or with an unknown one, the reply is plain text', async () => {
    expect(await hear(...prompt('hello'))).toBe('Hello from the scripted model.')
    expect(await hear(...prompt('SCENARIO:nowhere'))).toBe('Unknown scenario nowhere.')
    expect(await hear(...prompt('SCENARIO:constructor'))).toBe('Unknown scenario constructor.')
  })

  it('a call without tools makes a title, and is no part of the script', async () => {
    const asking = { turns: prompt('SCENARIO:unauthorized'), tools: [] }
    expect((await ask(model, client, asking)).text).toBe('Hello from the scripted model.')
  })

  it('a scenario of the user stands in the place of a ready-made one', async () => {
    expect(await hear(...prompt('SCENARIO:text'))).toBe('not the ready-made one')
  })
})

describe('a chooser', () => {
  it('sees the call the same for every API, and its word counts', async () => {
    const seen: ModelCall[] = []
    await using chosen = await scriptedModel({
      choose(one) {
        seen.push(one)
        return 'shell'
      },
    })
    const turns = [...prompt('do it'), call, result]
    for (const client of Object.values(CLIENTS)) {
      expect((await ask(chosen, client, { turns })).text).toBe('The command succeeded.')
    }
    expect(seen.map(({ api }) => api)).toEqual(['messages', 'responses', 'chat', 'gemini'])
    for (const { api: _api, system: _system, messages, ...rest } of seen) {
      expect(rest).toEqual({ model: 'a-model', streaming: true, tools: [SHELL] })
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
      expect(messages[0]?.text).toBe('do it')
    }
  })

  it('that fails is reported to the caller', async () => {
    await using broken = await scriptedModel({
      choose() {
        throw new TypeError('no idea')
      },
    })
    await expect(ask(broken, CLIENTS.chat)).rejects.toThrow('500 {"error":{"message":"no idea"}}')
  })
})

describe('a prompt during a turn of Claude Code', () => {
  it('counts, although it stands in a system message', async () => {
    const response = await fetch(`${model.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'a-model',
        tools: [{ name: 'Bash' }],
        messages: [
          { role: 'user', content: 'SCENARIO:three' },
          { role: 'assistant', content: 'a call' },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'a result' }] },
          { role: 'system', content: [{ type: 'text', text: 'The user says: SCENARIO:other' }] },
        ],
      }),
    })
    expect(CLIENTS.messages.whole(await response.json()).text).toBe('another')
  })
})
