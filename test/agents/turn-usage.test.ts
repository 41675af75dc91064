import { describe, expect, test } from 'vitest'
import { addUsage, type Usage } from '../../src/model/index.ts'
import { assistant, init, openTalk, result } from './claude/claude-talk.ts'
import { decodeFixture, decodeLines, fixtures } from './fixtures.ts'

function entriesOf(name: string) {
  const fixture = fixtures.find((one) => one.name === name)
  if (!fixture) throw new Error(`no recording is called ${name}`)
  return decodeFixture(fixture).entries
}

/** The total of each turn, with the part of its sub-agents, and what sub-agents used outside a turn. */
function totals(name: string) {
  const entries = entriesOf(name)
  const used = (turn: number | undefined) =>
    entries.flatMap(({ event, turn: of }) =>
      event.type === 'usage.reported' && event.scope === 'subagent' && of === turn ? [event] : [],
    )
  const sum = (usages: readonly Usage[]) => usages.reduce<Usage>((all, one) => addUsage(all, one), {}).total
  const turns = entries.flatMap(({ event }) =>
    event.type === 'turn.completed'
      ? [[event.usage?.total, sum(used(event.turn)), event.usage?.partial]]
      : [],
  )
  return { turns, outside: sum(used(undefined)) }
}

describe('the total of a turn includes its sub-agents', () => {
  // Every figure was read in the recording: the scripted model counts 155, or 120 and 130, tokens a call.
  test.each<[string, [number | undefined, number | undefined, true | undefined][], number?]>([
    ['claude/subagent', [[620, 310, undefined]]],
    ['claude/subagent_forward', [[620, 310, undefined]]],
    ['claude/subagent_bg', [[600, 240, undefined]]],
    ['claude/bidi_perm_subagent', [[480, 240, undefined]]],
    ['codex/as_subagent_v1', [[775, 310, undefined]]],
    // The second call of the child is reported when the turn is over.
    [
      'codex/as_codemode',
      [
        [310, undefined, undefined],
        [465, undefined, undefined],
        [620, 155, undefined],
      ],
      155,
    ],
    ['codex/subagent_v1', [[465, undefined, true]]],
    ['gemini/subagent', [[520, undefined, undefined]]],
    // The second turn is the agent's own, after its sub-agent in the background.
    [
      'acp-qwen/subagent',
      [
        [250, undefined, true],
        [130, undefined, undefined],
      ],
    ],
    ['opencode-serve/subagent', [[500, 250, undefined]]],
    ['opencode/subagent', [[250, undefined, true]]],
    // Its last result, about the background sub-agent, is in the cost and not in the tokens.
    ['acp-claude/subagent', [[490, undefined, true]]],
    // Two turns of 564 tokens each; the program reports 564, then 1128.
    [
      'acp-copilot/usage_twice',
      [
        [564, undefined, undefined],
        [564, undefined, undefined],
      ],
    ],
  ])('%s', (name, turns, outside) => {
    expect(totals(name)).toEqual({ turns, outside })
  })
})

test('Gemini live: a turn with a finished sub-agent has partial usage, and one with a denied sub-agent has not', () => {
  const denied = fixtures.find(({ name }) => name === 'acp-gemini/subagent')
  if (!denied) throw new Error('the recording is not there')
  // The recorded call was denied; here it runs.
  const ran = denied.lines.flatMap((line) => {
    const frame = Object(JSON.parse(line))
    const update = frame.msg.params?.update
    if (update?.status !== 'failed') return [line]
    return ['in_progress', 'completed'].map((status) => {
      const params = { ...frame.msg.params, update: { ...update, status } }
      return `${JSON.stringify({ ...frame, msg: { ...frame.msg, params } })}\n`
    })
  })
  const ends = (lines: readonly string[]) =>
    decodeLines(denied, lines).entries.flatMap(({ event }) =>
      event.type === 'turn.completed' ? [event.usage] : [],
    )
  const counts = { input: 210, output: 40, total: 250 }
  expect(ends(denied.lines)).toEqual([counts])
  expect(ends(ran)).toEqual([{ ...counts, partial: true }])
})

