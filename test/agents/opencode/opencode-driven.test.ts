import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codec } from '../../../src/agents/opencode/serve/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import type { AnswerCommand, Event } from '../../../src/model/index.ts'
import { decodeFixture, type Fixture, fixtures } from '../fixtures.ts'
import { Talk } from './opencode-talk.ts'

interface Exchange {
  req: { method: string; path: string; body?: { reply?: string; message?: string; answers?: string[][] } }
  res: { status: number; body: unknown }
}

const exchangesOf = ({ folder }: Fixture): Exchange[] =>
  readFileSync(join(folder, 'in.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const driven = fixtures.filter(
  ({ program, scenario }) =>
    program === 'opencode-serve' && !['boot', 'shutdown_sigterm', 'concurrent_and_errors'].includes(scenario),
)

/** What both ways of hearing the same server must agree on; who began a turn and who answered is told differently. */
const essence = (events: readonly Event[]) =>
  events.filter(
    ({ type }) => !/^(session|turn\.started|turn\.completed|request\.(resolved|withdrawn))/.test(type),
  )

/** What the recorded client answered, as a command of ours. */
function given(body: Exchange['req']['body'] = {}): Omit<AnswerCommand, 'type' | 'requestId'> {
  const { answers, reply, message } = body
  if (answers) return { decision: 'answered', answers: Object.fromEntries(Object.entries(answers)) }
  if (reply === 'reject') return { decision: 'deny', ...(message !== undefined && { message }) }
  return { decision: 'allow', scope: reply === 'always' ? 'session' : 'once' }
}

test.each(driven)('$scenario, driven by us, equals its event stream alone', (fixture) => {
  const exchanges = exchangesOf(fixture)
  const made = exchanges.filter(({ req }) => req.method === 'POST')
  const live = new Talk()
  live.prompt('recorded')
  live.http('session', made[0]?.res.status ?? 0, made[0]?.res.body)
  const replies = made.filter(({ req }) => /reply$/.test(req.path))
  for (const line of fixture.lines) {
    const before = live.of('request.opened').length
    live.line(line)
    const request = live.of('request.opened')[before]
    const body = replies[before]?.req.body
    if (request) live.answer({ type: 'answer', requestId: request.requestId, ...given(body) })
  }
  live.conversation.exit({})
  const alone = decodeFixture(fixture).entries.map(({ event }) => event)
  expect(essence(live.events)).toEqual(essence(alone))
  expect(live.of('turn.completed').map(({ outcome }) => outcome)).toEqual(
    alone.flatMap((event) => (event.type === 'turn.completed' ? [event.outcome] : [])),
  )
  const calls = live.calls.flatMap((write) => (write.kind === 'http' ? [write] : []))
  const expected = made.map(({ req }) => req.path.replace(/\/message$/, '/prompt_async'))
  expect(calls.map(({ path }) => path)).toEqual(expected.filter((path) => !path.endsWith('/abort')))
})

test.each(driven)('$scenario: the calls of a transcript are understood', (fixture) => {
  const state = codec.initial({
    launch: 'live',
    cwd: '/',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    epoch: 1,
  })
  const exchanges = exchangesOf(fixture).filter(({ req }) => req.method === 'POST')
  const hear = (exchange: Exchange | undefined) =>
    exchange && codec.sent?.(state, jsonFrame('http', JSON.stringify(exchange.req)))
  expect(hear(exchanges.shift())).toBeUndefined()
  expect(hear(exchanges.shift())).toMatchObject({ type: 'prompt', text: expect.stringContaining('SCENARIO') })
  for (const line of fixture.lines) {
    const { emitted } = codec.decode(state, jsonFrame('sse', line))
    expect(emitted.map(({ type }) => type)).not.toContain('turn.started')
    if (!emitted.some(({ type }) => type === 'request.opened')) continue
    expect(hear(exchanges.shift())).toMatchObject({ type: 'answer' })
  }
  expect(exchanges.map(hear)).toEqual(exchanges.map(() => ({ type: 'interrupt' })))
})
