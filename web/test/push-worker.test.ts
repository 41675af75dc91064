import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'

const SOURCE = readFileSync(join(import.meta.dirname, '../public/assets/push-worker.js'), 'utf8')
const HASH = '#/sessions/1?request=r'

interface Window {
  url: string
  focused: number
  messages: unknown[]
}

/** The worker of a page below a path of a proxy, and what it did with the browser. A test cannot press a notification. */
function started(urls: readonly string[]) {
  const listeners = new Map<string, (event: object) => void>()
  const done: { shown: unknown[]; opened: string[]; windows: Window[] } = {
    ...{ shown: [], opened: [] },
    windows: urls.map((url) => ({ url, focused: 0, messages: [] })),
  }
  const self = {
    location: { href: 'https://agents.example.com/mainstem/assets/push-worker.js' },
    addEventListener: (type: string, listener: (event: object) => void) => listeners.set(type, listener),
    registration: { showNotification: async (...args: unknown[]) => done.shown.push(args) },
    clients: {
      matchAll: async () =>
        done.windows.map((one) => ({
          url: one.url,
          postMessage: (message: unknown) => one.messages.push(message),
          focus: async () => one.focused++,
        })),
      openWindow: async (url: string) => done.opened.push(url),
    },
  }
  runInNewContext(SOURCE, { self, URL })
  const send = async (type: string, event: object) => {
    let work: Promise<unknown> | undefined
    listeners.get(type)?.({ ...event, waitUntil: (given: Promise<unknown>) => (work = given) })
    await work
  }
  return { done, send }
}

test('a message becomes one notification for each event', async () => {
  const { done, send } = started([])
  const message = { id: '1.7', title: 'Fix it', body: 'codex: Run', url: `http://127.0.0.1:7380/${HASH}` }
  await send('push', { data: { json: () => message } })
  expect(done.shown).toEqual([['Fix it', { body: 'codex: Run', tag: '1.7', data: { hash: HASH } }]])
})

test.each([
  [[], ['https://agents.example.com/mainstem/#/sessions/1?request=r'], []],
  [
    ['https://agents.example.com/other', 'https://agents.example.com/mainstem/#/usage'],
    [],
    [[], [{ hash: HASH }]],
  ],
])(
  'a press opens the page that was registered, or the one that is open: %j',
  async (urls, opened, messages) => {
    const { done, send } = started(urls)
    let closed = 0
    await send('notificationclick', { notification: { data: { hash: HASH }, close: () => closed++ } })
    expect(closed).toBe(1)
    expect(done.opened).toEqual(opened)
    expect(done.windows.map((one) => one.messages)).toEqual(messages)
    expect(done.windows.map(({ focused }) => focused)).toEqual(messages.map((sent) => sent.length))
  },
)
