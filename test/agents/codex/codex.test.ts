import { describe, expect, test } from 'vitest'
import { Entry, type Event, type EventType } from '../../../src/model/index.ts'
import { decodeFixture, type Fixture, fixtures } from '../fixtures.ts'
import { AppServerFrame, ExecFrame } from '../native/codex.ts'

const recordings = fixtures.filter(({ agent }) => agent === 'codex')

type Of<Type extends EventType> = Extract<Event, { type: Type }>

function play(scenario: string) {
  const fixture = recordings.find((one) => one.scenario === scenario)
  if (!fixture) throw new Error(`there is no recording ${scenario}`)
  const { entries } = decodeFixture(fixture)
  const events = entries.map(({ event }) => event)
  const only = <Type extends EventType>(type: Type) =>
    events.filter((event): event is Of<Type> => event.type === type)
  return { entries, events, only }
}

const errorsOf = (scenario: string) =>
  play(scenario)
    .only('turn.completed')
    .map(({ error }) => error?.code)

/** What the agent wrote, of a stdout or of a transcript. */
function nativeFrames({ lines }: Fixture): unknown[] {
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line))
    .filter((line) => line.dir !== 'in')
    .map((line) => line.msg ?? line)
}

describe('every recording', () => {
  test('is there', () => {
    expect(recordings.length).toBe(92)
  })

  test.each(recordings)('$scenario: its frames have the shapes of the native schemas', (fixture) => {
    const schema = fixture.launch === 'live' ? AppServerFrame : ExecFrame
    const odd = nativeFrames(fixture).filter((frame) => !schema.safeParse(frame).success)
    expect(odd).toEqual([])
  })

  test.each(recordings)('$scenario: every frame is mapped and every entry is valid', (fixture) => {
    const { entries, coverage } = decodeFixture(fixture)
    expect(coverage).toMatchObject({ mapped: coverage.frames, unmapped: 0, malformed: 0, oversized: 0 })
    for (const entry of entries) expect(Entry.safeParse(entry).error).toBeUndefined()
  })
})

describe('codex exec', () => {
  test('a failure has the code of its message', () => {
    expect(errorsOf('err401')).toEqual(['authentication_failed'])
    expect(errorsOf('err429')).toEqual(['rate_limited'])
    expect(errorsOf('err400')).toEqual(['invalid_request'])
    expect(errorsOf('err500')).toEqual(['connection_failed'])
    expect(errorsOf('drop')).toEqual(['connection_failed'])
    expect(errorsOf('quota')).toEqual(['quota_exceeded'])
    expect(errorsOf('incomplete')).toEqual(['output_truncated'])
    expect(errorsOf('bad_model')).toEqual(['invalid_request'])
  })

  test('a start that failed is explained by stderr', () => {
    expect(errorsOf('bad_resume')).toEqual(['session_not_found'])
    expect(errorsOf('bad_flag')).toEqual(['unsupported_option'])
    expect(errorsOf('stdin_empty_no_prompt')).toEqual(['invalid_request'])
    expect(play('bad_config').only('turn.completed')[0]?.error).toEqual({
      code: 'unknown',
      message: 'Error: Model provider `nope` not found',
      advice: expect.stringMatching(/^The agent ended at its start\./),
    })
  })

  test('an error that Codex retries is a limit, and an item called error is a warning', () => {
    expect(play('err401').only('limit.reported')).toMatchObject([
      { kind: 'retry', attempt: 1, of: 2, status: 401 },
      { kind: 'retry', attempt: 2, of: 2, status: 401 },
    ])
    expect(
      play('hooks')
        .only('notice.raised')
        .map(({ code }) => code),
    ).toEqual(['agent_warning', 'agent_warning'])
    expect(play('hooks').only('turn.completed')[0]?.outcome).toBe('completed')
  })

  test('only stderr reports a call denied by policy or by a hook, and the turn is denied', () => {
    const refusals = ['esc_headless', 'hooks_deny', 'sandbox_ws_patch_outside'].map((scenario) => {
      const { only } = play(scenario)
      const notice = only('notice.raised').find(({ code }) => code === 'tool_refused')
      return { data: notice?.data, outcome: only('turn.completed')[0]?.outcome }
    })
    expect(refusals).toEqual([
      { data: { deniedBy: 'policy' }, outcome: 'denied' },
      { data: { deniedBy: 'hook' }, outcome: 'denied' },
      { data: { deniedBy: 'policy' }, outcome: 'denied' },
    ])
  })

  test('a call that merely failed before it ran is a warning and denies nothing', () => {
    for (const scenario of ['patch_bad', 'bad_input', 'unknown_tool', 'ask']) {
      const { only } = play(scenario)
      expect(only('notice.raised').map(({ code }) => code)).toEqual(['agent_warning'])
      expect(only('turn.completed')[0]).toMatchObject({ outcome: 'completed', denials: 0 })
    }
  })

  test('ids carry the process, and the last of two equal keys is the id', () => {
    expect(play('tool_bash').only('tool.started')[0]?.toolId).toBe('e1.item_1')
    expect(play('websearch').only('tool.started')[0]?.toolId).toBe('e1.ws_1')
  })

  test('a plan is emitted when it changes', () => {
    const plans = play('todo')
      .only('plan.updated')
      .map(({ items }) => items.map(({ status }) => status))
    expect(plans).toEqual([
      ['pending', 'pending'],
      ['completed', 'pending'],
    ])
  })

  test('a sub-agent starts with its call and ends with the wait for it', () => {
    const { only } = play('subagent_v1')
    const id = '01a1e0d2-8937-7230-810e-96d0dd92bdb2'
    expect(only('subagent.started')).toMatchObject([{ id, toolId: 'e1.item_1', background: true }])
    expect(only('subagent.completed')).toEqual([
      { type: 'subagent.completed', id, status: 'success', summary: 'Inner result.' },
    ])
  })

  test('a killed process leaves a crash and no open tool', () => {
    const { only } = play('native_sigkill_bash')
    expect(only('turn.completed')[0]?.outcome).toBe('crashed')
    expect(only('tool.completed')).toMatchObject([{ status: 'error', settled: true }])
  })
})

