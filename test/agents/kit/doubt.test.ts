import { expect, test } from 'vitest'
import type { Codec, Write } from '../../../src/agents/agent.ts'
import { codec as claude } from '../../../src/agents/claude/codec.ts'
import { decodable } from '../../../src/agents/index.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'
import { fixtures } from '../fixtures.ts'

interface Line {
  dir: 'in' | 'out'
  msg?: { id?: unknown; method?: string } | undefined
}

const START = { launch: 'live', cwd: '/', policy: DEFAULT_POLICY, options: {}, epoch: 1 } as const

const writeOf = (msg: unknown): Write => ({ kind: 'text', text: `${JSON.stringify(msg)}\n` })
const frameOf = (msg: unknown) => jsonFrame('stdout', JSON.stringify(msg))

/** Recordings of both directions of agents whose messages have ids. */
const transcripts = fixtures.flatMap(({ name, agent, lines }) => {
  const recipe = decodable.find(({ id }) => id === agent)?.launches.live
  if (!lines[0]?.includes('"dir"') || !recipe?.codec.doubtful) return []
  const messages = lines.map((line): Line => JSON.parse(line))
  const hasIds = messages.some(({ dir, msg }) => dir === 'in' && msg?.id !== undefined)
  return hasIds ? [{ name, codec: recipe.codec, messages }] : []
})

test('there are recordings of several protocols', () => {
  expect(new Set(transcripts.map(({ name }) => name.split('/')[0])).size).toBeGreaterThanOrEqual(3)
})

test.each(transcripts)(
  '$name: a call that the agent may have is repeated, or its response settles it',
  (one) => {
    const codec: Codec<unknown> = one.codec
    const state = codec.initial(START)
    const watched = new Map<unknown, Write>()
    for (const { dir, msg } of one.messages) {
      if (msg === undefined) continue
      if (dir === 'in') {
        codec.sent?.(state, frameOf(msg))
        if (msg.id === undefined) continue
        const doubt = codec.doubtful?.(state, writeOf(msg))
        expect(doubt, JSON.stringify(msg).slice(0, 200)).toBeDefined()
        if (doubt === 'watch') watched.set(msg.id, writeOf(msg))
      } else {
        codec.decode(state, frameOf(msg))
        const answered = msg.method === undefined ? watched.get(msg.id) : undefined
        if (answered) expect(codec.doubtful?.(state, answered)).toBe('received')
      }
    }
  },
)

test('a second handshake with Claude Code, and its second response, change nothing', () => {
  const state = claude.initial(START)
  const { writes } = claude.encode(state, { type: 'open' })
  const [handshake] = writes
  expect(handshake && claude.doubtful?.(state, handshake)).toBe('again')
  const response = {
    type: 'control_response',
    response: { subtype: 'success', request_id: 'c1', response: {} },
  }
  claude.decode(state, frameOf(response))
  expect(claude.decode(state, frameOf(response))).toMatchObject({ emitted: [], writes: [] })
})
