import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Start } from '../../src/agents/agent.ts'
import { echo } from '../../src/agents/echo/agent.ts'
import { execute } from '../../src/dialects/execute.ts'
import { jsonFrame } from '../../src/framing/frame.ts'
import type { Command, LaunchKind } from '../../src/model/index.ts'
import { entriesOf, projectAll } from '../dialects/entries.ts'
import { Stage } from './stage.ts'

const KINDS: readonly LaunchKind[] = ['live', 'oneshot']

/** Any sequence of code units, halves of characters among them. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
  .map((units) => String.fromCharCode(...units))

function tell(kind: LaunchKind, text: string): Stage {
  const stage = new Stage(echo, kind)
  stage.prompt(text)
  stage.play()
  if (kind === 'oneshot') stage.exit()
  return stage
}

describe.each(KINDS)('echo, %s', (kind) => {
  test('any text is echoed unchanged, as one message and one success', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stage = tell(kind, text)
        expect(stage.only('text.completed')).toEqual([{ type: 'text.completed', messageId: 'e1.m1', text }])
        expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'completed', result: text }])
        expect(stage.events.map(({ type }) => type)).toEqual([
          'session.started',
          'turn.started',
          'text.completed',
          'turn.completed',
        ])
      }),
    )
  })

  test.each([
    ['nothing at all', ''],
    ['lines', 'one\ntwo\r\nthree\n'],
    ['half a surrogate pair', 'a\ud83d'],
    ['line separators', 'a\u2028b\u2029c'],
    ['a megabyte', 'é'.repeat(1024 * 1024)],
  ])('%s is echoed verbatim', (_, text) => {
    expect(tell(kind, text).only('text.completed')).toMatchObject([{ text }])
  })

  test('on execute it is exactly the task and the end', () => {
    const entries = entriesOf(...tell(kind, 'say "this"').events)
    expect(projectAll(execute, entries)).toEqual([
      { kind: 'agent_token', text: 'say "this"' },
      { kind: 'session_end', exit_code: 0, duration_ms: 0 },
    ])
  })
})

test('a live echo accepts several prompts, and no message id is reused', () => {
  const stage = new Stage(echo)
  for (const text of ['one', 'two', 'three']) {
    stage.prompt(text)
    stage.play()
  }
  expect(stage.only('text.completed').map(({ messageId, text }) => [messageId, text])).toEqual([
    ['e1.m1', 'one'],
    ['e1.m2', 'two'],
    ['e1.m3', 'three'],
  ])
  expect(stage.only('turn.completed').map(({ turn, outcome }) => [turn, outcome])).toEqual([
    [1, 'completed'],
    [2, 'completed'],
    [3, 'completed'],
  ])
  expect(stage.ended).toBe(false)
})

test('a one-shot echo gets the end of its input with the prompt', () => {
  const stage = new Stage(echo, 'oneshot')
  stage.prompt('once')
  expect(stage.ended).toBe(true)
})

describe('an echo that never came', () => {
  test.each([
    ['exit', { code: 0 }, 'crashed'],
    ['interrupt', { signal: 'SIGTERM' }, 'interrupted'],
    ['timeout', { signal: 'SIGTERM' }, 'timeout'],
  ] as const)('ends its turn when the process is gone (%s)', (cause, exit, outcome) => {
    const stage = new Stage(echo)
    stage.prompt('lost')
    stage.exit(cause, exit)
    expect(stage.only('turn.completed')).toMatchObject([{ outcome }])
  })

  test('reports why it could not be started', () => {
    const stage = new Stage(echo)
    stage.prompt('lost')
    const error = { code: 'storage_failed', message: 'no room' } as const
    stage.exit('exit', { error })
    expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'failed', error }])
  })

  test('is dropped after the interrupt', () => {
    const stage = new Stage(echo)
    stage.prompt('too late')
    stage.command({ type: 'interrupt' })
    stage.play()
    expect(stage.only('text.completed')).toEqual([])
    expect(stage.only('turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
    expect(stage.conversation.coverage).toMatchObject({ frames: 1, mapped: 1 })
  })
})

test('a line that is not a JSON string is kept, and is not an answer', () => {
  const stage = new Stage(echo)
  stage.prompt('go')
  for (const line of ['{"a":1}', '7', 'not JSON']) stage.conversation.frame(jsonFrame('stdout', line))
  stage.conversation.frame({ stream: 'stdout', text: '', blob: { id: 'b1', bytes: 9 } })
  expect(stage.conversation.coverage).toEqual({
    frames: 4,
    mapped: 0,
    unmapped: 2,
    malformed: 1,
    oversized: 1,
  })
  expect(stage.only('native.unmapped').map((event) => event.frame ?? event.blob)).toEqual([
    '{"a":1}',
    '7',
    { id: 'b1', bytes: 9 },
  ])
  expect(stage.only('output.written')).toMatchObject([{ stream: 'stdout', line: 'not JSON' }])
  expect(stage.only('turn.completed')).toEqual([])
})

test.each<Command>([
  { type: 'steer', text: 'rather this' },
  { type: 'answer', requestId: 'r1', decision: 'allow' },
  { type: 'set_policy', mode: 'plan' },
])('$type is refused', (command) => {
  expect(new Stage(echo).command(command).refused).toMatchObject({ code: 'unsupported_option' })
})

test('another model is reported, and another policy changes nothing', () => {
  const stage = new Stage(echo)
  expect(stage.command({ type: 'set_model', model: 'other' }).refused).toBeUndefined()
  expect(stage.only('session.updated')).toMatchObject([{ model: 'other' }])
  const policy = { approval: 'ask', sandbox: 'read-only' } as const
  expect(stage.command({ type: 'set_policy', policy }).refused).toBeUndefined()
})

test.each([
  ['resume', { resume: 'earlier' }],
  ['outputSchema', { options: { outputSchema: {} } }],
  ['images', { options: { images: [] } }],
])('%s is refused before anything starts', (option, asked) => {
  const start: Start = {
    launch: 'live',
    cwd: '/project',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    epoch: 1,
    ...asked,
  }
  expect(() => echo.launches.live?.launch(start)).toThrow(`${option} is not supported by echo`)
})
