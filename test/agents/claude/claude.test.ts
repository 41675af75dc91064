import { expect, test } from 'vitest'
import type { Event } from '../../../src/model/index.ts'
import { decodeFixture, type Fixture } from '../fixtures.ts'
import { violations } from '../invariants.ts'
import { Native } from '../native/claude.ts'
import { eventsIn, recordings } from './claude-recordings.ts'
import { eventsOf } from './claude-talk.ts'

/** What the program wrote, without what a transcript shows going in. */
function printed({ lines }: Fixture): unknown[] {
  return lines
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line))
    .flatMap((line) => {
      if (typeof line !== 'object' || line === null || !('dir' in line) || !('msg' in line)) return [line]
      return line.dir === 'out' ? [line.msg] : []
    })
}

test('the recordings are there', () => {
  expect(recordings.length).toBe(96)
})

test.each(recordings)('$name: every frame has a rule, and every turn one end', (fixture) => {
  const { entries, coverage } = decodeFixture(fixture)
  const { frames, mapped, ...others } = coverage
  expect(others).toEqual({ unmapped: 0, malformed: 0, oversized: 0 })
  expect(mapped).toBe(frames)
  expect(violations(entries)).toEqual([])
  const events = entries.map(({ event }) => event)
  const started = eventsOf(events, 'turn.started').map(({ turn }) => turn)
  expect(started.length).toBeGreaterThan(0)
  expect(eventsOf(events, 'turn.completed').map(({ turn }) => turn)).toEqual(started)
})

test.each(recordings)('$name: every frame has the shape that we believe it has', (fixture) => {
  for (const frame of printed(fixture)) {
    expect(Native.safeParse(frame), JSON.stringify(frame).slice(0, 500)).toMatchObject({ success: true })
  }
})

test('a turn with a tool is emitted step by step', () => {
  const [, ...events] = eventsIn('tool_bash')
  expect(events.map(({ type }) => type)).toEqual([
    'turn.started',
    'session.updated',
    'text.delta',
    'text.completed',
    'tool.input.delta',
    'tool.input.delta',
    'tool.started',
    'usage.reported',
    'tool.completed',
    'text.delta',
    'text.completed',
    'usage.reported',
    'usage.reported',
    'turn.completed',
  ])
  expect(eventsOf(events, 'session.updated')).toMatchObject([
    {
      nativeSessionId: 'e7bb1b6b-c833-4239-9e7d-c1b2097ed287',
      agentVersion: '2.1.325',
      model: 'claude-opus-5-5',
      mode: 'bypassPermissions',
    },
  ])
  expect(eventsOf(events, 'tool.started')).toMatchObject([
    { toolId: 'toolu_fake4_1', name: 'Bash', kind: 'execute', title: 'ls', messageId: 'msg_fake000004:1' },
  ])
  expect(eventsOf(events, 'tool.completed')).toMatchObject([{ output: 'README.md\na.txt' }])
  expect(eventsOf(events, 'usage.reported').map(({ scope, model }) => [scope, model])).toEqual([
    ['step', 'claude-opus-5-5'],
    ['step', 'claude-opus-5-5'],
    ['turn', undefined],
  ])
})

test('partial messages of a broken stream are discarded and emitted again', () => {
  const events = eventsIn('drop')
  expect(eventsOf(events, 'message.discarded')).toEqual([
    { type: 'message.discarded', messageId: 'msg_fake000045:0', reason: 'stream_broken' },
    { type: 'message.discarded', messageId: 'msg_fake000046:0', reason: 'stream_broken' },
  ])
  expect(eventsOf(events, 'text.completed')).toHaveLength(1)
})

test('a retry reports its attempt and reason', () => {
  expect(eventsOf(eventsIn('retry_once'), 'limit.reported')).toEqual([
    {
      type: 'limit.reported',
      kind: 'retry',
      attempt: 1,
      of: 2,
      delayMs: 532,
      status: 529,
      message: 'overloaded',
    },
  ])
})

