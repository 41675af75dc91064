import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { agreeable, askAt } from '../../src/cli/ask.ts'
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
  test('the default is one key away', async () => {
    expect(await typed(permission, [ENTER])).toEqual({
      type: 'answer',
      requestId: 'r1',
      decision: 'allow',
      scope: 'once',
    })
  })

  test('another option is chosen by moving to it', async () => {
    expect(await typed(permission, [DOWN, ENTER])).toMatchObject({ decision: 'deny' })
  })

  test('a request without options offers to allow and to deny', async () => {
    expect(await typed({ ...permission, options: [] }, [DOWN, ENTER])).toMatchObject({ decision: 'deny' })
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

  test('what an agent offers cannot steer the terminal', async () => {
    const output = new PassThrough()
    let shown = ''
    output.on('data', (chunk) => {
      shown += chunk
    })
    const over = new AbortController()
    const label = 'Allow\x1b]52;c;eA==\x07\nall'
    const asking = askAt(new PassThrough(), output)(
      { ...permission, options: [{ id: 'a', label, effect: 'allow', scope: 'once' }] },
      over.signal,
    )
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
