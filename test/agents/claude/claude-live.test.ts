import { expect, test } from 'vitest'
import { eventsIn } from './claude-recordings.ts'
import { eventsOf } from './claude-talk.ts'

test.each([
  ['bidi_hooks_deny', 'hook', 'denied'],
  ['bidi_perm_deny', 'person', 'completed'],
  ['bidi_ask_deny', 'person', 'completed'],
])('%s: denied by a %s, and so %s', (name, deniedBy, outcome) => {
  const events = eventsIn(name)
  expect(eventsOf(events, 'tool.completed')).toMatchObject([{ status: 'denied', deniedBy }])
  expect(eventsOf(events, 'turn.completed')).toMatchObject([{ outcome, denials: 1 }])
})

test('a question and its answer are reported', () => {
  const events = eventsIn('bidi_ask')
  const [asked] = eventsOf(events, 'request.opened')
  expect(asked).toMatchObject({
    kind: 'question',
    options: [],
    questions: [
      {
        id: 'Which colour?',
        header: 'Colour',
        text: 'Which colour?',
        options: [
          { label: 'Red', description: 'warm' },
          { label: 'Blue', description: 'cold' },
        ],
        other: true,
      },
    ],
  })
  expect(eventsOf(events, 'request.resolved')).toEqual([
    {
      type: 'request.resolved',
      requestId: asked?.requestId,
      decision: 'answered',
      answers: { 'Which colour?': ['Blue'] },
      by: 'person',
    },
  ])
})

test('a request to leave plan mode contains the plan, and the new mode is reported', () => {
  const events = eventsIn('bidi_plan')
  expect(eventsOf(events, 'request.opened')).toMatchObject([
    { kind: 'plan', tool: 'ExitPlanMode', input: { plan: '1. Do A\n2. Do B' } },
  ])
  expect(eventsOf(events, 'session.updated').map(({ mode }) => mode)).toEqual([undefined, 'plan', 'default'])
})

test('a permission describes what each answer grants, and the answer which was given', () => {
  const events = eventsIn('bidi_perm_allow_always')
  const [asked] = eventsOf(events, 'request.opened')
  expect(asked?.options.map(({ label, scope }) => [scope, label])).toEqual([
    ['once', 'Allow once'],
    ['session', 'Allow for this session: Bash(touch denied.txt), directory /workspace, mode acceptEdits'],
    ['always', 'Always allow: Bash(touch denied.txt), directory /workspace, mode acceptEdits'],
    ['once', 'Deny'],
  ])
  expect(asked).toMatchObject({ toolKind: 'execute', locations: [{ path: '/workspace/denied.txt' }] })
  expect(eventsOf(events, 'request.resolved')).toMatchObject([{ decision: 'allow', scope: 'always' }])
})

test('an interrupt withdraws the open request, and the call is not denied', () => {
  const events = eventsIn('bidi_interrupt_perm')
  expect(eventsOf(events, 'request.withdrawn')).toMatchObject([{ reason: 'interrupted' }])
  expect(eventsOf(events, 'tool.completed')).toMatchObject([{ status: 'cancelled' }])
  expect(eventsOf(events, 'turn.completed')).toMatchObject([
    { outcome: 'interrupted', denials: 0, nativeReason: 'aborted_tools' },
    { outcome: 'completed' },
  ])
})

test('a prompt during a tool joins the turn; one during text becomes the next turn', () => {
  const prompt = 'SCENARIO:second CWD=/workspace please'
  expect(eventsOf(eventsIn('bidi_steer_tool'), 'turn.steered')).toEqual([
    { type: 'turn.steered', turn: 1, prompt, effect: 'folded' },
  ])
  const queued = eventsIn('bidi_steer_queue')
  expect(eventsOf(queued, 'turn.steered')).toEqual([])
  expect(eventsOf(queued, 'turn.started').at(-1)).toEqual({
    type: 'turn.started',
    turn: 2,
    origin: 'prompt',
    prompt,
    promptId: 'f66f468f-8bd1-407b-bf17-8b879007d7a4',
  })
})

test('rejected commands, the available models and a model change are reported', () => {
  const events = eventsIn('bidi_controls')
  expect(eventsOf(events, 'notice.raised').map(({ code }) => code)).toEqual([
    'mode_refused',
    'mode_refused',
    'protocol_refused',
    'agent_warning',
  ])
  const updates = eventsOf(events, 'session.updated')
  expect(updates[0]?.models?.map(({ id }) => id)).toEqual(['default', 'opus', 'fable', 'sonnet', 'haiku'])
  expect(updates.flatMap(({ model }) => model ?? [])).toEqual(['claude-opus-5-5', 'claude-sonnet-4-5'])
})

test('a request for a file names the file', () => {
  const [, asked] = eventsOf(eventsIn('bidi_perm_allow'), 'request.opened')
  expect(asked).toMatchObject({
    tool: 'Write',
    toolKind: 'edit',
    locations: [{ path: '/workspace/perm.txt' }],
  })
})
