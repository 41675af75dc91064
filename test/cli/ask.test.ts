import { describe, expect, test } from 'vitest'
import '@clack/prompts'
import { agreeable } from '../../src/cli/terminal/ask.ts'
import { keyHint } from '../../src/cli/terminal/permission-keys.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { AnswerCommand } from '../../src/model/index.ts'
import { Desktop } from './desktop.ts'

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

/** Presses the keys with pauses between them. */
async function typed(
  request: RequestOpened,
  keys: readonly string[],
  rows = 40,
): Promise<AnswerCommand | undefined> {
  using desk = new Desktop()
  const answer = desk.ask(request, rows)
  for (const key of keys) {
    await desk.pass()
    await desk.type(key)
    await desk.pass()
  }
  return answer
}

describe('in the terminal', () => {
  test.each([
    ['y', { decision: 'allow', scope: 'once' }],
    ['n', { decision: 'deny' }],
  ] as const)('%s decides', async (key, decision) => {
    expect(await typed(permission, [key])).toEqual({ type: 'answer', requestId: 'r1', ...decision })
  })

  test.each([
    ['a permission', permission, 'Permission · sub-agent helper · 1 more request waits'],
    ['a question', question(), 'Question · sub-agent helper · 1 more request waits'],
  ])('%s of a sub-agent names it', async (_, request, label) => {
    using desk = new Desktop()
    void desk.ask({ ...request, parent: 'helper' }, 40, 1)
    await desk.idle()
    expect(desk.shown).toContain(`  ${label}\n`)
    desk.over.abort()
    await desk.pass()
  })

  test('a question that is asked alone has no other name than its heading', async () => {
    using desk = new Desktop()
    void desk.ask(question())
    await desk.pass()
    expect(desk.shown).not.toContain('Question')
    desk.over.abort()
    await desk.pass()
  })

  test('s allows it for the session where the agent offers that, and nowhere else', async () => {
    const options = [
      ...permission.options,
      { id: 's', label: 'Session', effect: 'allow', scope: 'session' },
    ] as const
    expect(await typed({ ...permission, options: [...options] }, ['s'])).toMatchObject({ scope: 'session' })
    expect(keyHint({ ...permission, options: [] })).not.toContain('session')
  })

  test('what s allows besides the call is part of the request', async () => {
    const label = 'Allow for this session: Bash(rm:*)'
    const options = [{ id: 's', label, effect: 'allow', scope: 'session' }] as const
    using desk = new Desktop()
    void desk.ask({ ...permission, tool: 'Bash', input: { command: 'rm a' }, options: [...options] }, 8)
    await desk.pass()
    expect(desk.shown).toContain('v view all, then allow (1 lines not shown)')
    await desk.type('v')
    await desk.pass()
    expect(desk.shown).toContain(`    for this session: ${label}\n`)
    desk.over.abort()
    await desk.pass()
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
    expect(await typed(permission, ['a', ENTER, 'Y', ' ', '\x1by', 'n'])).toMatchObject({ decision: 'deny' })
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

  test('Escape is no answer', async () => {
    using desk = new Desktop()
    const answer = desk.ask(permission)
    await desk.pass()
    await desk.type('\x1b')
    await desk.pass()
    await desk.pass()
    expect(await answer).toBeUndefined()
  })

  test('Ctrl-C is a signal and no answer, at any time', async () => {
    using desk = new Desktop()
    const answer = desk.ask(permission)
    await desk.type(`\x1b[200~never ends ${CTRL_C}`)
    expect(desk.raised).toEqual(['SIGINT'])
    desk.over.abort()
    expect(await answer).toBeUndefined()
  })

  test('a request that is taken back is no longer asked', async () => {
    using desk = new Desktop()
    const answer = desk.ask(permission)
    await desk.pass()
    desk.over.abort()
    expect(await answer).toBeUndefined()
  })

  test('the options of an agent cannot control the terminal', async () => {
    using desk = new Desktop()
    const label = 'Allow\x1b]52;c;eA==\x07\nall'
    const answer = desk.ask(question({ options: [{ label }] }))
    await desk.pass()
    desk.over.abort()
    await answer
    expect(desk.shown).toContain('Allow all')
    expect(desk.shown).not.toContain('\x1b]')
  })
})

describe('keys that nobody pressed to answer', () => {
  /** The decision after the input of the test and then a deliberate `n`. */
  async function decidedAfter(use: (desk: Desktop) => Promise<void>): Promise<string | undefined> {
    using desk = new Desktop()
    const answer = desk.ask(permission)
    await desk.idle()
    await use(desk)
    await desk.pass()
    await desk.pass()
    await desk.type('n')
    await desk.pass()
    return (await answer)?.decision
  }

  test('do not count before the request was on the screen for a while', async () => {
    expect(await decidedAfter((desk) => desk.type('y'))).toBe('deny')
  })

  test('do not count while a key is held down since before the request', async () => {
    const held = async (desk: Desktop) => {
      for (let repeat = 0; repeat < 50; repeat++) await desk.type('y')
    }
    expect(await decidedAfter(held)).toBe('deny')
  })

  test('do not count if they are the first repeats of such a key, which come late', async () => {
    const held = async (desk: Desktop) => {
      await desk.pass()
      for (let repeat = 0; repeat < 3; repeat++) await desk.type('y')
    }
    expect(await decidedAfter(held)).toBe('deny')
    using desk = new Desktop()
    await desk.type('y')
    const answer = desk.ask(permission)
    await desk.pass(400)
    expect(desk.shown).not.toContain('y allow once')
    await desk.type('y')
    await desk.pass(400)
    expect(desk.shown).not.toContain('y allow once')
    await desk.pass()
    expect(desk.shown).toContain('y allow once')
    await desk.type('n')
    await desk.pass()
    expect((await answer)?.decision).toBe('deny')
  })

  test.each([
    ['a paste that the terminal marks', ['\x1b[200~y\x1b[201~']],
    ['a marked paste on a slow link', [...'\x1b[200~y\x1b[201~']],
    ['a paste that it does not mark', ['yes\r']],
    ['an unmarked paste on a slow link', [...'yes\r']],
    ['y with Alt on a slow link', [...'\x1by']],
    ['y right before an arrow key', ['y', '\x1b', '[', 'A']],
  ])('do not count in %s', async (_, chunks) => {
    const pasted = async (desk: Desktop) => {
      await desk.pass()
      for (const chunk of chunks) await desk.type(chunk)
    }
    expect(await decidedAfter(pasted)).toBe('deny')
  })

  test('are part of the press if they repeat its key, and do not answer the next request', async () => {
    using desk = new Desktop()
    const first = desk.ask(permission)
    await desk.pass()
    await desk.type('yy')
    await desk.pass()
    expect(await first).toMatchObject({ decision: 'allow' })
    const second = desk.ask(permission)
    await desk.type('y')
    await desk.pass()
    desk.over.abort()
    expect(await second).toBeUndefined()
  })

  test('do not choose an option, and do not submit a text', async () => {
    using desk = new Desktop()
    const answer = desk.ask(question())
    await desk.type(ENTER)
    await desk.pass()
    await desk.type(`hello${ENTER}`)
    await desk.pass()
    await desk.pass()
    await desk.type(DOWN)
    await desk.pass()
    await desk.type(ENTER)
    await desk.pass()
    expect((await answer)?.answers).toEqual({ colour: ['green'] })
    const free = desk.ask(question({ options: [] }))
    await desk.pass()
    await desk.type(`\x1b[200~two${ENTER}lines${ENTER}\x1b[201~`)
    await desk.type(ENTER)
    expect((await free)?.answers).toEqual({ colour: ['two lines '] })
  })
})

describe('an input that is higher than the screen', () => {
  const content = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`).join('\n')
  const long: RequestOpened = { ...permission, tool: 'Write', title: '/a/b.txt', input: { content } }

  test('is allowed only after all of it was on the screen', async () => {
    expect(await typed(long, ['y', 's', 'n'], 20)).toMatchObject({ decision: 'deny' })
    expect(await typed(long, ['v', ' ', 'x', 'y', 'n'], 20)).toMatchObject({ decision: 'deny' })
    expect(await typed(long, ['v', ' ', ' ', ' ', 'y'], 20)).toMatchObject({ decision: 'allow' })
  })

  test('names what the keys decide beside them, and what is not shown', async () => {
    using desk = new Desktop()
    const answer = desk.ask(long, 20, 2)
    await desk.pass()
    expect(desk.shown).toContain('  Write  /a/b.txt · 60 lines · 2 more requests wait\n')
    expect(desk.shown).toContain('v view all, then allow (47 lines not shown)')
    expect(desk.shown).not.toContain('y allow once')
    desk.over.abort()
    await answer
  })

  test('has to be viewed again after the size of the terminal changed', async () => {
    using desk = new Desktop()
    const answer = desk.ask(long, 20)
    for (const key of ['v', ' ', ' ', ' ']) {
      await desk.pass()
      await desk.type(key)
      await desk.pass()
    }
    await desk.pass()
    desk.output.emit('resize')
    for (const key of ['y', 'n']) {
      await desk.pass()
      await desk.type(key)
      await desk.pass()
    }
    expect(await answer).toMatchObject({ decision: 'deny' })
    expect(desk.shown.match(/\? Permission/g)).toHaveLength(1)
  })
})

describe('by itself', () => {
  test('it allows once, and no more than that', async () => {
    expect(await agreeable(permission)).toMatchObject({ decision: 'allow', scope: 'once' })
  })

  test('it allows for longer only where there is nothing less', async () => {
    const session = permission.options.filter(({ id }) => id !== 'once')
    expect(await agreeable({ ...permission, options: session })).toMatchObject({ scope: 'session' })
  })

  test('it takes the first answer of each question', async () => {
    expect(await agreeable(question())).toMatchObject({
      decision: 'answered',
      answers: { colour: ['red'] },
    })
  })
})
