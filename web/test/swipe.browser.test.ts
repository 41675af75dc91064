import type { Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { script } from '../../test/gateway/puppet.ts'
import { ask, opened } from './approval-requests.ts'
import { faultsOf, theatre } from './page.ts'

const { stage, signedIn } = theatre()

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true }

/** Moves a finger over the element that has this selector. */
const swipe = (page: Page, selector: string, by: { x: number; y: number }) =>
  page.evaluate(`{
    const target = document.querySelector(${JSON.stringify(selector)})
    const touch = (x, y) => new Touch({ identifier: 1, target, clientX: x, clientY: y })
    const fire = (type, touches, changedTouches) =>
      target.dispatchEvent(new TouchEvent(type, { touches, changedTouches, bubbles: true }))
    fire('touchstart', [touch(200, 300)], [touch(200, 300)])
    fire('touchend', [], [touch(200 + ${by.x}, 300 + ${by.y})])
  }`)

test('a swipe leads to the next and the previous session that needs you, and answers nothing', async () => {
  const ids: string[] = []
  for (const id of ['a', 'b', 'c']) {
    const begun = await stage.client.begin({ agent: 'able', prompt: script(ask(id, { command: id })) })
    await opened(stage.client, begun.id, 1)
    ids.push(begun.id)
  }
  const { id: calm } = await stage.client.begin({ agent: 'echo', prompt: 'calm' })
  const watched = await signedIn(PHONE)
  const { page } = watched
  const shows = (id: string | undefined) =>
    expect.poll(() => new URL(page.url()).hash).toBe(`#/sessions/${id}`)
  await page.goto(`${stage.url}/#/sessions/${calm}`)
  await page.getByRole('link', { name: '3 more need you →' }).waitFor()
  const walk = [
    [{ x: -150, y: 10 }, ids[0]],
    [{ x: -150, y: 0 }, ids[1]],
    [{ x: -150, y: 0 }, ids[2]],
    [{ x: -150, y: 0 }, ids[0]],
    [{ x: 150, y: 0 }, ids[2]],
    [{ x: 150, y: -20 }, ids[1]],
  ] as const
  for (const [by, id] of walk) {
    await swipe(page, 'header', by)
    await shows(id)
    await page.locator('[data-request]').waitFor()
  }
  for (const by of [
    { x: -60, y: 0 },
    { x: -150, y: 140 },
  ])
    await swipe(page, 'header', by)
  await swipe(page, '#prompt', { x: -150, y: 0 })
  await shows(ids[1])
  for (const id of ids)
    await vi.waitFor(async () => expect((await stage.client.session(id)).requests).toHaveLength(1))
  expect(await faultsOf(watched)).toEqual([])
})