test('a text that an interrupt cut off is kept as partial', () => {
  expect(eventsOf(eventsIn('sigint_text'), 'text.completed')).toMatchObject([
    { text: 'w0 w1 w2 w3 ', partial: true },
  ])
})

test('hooks are reported, including those before the handshake', () => {
  const events = eventsIn('hooks')
  const hooks = events.filter(({ type }) => type.startsWith('hook.'))
  expect(hooks).toHaveLength(10)
  expect(events.indexOf(hooks[0] as Event)).toBeLessThan(
    events.findIndex(({ type }) => type === 'session.updated'),
  )
  expect(eventsOf(events, 'hook.completed').at(-1)).toMatchObject({
    name: 'Stop',
    event: 'Stop',
    status: 'success',
    output: 'hook-Stop-out\nhook-Stop-err\n',
    exitCode: 0,
  })
})

test('a written file and an edited one are reported with their changes', () => {
  const path = '/workspace/hello.txt'
  expect(eventsOf(eventsIn('file'), 'file.changed')).toEqual([
    { type: 'file.changed', path, change: 'created', after: 'hello\nworld\n', toolId: 'toolu_fake10_0' },
    {
      type: 'file.changed',
      path,
      change: 'modified',
      diff: '@@ -1,2 +1,2 @@\n hello\n-world\n+WORLD\n',
      before: 'hello\nworld\n',
      after: 'hello\nWORLD\n',
      toolId: 'toolu_fake11_0',
    },
  ])
})

test('a sub-agent is reported with its prompt, its end and its own events', () => {
  const events = eventsIn('subagent_forward')
  const id = 'toolu_fake26_1'
  expect(eventsOf(events, 'subagent.started')).toEqual([
    {
      type: 'subagent.started',
      id,
      toolId: id,
      label: 'inner job',
      agentType: 'general-purpose',
      prompt: 'SCENARIO:inner do the inner job',
      background: false,
    },
  ])
  expect(eventsOf(events, 'subagent.progressed')).toHaveLength(1)
  expect(eventsOf(events, 'subagent.completed')).toEqual([
    {
      type: 'subagent.completed',
      id,
      status: 'success',
      summary: 'Inner result.',
      durationMs: 1087,
    },
  ])
  const own = events.filter((event) => 'parent' in event && event.parent === id)
  expect(own.map(({ type }) => type)).toEqual([
    'thinking.completed',
    'text.completed',
    'tool.started',
    'tool.completed',
    'text.completed',
  ])
  expect(eventsOf(events, 'tool.completed').at(-1)).toMatchObject({ name: 'Agent', durationMs: 1098 })
})

test('a background shell is reported at its start and end, and the handshake only once', () => {
  const events = eventsIn('bg_bash')
  expect(eventsOf(events, 'notice.raised').map(({ code }) => code)).toEqual([
    'background_started',
    'background_finished',
  ])
  expect(eventsOf(events, 'session.updated')).toHaveLength(1)
})