test('OpenCode: cost of a turn is that of all its model calls', () => {
  const end = entriesOf('opencode-serve/subagent').find(({ event }) => event.type === 'turn.completed')
  expect(end?.event).toMatchObject({ usage: { costUsd: 0.000472 } })
})

describe('Claude', () => {
  const models = (inputTokens: number, outputTokens: number) => ({ m: { inputTokens, outputTokens } })

  test('running totals of older versions are subtracted, turn by turn', () => {
    const talk = openTalk()
    talk.hear(result({ usage: { input_tokens: 10, output_tokens: 1 }, modelUsage: models(30, 3) }))
    talk.prompt('again')
    talk.hear(
      init(),
      assistant('m2', { type: 'text', text: 'done' }),
      result({ usage: { input_tokens: 10, output_tokens: 1 }, modelUsage: models(70, 7) }),
    )
    expect(talk.only('turn.completed').map(({ usage }) => usage?.total)).toEqual([33, 44])
  })

  test('a running cost that falls is no negative cost, and the next one is measured from it', () => {
    const talk = openTalk()
    const figures = (cost: number) => ({ usage: { input_tokens: 1, output_tokens: 1 }, total_cost_usd: cost })
    const ends = [0.5, 0.2, 0.3].map((cost, index) => {
      if (index > 0) talk.prompt(`again ${index}`)
      talk.hear(init(), assistant(`m${index}`, { type: 'text', text: 'done' }), result(figures(cost)))
      return talk.only('turn.completed').at(-1)?.usage?.costUsd
    })
    expect(ends.slice(1).map((cost) => cost?.toFixed(2))).toEqual(['0.00', '0.10'])
  })

  test('calls of no sub-agent are in the total and attributed to none', () => {
    const inner = {
      type: 'assistant',
      parent_tool_use_id: 'tA',
      message: { id: 'm1', content: [], usage: { input_tokens: 15, output_tokens: 1 } },
    }
    const figures = {
      usage: { input_tokens: 10, output_tokens: 1 },
      model_usage_since_last_result: models(30, 3),
    }
    const talk = openTalk()
    talk.hear(inner, result(figures))
    expect(talk.only('usage.reported').map(({ scope }) => scope)).toEqual(['turn'])
    talk.prompt('again')
    talk.hear(
      init(),
      assistant('m2', { type: 'text', text: 'done' }),
      { ...inner, message: { ...inner.message, usage: { input_tokens: 20, output_tokens: 1 } } },
      result(figures),
    )
    expect(talk.only('usage.reported').slice(1)).toMatchObject([
      { scope: 'subagent', subagentId: 'tA', input: 20, output: 2, total: 22 },
      { scope: 'turn', total: 33 },
    ])
  })

  test('calls of the permission classifier are in the tokens and in the cost of the turn', () => {
    // The figures of 2.1.326 in auto mode: two calls of the main thread, ten of the classifier.
    const used = (calls: number, costUSD: number) => ({
      inputTokens: calls * 70,
      outputTokens: calls * 20,
      cacheReadInputTokens: calls * 30,
      costUSD,
    })
    const models = { 'claude-opus-5-5': used(2, 0.001372), 'claude-sonnet-5[1m]': used(10, 0.00346) }
    const talk = openTalk()
    talk.hear(
      result({
        usage: { input_tokens: 140, cache_read_input_tokens: 60, output_tokens: 40 },
        modelUsage: models,
        model_usage_since_last_result: models,
        total_cost_usd: 0.004832,
      }),
    )
    const [turn] = talk.only('turn.completed')
    expect(turn?.usage).toMatchObject({ input: 840, cacheRead: 360, output: 240, total: 1440 })
    expect(turn?.usage?.costUsd).toBeCloseTo(0.004832, 9)
  })
})
