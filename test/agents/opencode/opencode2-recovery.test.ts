import { expect, test } from 'vitest'
import type { Decoded } from '../../../src/agents/agent.ts'
import { codec } from '../../../src/agents/opencode/opencode2/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import type { Command } from '../../../src/model/index.ts'

const ROOT = 'ses_root'
const CHILD = 'ses_child'

/** A driven server of OpenCode 2, which the test plays. */
class Server {
  readonly #state = codec.initial({
    launch: 'live',
    cwd: '/project',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    epoch: 1,
  })
  #seq = 0
  #ids = 0

  constructor() {
    this.command({ type: 'open' })
    this.http('info', { version: '2.0.17' })
    this.http('session', { data: { id: ROOT } })
    this.http('agent', { data: [{ id: 'build' }] })
    this.http('mcp', { data: [] })
    this.event('server.connected', {})
  }

  command(command: Command): Decoded {
    return codec.encode(this.#state, command)
  }

  http(tag: string, body: unknown, status = 200): Decoded {
    return codec.decode(this.#state, jsonFrame('http', JSON.stringify({ tag, status, body })))
  }

  event(type: string, data: object): Decoded {
    const durable = 'sessionID' in data && data.sessionID === ROOT ? { durable: { seq: this.#seq++ } } : {}
    const event = { id: `evt_${this.#ids++}`, type, created: 1, data, ...durable }
    return codec.decode(this.#state, jsonFrame('sse', JSON.stringify(event)))
  }

  /** An event of our session. */
  said(type: string, data: object = {}): Decoded {
    return this.event(`session.${type}`, { sessionID: ROOT, ...data })
  }

  /** Begins a turn, and returns the id of its prompt. */
  begin(): string {
    const [call] = this.command({ type: 'prompt', text: 'go' }).writes
    const body = call?.kind === 'http' ? call.body : undefined
    const id = typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : ''
    const item = { type: 'user', payload: { text: 'go' }, delivery: 'steer' }
    this.said('inbox.enqueued', { inboxID: id, item })
    this.said('execution.started')
    this.said('inbox.delivered', { inboxID: id })
    return id
  }

  reconnect(): string[] {
    return paths(this.event('server.connected', {}))
  }
}

/** A compaction that the server has begun. */
function compacting(): Server {
  const server = new Server()
  expect(paths(server.command({ type: 'prompt', text: '/compact' }))).toEqual([
    `POST /api/session/${ROOT}/compact`,
  ])
  server.http('compact', { data: { id: 'msg_c', type: 'compaction' } })
  server.said('execution.started')
  server.said('inbox.delivered', { inboxID: 'msg_c' })
  server.said('compaction.started', { reason: 'manual' })
  return server
}

const paths = ({ writes }: Decoded) =>
  writes.map((write) => (write.kind === 'http' ? `${write.method} ${write.path}` : write.kind))

const permission = {
  id: 'per_1',
  sessionID: CHILD,
  action: 'shell',
  resources: ['ls'],
  save: ['ls'],
  source: { type: 'tool', id: 'call_1' },
}

test('a permission that a background sub-agent asked for in the gap between two turns is shown', () => {
  const server = new Server()
  server.begin()
  const call = { id: 'call_1', assistantMessageID: 'msg_a' }
  server.said('tool.input.started', { ...call, name: 'subagent' })
  server.said('tool.called', { ...call, input: { description: 'child', background: true } })
  server.said('tool.success', { ...call, metadata: { sessionID: CHILD }, content: [] })
  server.said('execution.succeeded')
  expect(server.reconnect()).toEqual(
    expect.arrayContaining([`GET /api/session/${CHILD}/permission`, `GET /api/session/${ROOT}/inbox`]),
  )
  const { emitted } = server.http(`state permission ${CHILD}`, { data: [permission] })
  expect(emitted).toContainEqual(expect.objectContaining({ type: 'request.opened', kind: 'permission' }))
})

test('a message that was accepted in the gap is known when the model reads it', () => {
  const server = new Server()
  server.begin()
  server.reconnect()
  const item = { id: 'msg_steer', type: 'user', payload: { text: 'hurry' }, delivery: 'steer' }
  server.http(`state inbox ${ROOT}`, { data: [item] })
  expect(server.said('inbox.delivered', { inboxID: 'msg_steer' }).emitted).toEqual([
    { type: 'turn.steered', prompt: 'hurry', effect: 'folded' },
  ])
})

test('a message that was accepted and read in the gap joined the turn, once', () => {
  const server = new Server()
  const prompt = server.begin()
  server.reconnect()
  const messages = {
    data: [
      { id: 'msg_steer', type: 'user', text: 'hurry', time: {} },
      { id: prompt, type: 'user', text: 'go', time: {} },
    ],
  }
  const read = () => server.http(`state message ${ROOT}`, messages).emitted
  expect(read()).toEqual([{ type: 'turn.steered', prompt: 'hurry', effect: 'folded' }])
  expect(read()).toEqual([])
})

const answer = (done: boolean) => ({
  id: 'msg_a',
  type: 'assistant',
  time: done ? { completed: 2 } : {},
  content: done ? [{ type: 'text', text: 'The last text.' }] : [],
  ...(done && { tokens: { input: 3, output: 4 }, finish: 'stop' }),
})

test('a turn that ended in the gap has its last text, and its late events begin no other turn', () => {
  const server = new Server()
  const prompt = server.begin()
  server.reconnect()
  const user = { id: prompt, type: 'user', text: 'go', time: {} }
  // Read before the answer was complete, while the session was still active.
  server.http(`state message ${ROOT}`, { data: [answer(false), user] })
  const idle = server.http('state active', { data: {} })
  expect(idle.emitted).toEqual([])
  expect(paths(idle)).toEqual([`GET /api/session/${ROOT}/message`])
  const { emitted } = server.http(`state last ${ROOT}`, { data: [answer(true), user] })
  expect(emitted).toContainEqual(
    expect.objectContaining({ type: 'turn.verdict', evidence: 'success', result: 'The last text.' }),
  )
  const late = [
    server.said('text.started', { assistantMessageID: 'msg_a', ordinal: 0 }),
    server.said('text.ended', { assistantMessageID: 'msg_a', ordinal: 0, text: 'The last text.' }),
    server.said('step.ended', { assistantMessageID: 'msg_a', finish: 'stop', tokens: {} }),
    server.said('execution.succeeded'),
  ]
  expect(late.flatMap((step) => step.emitted)).toEqual([])
})

test('a turn whose last events arrive first ends with them, and not a second time', () => {
  const server = new Server()
  server.begin()
  server.reconnect()
  server.http('state active', { data: {} })
  expect(server.said('execution.succeeded').emitted).toContainEqual(
    expect.objectContaining({ type: 'turn.verdict' }),
  )
  expect(server.http(`state last ${ROOT}`, { data: [] }).emitted).toEqual([])
})

test('a turn whose last messages cannot be read ends all the same', () => {
  const server = new Server()
  server.begin()
  server.reconnect()
  server.http('state active', { data: {} })
  expect(server.http(`state last ${ROOT}`, {}, 500).emitted).toContainEqual(
    expect.objectContaining({ type: 'turn.verdict' }),
  )
})

const form = {
  id: 'frm_1',
  sessionID: 'global',
  title: 'docs',
  fields: [{ key: 'name', title: 'Name', type: 'string' }],
}

test.each(['an event', 'the list after a break'])('a form of no session, known from %s, is asked', (from) => {
  const server = new Server()
  server.begin()
  const paths = server.reconnect()
  expect(paths).toContain('GET /api/session/global/form')
  const step =
    from === 'an event'
      ? server.event('form.created', { form })
      : server.http('state form global', { data: [form] })
  const opened = step.emitted.find(({ type }) => type === 'request.opened')
  expect(opened).toMatchObject({ kind: 'question', questions: [{ id: 'name' }] })
  // The list of another session does not withdraw it.
  expect(server.http(`state form ${ROOT}`, { data: [] }).emitted).toEqual([])
  const requestId = opened && 'requestId' in opened ? opened.requestId : ''
  const { writes } = server.command({
    type: 'answer',
    requestId,
    decision: 'answered',
    answers: { name: ['Ada'] },
  })
  expect(writes).toMatchObject([
    { method: 'POST', path: '/api/session/global/form/frm_1/reply', body: { answer: { name: 'Ada' } } },
  ])
})

test('a compaction that failed fails its turn, although its execution succeeded', () => {
  const server = compacting()
  const error = { type: 'provider.transport', message: 'no route' }
  expect(server.said('compaction.failed', { reason: 'manual', error }).emitted).toMatchObject([
    { type: 'notice.raised', message: 'the context could not be compacted: no route' },
  ])
  expect(server.said('execution.succeeded').emitted).toMatchObject([
    { type: 'turn.verdict', evidence: 'error', error: { code: 'connection_failed' } },
  ])
})

test.each([
  ['completed', 'success'],
  ['failed', 'error'],
])('a compaction that %s in the gap ends its turn, once', (status, evidence) => {
  const server = compacting()
  server.reconnect()
  const error = { type: 'provider.transport', message: 'no route' }
  const message = { id: 'msg_c', type: 'compaction', status, reason: 'manual', error }
  const first = server.http(`state message ${ROOT}`, { data: [message] }).emitted
  server.http(`state active ${ROOT}`, { data: {} })
  const last = server.http(`state last ${ROOT}`, { data: [message] }).emitted
  const types = [...first, ...last].map(({ type }) => type)
  expect(types).toEqual(status === 'completed' ? ['context.compacted', 'turn.verdict'] : ['turn.verdict'])
  expect(last.at(-1)).toMatchObject({ evidence })
})

test('a refused compaction fails its turn', () => {
  const server = new Server()
  server.command({ type: 'prompt', text: '/compact' })
  const body = { _tag: 'ServiceUnavailableError', message: 'not now' }
  expect(server.http('compact', body, 503).emitted).toMatchObject([
    { type: 'turn.verdict', evidence: 'error' },
  ])
})