test('a denial without a person is reported with its reason', () => {
  const events = eventsIn('perm_prompts_none')
  expect(eventsOf(events, 'notice.raised')).toMatchObject([
    {
      code: 'tool_refused',
      data: {
        tool: 'Bash',
        reason: 'no approval surface in this session; permission request denied automatically',
        reasonType: 'asyncAgent',
      },
    },
  ])
  expect(eventsOf(events, 'tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'policy' }])
  expect(eventsOf(events, 'turn.completed')).toMatchObject([{ denials: 1 }])
})

test.each(['resume_1', 'resume_2', 'resume_continue', 'resume_fork', 'resume_other_cwd'])(
  '%s: the cost of a turn excludes the earlier cost of the session',
  (name) => {
    expect(eventsOf(eventsIn(name), 'turn.completed')).toMatchObject([{ usage: { costUsd: 0.000954 } }])
  },
)

test('the usage of each model is reported separately, including sub-agents', () => {
  const models = (name: string) => eventsOf(eventsIn(name), 'turn.completed').map(({ data }) => data)
  expect(models('subagent')).toMatchObject([
    {
      models: { 'claude-opus-5-5': { input: 400, output: 100, costUsd: 0.003816, contextWindow: 1_000_000 } },
    },
  ])
  expect(models('bidi_controls')).toMatchObject([
    { models: { 'claude-opus-5-5': { total: 155, costUsd: 0.000954 } } },
    { models: { 'claude-sonnet-4-5': { total: 310, costUsd: 0.001437 } } },
  ])
  // Two results in one process add up.
  expect(models('bg_bash')).toMatchObject([
    { models: { 'claude-opus-5-5': { input: 300, output: 75, total: 465, costUsd: 0.002862 } } },
  ])
})

test.each([
  ['sigint_text', 'a result of nothing but zeros'],
  ['sigkill_group_bash', 'no result'],
])('%s: with %s the usage is computed, and no cost is invented', (name) => {
  const [total] = eventsOf(eventsIn(name), 'usage.reported').filter(({ scope }) => scope === 'turn')
  expect(total).toMatchObject({ source: 'computed', input: 100 })
  expect(total).not.toHaveProperty('costUsd')
})

test.each([
  ['err400', 'failed', 'invalid_request'],
  ['err401', 'failed', 'authentication_failed'],
  ['err403', 'failed', 'authentication_failed'],
  ['err429', 'failed', 'rate_limited'],
  ['err500', 'failed', 'connection_failed'],
  ['err529', 'failed', 'connection_failed'],
  ['bad_model', 'failed', 'invalid_request'],
  ['bad_resume', 'failed', 'session_not_found'],
  ['session_id_dup', 'failed', 'unsupported_option'],
  ['claude-2.1.197/err401', 'failed', 'authentication_failed'],
  ['refusal', 'refused', 'invalid_request'],
  ['max_turns', 'max_steps', 'unknown'],
  ['sigterm_bash', 'crashed', 'protocol_error'],
])('%s ends as %s with the code %s', (name, outcome, code) => {
  expect(eventsOf(eventsIn(name), 'turn.completed')).toMatchObject([{ outcome, error: { code } }])
})

test('an API failure is a notice and never reads as the answer', () => {
  const events = eventsIn('err401')
  expect(eventsOf(events, 'text.completed')).toEqual([])
  expect(eventsOf(events, 'notice.raised')).toMatchObject([
    {
      level: 'error',
      code: 'agent_error',
      data: { status: 401, error: 'authentication_failed', type: 'authentication_error' },
    },
  ])
  expect(eventsOf(events, 'turn.completed')[0]).not.toHaveProperty('result')
})

test('output that was cut is marked, and a tool of an MCP server has its name for people', () => {
  expect(eventsOf(eventsIn('big'), 'tool.completed')).toMatchObject([{ truncated: true }])
  expect(eventsOf(eventsIn('mcp'), 'tool.started')).toMatchObject([
    { name: 'mcp__demo__echo', kind: 'mcp', title: 'Echo' },
  ])
})

test('structured output is on the end of the turn', () => {
  expect(eventsOf(eventsIn('schema'), 'turn.completed')).toMatchObject([
    { structured: { name: 'Ada', age: 36 } },
  ])
})

test('a lone result names its session, unless it failed', () => {
  expect(eventsOf(eventsIn('json_format'), 'session.updated')).toEqual([
    { type: 'session.updated', nativeSessionId: '5126a599-9ec2-4234-9144-d5eb10bb72c8' },
  ])
  expect(eventsOf(eventsIn('bad_resume'), 'session.updated')).toEqual([])
})

test('a partial message that an older version repeats whole is discarded, so that nothing is emitted twice', () => {
  const events = eventsIn('claude-2.1.197/drop_once')
  const [half] = eventsOf(events, 'text.delta')
  expect(eventsOf(events, 'message.discarded')).toMatchObject([
    { messageId: half?.messageId, reason: 'stream_broken' },
  ])
  expect(eventsOf(events, 'text.completed')).toMatchObject([
    { text: 'Hello from the scripted model. This text comes in several pieces.' },
  ])
})