describe('codex app-server', () => {
  test('the handshake reports thread, version and model, once', () => {
    expect(play('as_basic').only('session.updated')).toEqual([
      {
        type: 'session.updated',
        nativeSessionId: '01a1e0d5-5711-7c82-ac04-c99c10c8d107',
        agentVersion: '0.166.0',
        model: 'gpt-5.5',
      },
    ])
  })

  test('requests are numbered from 0 and joined with their calls', () => {
    const { only } = play('as_approval_untrusted')
    expect(only('request.opened')).toMatchObject([
      {
        requestId: 'e1.0',
        kind: 'permission',
        toolId: 'call_fake32_1',
        input: { command: '/bin/bash -lc ls' },
      },
      { requestId: 'e1.1', kind: 'permission', toolId: 'call_fake34_0' },
    ])
    expect(only('request.resolved').map(({ decision }) => decision)).toEqual(['allow', 'allow'])
  })

  test('the question about a change shows the change, and a declined one changed nothing', () => {
    const { only } = play('as_file_decline')
    expect(only('request.opened')[0]?.input).toMatchObject({ changes: [{ path: '/workspace/perm.txt' }] })
    expect(only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'person' }])
    expect(only('file.changed')).toEqual([])
    expect(only('turn.completed')[0]).toMatchObject({ outcome: 'completed', denials: 1 })
  })

  test('a request that an interrupt overtook is withdrawn once', () => {
    const { only } = play('as_interrupt_pending_approval')
    expect(only('request.withdrawn')).toEqual([
      { type: 'request.withdrawn', requestId: 'e1.0', reason: 'interrupted' },
    ])
    expect(only('tool.completed')).toMatchObject([{ status: 'cancelled', settled: true }])
  })

  test('a question carries its choices, and the answer that was given', () => {
    const { only } = play('as_ask')
    expect(only('request.opened')[0]).toMatchObject({
      kind: 'question',
      blocking: false,
      questions: [{ id: 'colour', text: 'Which colour?', other: true }],
    })
    expect(only('request.resolved')[0]?.answers).toEqual({ colour: ['Blue'] })
  })

  test('a new file is reported with its content and an edited one with its diff', () => {
    expect(play('as_codemode').only('file.changed')).toMatchObject([
      { change: 'created', after: 'hello\nworld\n' },
      { change: 'modified', diff: '@@ -1,2 +1,2 @@\n hello\n-world\n+WORLD\n' },
    ])
  })

  test('the diff of the whole turn is reported at its end', () => {
    expect(play('as_file_accept').only('turn.completed')[0]?.data).toMatchObject({
      diff: expect.stringContaining('+++ b/perm.txt'),
    })
  })

  test('a partial message is discarded when the stream is retried, otherwise kept as partial', () => {
    const { events } = play('as_errors')
    const fifth = events.findIndex((event) => event.type === 'turn.started' && event.turn === 5)
    const seen = events.slice(fifth, events.length).flatMap((event) => {
      if (event.type === 'message.discarded') return [`discarded ${event.messageId}`]
      if (event.type === 'text.completed')
        return [`${event.partial ? 'partial' : 'whole'} ${event.messageId}`]
      return []
    })
    expect(seen).toEqual([
      'discarded msg_fake67_0',
      'discarded msg_fake68_0',
      'partial msg_fake69_0',
      'whole msg_fake70_0',
    ])
  })

  test('a failure has the code of its status, or else of its name', () => {
    expect(errorsOf('as_errors')).toEqual([
      'authentication_failed',
      'rate_limited',
      'quota_exceeded',
      'connection_failed',
      'connection_failed',
      undefined,
    ])
  })

  test('a prompt that joins a turn cuts the message that was being written', () => {
    const { events } = play('as_steer')
    const at = events.findIndex(({ type }) => type === 'turn.steered')
    expect(events.slice(at - 1, at + 1)).toMatchObject([
      { type: 'text.completed', text: 'w0 w1 w2', partial: true },
      { type: 'turn.steered', prompt: 'SCENARIO:second steer now', effect: 'restarted' },
    ])
  })

  test('events of a sub-agent have its thread as parent, and may end after the turn', () => {
    const { entries } = play('as_codemode')
    const id = '01a1e0d5-b9fb-7a42-ab0e-32dba673ac0b'
    const ended = entries.findIndex(({ event }) => event.type === 'subagent.completed')
    const terminal = entries.findLastIndex(({ event }) => event.type === 'turn.completed')
    expect(ended).toBeGreaterThan(terminal)
    expect(entries[ended]).toMatchObject({
      event: { id, summary: 'Subagent finished.', usage: { total: 310 } },
    })
    expect(entries[ended]?.turn).toBeUndefined()
    const children = entries.flatMap(({ event }) =>
      'parent' in event && event.parent === id ? [event.type] : [],
    )
    expect(children).toEqual(['tool.started', 'tool.completed', 'text.delta', 'text.completed'])
  })

  test('the running total of a resumed thread does not count as the turn', () => {
    expect(
      play('as_resume_2')
        .only('usage.reported')
        .map(({ scope, total }) => [scope, total]),
    ).toEqual([
      ['step', 155],
      ['turn', 155],
    ])
  })

  test('each model call reports the context usage', () => {
    expect(play('as_basic').only('usage.reported')[0]).toMatchObject({
      scope: 'step',
      contextUsed: 155,
      contextSize: 258400,
    })
  })

  test('a requested JSON answer is parsed', () => {
    expect(play('as_schema').only('turn.completed')[0]?.structured).toEqual({ name: 'Ada', age: 36 })
  })

  test('a thread that cannot be resumed is reported as such', () => {
    expect(play('as_resume_bad').only('notice.raised').at(-1)).toMatchObject({
      level: 'error',
      code: 'resume_failed',
    })
  })

  test('thinking arrives as deltas and whole', () => {
    const { only } = play('as_basic')
    expect(
      only('thinking.delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe(only('thinking.completed')[0]?.text)
  })
})

test('a model change is reported when it takes effect', () => {
  const models = play('as_set_model')
    .only('session.updated')
    .flatMap(({ model }) => model ?? [])
  expect(models).toEqual(['gpt-5.5', 'gpt-5.4'])
})

test('a proposed plan is an answer, and its mode is reported', () => {
  const told = play('as_proposal')
  expect(told.only('session.updated').flatMap(({ mode }) => mode ?? [])).toEqual(['plan'])
  expect(told.only('text.completed').map(({ text }) => text)).toEqual(['It is 42.', '1. Do A\n2. Do B\n'])
  expect(told.only('turn.completed').at(-1)).toMatchObject({
    outcome: 'completed',
    result: '1. Do A\n2. Do B\n',
  })
  expect(told.only('request.opened')).toEqual([])
})
