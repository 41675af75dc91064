import { describe, expect, test } from 'vitest'
import '@clack/prompts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import { DOWN, ENTER, permission, question, typed } from './asking.ts'
import { Desktop } from './desktop.ts'

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

  test('counts the requests that wait when the keys are shown', async () => {
    using desk = new Desktop()
    let waiting = 0
    const answer = desk.ask(permission, 20, () => waiting)
    await desk.idle()
    waiting = 1
    await desk.pass()
    expect(desk.shown).toContain('· 1 more request waits\n')
    waiting = 2
    await desk.type('?')
    await desk.pass()
    await desk.pass()
    expect(desk.shown).toContain('· 2 more requests wait\n')
    desk.over.abort()
    await answer
  })

  test('is viewed before a question about it is answered', async () => {
    const asked = question({ text: content })
    expect(await typed(asked, [DOWN, ENTER, 'v', ' ', ' ', ' ', DOWN, ENTER], 20)).toMatchObject({
      answers: { colour: ['red'] },
    })
    expect(await typed(asked, ['v', 'x', '\x1b', ''], 20)).toBeUndefined()
    using desk = new Desktop()
    void desk.ask({ ...question(), title: 'Terms\u200b of the form' }, 20)
    await desk.pass()
    expect(desk.shown).not.toContain('v view all')
    desk.over.abort()
    await desk.pass()
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
