import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { agreeable, askAt } from '../../src/cli/ask.ts'
import { keyHint } from '../../src/cli/permission-keys.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { AnswerCommand } from '../../src/model/index.ts'

const permission: RequestOpened = {
  type: 'request.opened',
  requestId: 'r1',
  kind: 'permission',
  blocking: true,
  inputDigest: 'd',
  options: [
    { id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' },
    { id: 'session', label: 'Allow for this session', effect: 'allow', scope: 'session' },
    { id: 'once', label: 'Allow once', effect: 'allow', scope: 'once', default: true },
  ],
}

const options = [{ label: 'red' }, { label: 'green', description: 'like grass' }, { label: 'blue' }]

const question = (more: object = {}): RequestOpened => ({
  ...permission,
  kind: 'question',
  options: [],
  questions: [{ id: 'colour', text: 'Which colour?', options, ...more }],
})

const DOWN = '\x1b[B'
const ENTER = '\r'
const CTRL_C = '\x03'

/** Presses the keys one after another, each when the terminal has drawn what the one before it did. */
async function typed(request: RequestOpened, keys: readonly string[]): Promise<AnswerCommand | undefined> {
  const input = new PassThrough()
  const output = new PassThrough()
  const left = [...keys]
  output.on('data', () => {
    const key = left.shift()
    if (key !== undefined) setImmediate(() => input.write(key))
  })
  const answer = await askAt(input, output)(request, new AbortController().signal)
  expect(left).toEqual([])
  return answer
}

describe('in the terminal', () => {
  test.each([
    ['y', { decision: 'allow', scope: 'once' }],
    ['n', { decision: 'deny' }],
  ] as const)('%s decides', async (key, decision) => {
    expect(await typed(permission, [key])).toEqual({ type: 'answer', requestId: 'r1', ...decision })
  })

  test('s allows it for the session where the agent offers that, and nowhere else', async () => {
    const options = [
      ...permission.options,
      { id: 's', label: 'Session', effect: 'allow', scope: 'session' },
    ] as const
    expect(await typed({ ...permission, options: [...options] }, ['s'])).toMatchObject({ scope: 'session' })
    expect(keyHint({ ...permission, options: [] })).not.toContain('session')
  })

  test('d denies it with a reason', async () => {
    expect(await typed(permission, ['d', 'n', 'o', ENTER])).toEqual({
      type: 'answer',
      requestId: 'r1',
      decision: 'deny',
      message: 'no',
    })
  })

  test('no other key decides, and no key allows it for ever', async () => {
    const input = new PassThrough()
    const answer = askAt(input, new PassThrough())(permission, new AbortController().signal)
    for (const key of ['a', ENTER, 'Y', ' ', 'n']) {
      input.write(key)
      await nextTick()
    }
    expect(await answer).toMatchObject({ decision: 'deny' })
  })

  test('a question gets the answer that was chosen', async () => {
    expect(await typed(question(), [DOWN, ENTER])).toEqual({
      type: 'answer',
      requestId: 'r1',
      decision: 'answered',
      answers: { colour: ['green'] },
    })
  })

  test('several answers are taken where several are welcome', async () => {
    const answer = await typed(question({ multiple: true }), [' ', DOWN, ' ', ENTER])
    expect(answer?.answers).toEqual({ colour: ['red', 'green'] })
  })

  test('a free answer is typed', async () => {
    const answer = await typed(question({ options: [] }), ['t', 'e', 'a', 'l', ENTER])
    expect(answer?.answers).toEqual({ colour: ['teal'] })
  })

  test('something else is typed after it was chosen', async () => {
    const answer = await typed(question({ other: true }), [DOWN, DOWN, DOWN, ENTER, 'x', ENTER])
    expect(answer?.answers).toEqual({ colour: ['x'] })
  })

  test('Ctrl-C is no answer', async () => {
    expect(await typed(permission, [CTRL_C])).toBeUndefined()
    expect(await typed(question(), [CTRL_C])).toBeUndefined()
  })

  test('a request that is taken back is no longer asked', async () => {
    const over = new AbortController()
    const output = new PassThrough()
    output.once('data', () => setImmediate(() => over.abort()))
    expect(await askAt(new PassThrough(), output)(permission, over.signal)).toBeUndefined()
  })

  test('the options of an agent cannot control the terminal', async () => {
    const output = new PassThrough()
    let shown = ''
    output.on('data', (chunk) => {
      shown += chunk
    })
    const over = new AbortController()
    const label = 'Allow\x1b]52;c;eA==\x07\nall'
    const drawn = once(output, 'data')
    const asking = askAt(new PassThrough(), output)(question({ options: [{ label }] }), over.signal)
    await drawn
    over.abort()
    await asking
    expect(shown).toContain('Allow all')
    expect(shown).not.toContain('\x1b]')
  })
})

describe('by itself', () => {
  const { signal } = new AbortController()

  test('it allows once, and no more than that', async () => {
    expect(await agreeable(permission, signal)).toMatchObject({ decision: 'allow', scope: 'once' })
  })

  test('it allows for longer only where there is nothing less', async () => {
    const session = permission.options.filter(({ id }) => id !== 'once')
    expect(await agreeable({ ...permission, options: session }, signal)).toMatchObject({ scope: 'session' })
  })

  test('it takes the first answer of each question', async () => {
    expect(await agreeable(question(), signal)).toMatchObject({
      decision: 'answered',
      answers: { colour: ['red'] },
    })
  })
})
