import { describe, expect, test } from 'vitest'
import '@clack/prompts'
import { keyHint } from '../../src/cli/render/key-line.ts'
import { agreeable } from '../../src/cli/terminal/ask.ts'
import { MainstemError } from '../../src/model/index.ts'
import { DOWN, ENTER, permission, question, typed } from './asking.ts'
import { Desktop } from './desktop.ts'

const CTRL_C = '\x03'

/** The longest time before a held key repeats that Windows can be set to. */
const SLOWEST_REPEAT_MS = 1000

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
    await desk.pass()
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
    expect(keyHint({ ...permission, options: [] }, 80)).not.toContain('session')
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
    expect(await typed(question(), [DOWN, DOWN, ENTER])).toEqual({
      type: 'answer',
      requestId: 'r1',
      decision: 'answered',
      answers: { colour: ['green'] },
    })
  })

  describe('several questions are a form', () => {
    const colour = {
      text: 'Which colour?',
      options: [{ label: 'red' }, { label: 'green' }, { label: 'blue' }],
    }
    const [wall, door] = [
      { ...colour, id: 'wall' },
      { ...colour, id: 'door' },
    ]
    const form = { ...question(), questions: [wall, door] }

    test('whose answers are sent after they were seen together', async () => {
      using desk = new Desktop()
      const answer = desk.ask(form)
      for (const key of [DOWN, ENTER, DOWN, DOWN, ENTER, ENTER, DOWN]) await desk.press(key)
      expect(desk.shown).toContain('1 of 2 · Which colour?')
      expect(desk.shown).toContain('2 of 2 · Which colour?')
      expect(desk.shown).toContain('Which colour?: green')
      await desk.press(ENTER)
      expect((await answer)?.answers).toEqual({ wall: ['red'], door: ['green'] })
    })

    test('where an answer can be changed; Escape keeps it', async () => {
      using desk = new Desktop()
      const answer = desk.ask(form)
      const first = [DOWN, ENTER, DOWN, ENTER]
      const change = [DOWN, DOWN, ENTER, DOWN, DOWN, DOWN, ENTER]
      for (const key of [...first, ...change, DOWN, DOWN, DOWN, ENTER, '\x1b']) await desk.press(key)
      // The prompt waits for the rest of a sequence.
      const before = desk.shown.length
      const next = async () => {
        await desk.pass()
        return desk.shown.slice(before)
      }
      await expect.poll(next).toContain('Send, or change an answer')
      for (const key of [DOWN, ENTER]) await desk.press(key)
      expect((await answer)?.answers).toEqual({ wall: ['blue'], door: ['red'] })
    })

    test('that Escape leaves without an answer', async () => {
      expect(await typed(form, [DOWN, ENTER, DOWN, ENTER, '\x1b', ''])).toBeUndefined()
    })

    test('which shows no secret', async () => {
      using desk = new Desktop()
      const secret = { id: 'key', text: 'Which key?', options: [], secret: true }
      const answer = desk.ask({ ...form, questions: [secret, wall] })
      for (const key of ['k', 'e', 'y', ENTER, DOWN, ENTER, DOWN, ENTER]) await desk.press(key)
      expect((await answer)?.answers).toEqual({ key: ['key'], wall: ['red'] })
      expect(desk.shown).toContain('Which key?: ••••')
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

  test('no answer is chosen before a person chooses one, and an empty text is none', async () => {
    expect(await typed(question(), [ENTER, ENTER, DOWN, ENTER])).toMatchObject({
      answers: { colour: ['red'] },
    })
    const free = question({ options: [] })
    expect(await typed(free, [ENTER, ' ', ENTER, 'x', ENTER])).toMatchObject({ answers: { colour: [' x'] } })
  })

  test('an answer that was refused is asked for again, with the reason', async () => {
    using desk = new Desktop()
    const refused = new MainstemError('unsupported_option', 'scope: not\u200b here')
    const answer = desk.ask(permission, 40, 0, refused)
    await desk.pass()
    expect(desk.shown).toContain('  refused: scope: not\\u200b here\n')
    await desk.type('n')
    await desk.pass()
    expect(await answer).toMatchObject({ decision: 'deny' })
  })

  test('something else is typed after it was chosen', async () => {
    const answer = await typed(question({ other: true }), [DOWN, DOWN, DOWN, DOWN, ENTER, 'x', ENTER])
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
    const label = 'Allow\x1b]52;c;eA==\x07\u200b\nall'
    const answer = desk.ask(question({ options: [{ label }] }))
    await desk.pass()
    desk.over.abort()
    await answer
    expect(desk.shown).toContain('Allow\\u001b]52;c;eA==\\u0007\\u200b all')
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
    await desk.pass(SLOWEST_REPEAT_MS)
    expect(desk.shown).not.toContain('y allow once')
    await desk.type('y')
    await desk.pass(SLOWEST_REPEAT_MS)
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
    for (const key of [DOWN, DOWN, ENTER]) {
      await desk.type(key)
      await desk.pass()
    }
    expect((await answer)?.answers).toEqual({ colour: ['green'] })
    const free = desk.ask(question({ options: [] }))
    await desk.pass()
    await desk.type(`\x1b[200~two${ENTER}lines${ENTER}\x1b[201~`)
    await desk.type(ENTER)
    expect((await free)?.answers).toEqual({ colour: ['two lines '] })
  })
})

describe('by itself', () => {
  test('it does not repeat an answer that was refused', async () => {
    const refused = new MainstemError('invalid_request', 'no')
    await expect(agreeable(permission, { refused })).rejects.toBe(refused)
  })

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
