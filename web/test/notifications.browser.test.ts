import { createECDH, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { promptFor, script } from '../../test/gateway/puppet.ts'
import { Receiver } from '../../test/webhooks/receiver.ts'
import { decrypted } from '../../test/webhooks/verify.ts'
import { ask, opened } from './approval-requests.ts'
import { faultsOf, theatre, violations } from './page.ts'

const { stage, signedIn } = theatre()

/** What the push service gets: it is not JSON. */
const pushed: Buffer[] = []
const service = createServer(async (request, response) => {
  pushed.push(await buffer(request))
  response.writeHead(201).end()
})
beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => service.close(resolve)))

test('a topic is added, tested and removed', async () => {
  await using receiver = await new Receiver().start()
  const watched = await signedIn()
  const { page } = watched
  await page.getByRole('link', { name: 'Notifications' }).click()
  await page.getByText('Nobody is called yet.').waitFor()
  await page.getByRole('textbox', { name: 'URL' }).fill('http://8.8.8.8/topic')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText(/only https and public addresses/).waitFor()
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
  await page.getByRole('button', { name: 'Add' }).click()
  const row = page.getByRole('listitem').filter({ hasText: receiver.url })
  await row.getByRole('button', { name: 'Test' }).click()
  await row.getByText('Accepted: HTTP 204').waitFor()
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ topic: 'hook', title: 'Mainstem' })
  expect(await violations(page)).toEqual([])
  await row.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Nobody is called yet.').waitFor()
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('webhook')
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText(/^Its secret is shown once: whsec_/).waitFor()
  for (const { id } of await stage.client.webhooks.list()) await stage.client.webhooks.remove(id)
  expect(await faultsOf(watched)).toEqual([])
})

test('the link of a notification shows its request first', async () => {
  const prompt = promptFor('Two requests', script(ask('a', { path: 'a.ts' }), ask('b', { path: 'b.ts' })))
  const { id } = await stage.client.begin({ agent: 'able', cwd: stage.home, prompt })
  await opened(stage.client, id, 2)
  const { page } = await signedIn()
  const cards = page.getByRole('region', { name: 'Requests' }).locator('[data-request]')
  const first = () => cards.first().getAttribute('data-request')
  await page.goto(`${stage.url}/#/sessions/${id}`)
  await expect.poll(first).toBe('a')
  await page.goto(`${stage.url}/#/sessions/${id}?request=b`)
  await expect.poll(first).toBe('b')
})

test('this device is told of a request while nobody looks, and the notification leads to it', async () => {
  const { port } = service.address() as AddressInfo
  const browser = createECDH('prime256v1')
  browser.generateKeys()
  const auth = randomBytes(16)
  const subscription = {
    endpoint: `http://127.0.0.1:${port}/device`,
    keys: { p256dh: browser.getPublicKey('base64url'), auth: auth.toString('base64url') },
  }
  const watched = await signedIn({ permissions: ['notifications'] })
  const { page } = watched
  // A browser of a test has no push service, so this one stands for it.
  await page.evaluate(`
    PushManager.prototype.getSubscription = async () => null
    PushManager.prototype.subscribe = async () => ({ toJSON: () => (${JSON.stringify(subscription)}) })
    Notification.requestPermission = async () => 'granted'
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' })
  `)
  await page.getByRole('link', { name: 'Notifications' }).click()
  await page.getByRole('button', { name: 'Notify me here' }).click()
  await page.getByText('This device is told').waitFor()
  const prompt = promptFor('One request', script(ask('r', { path: 'a.ts' }, { title: 'Read a.ts' })))
  const { id } = await stage.client.begin({ agent: 'able', cwd: stage.home, prompt })
  await expect.poll(() => pushed.length).toBe(1)
  const message = decrypted(pushed[0] ?? Buffer.alloc(0), browser.getPrivateKey(), auth)
  expect(JSON.parse(message)).toMatchObject({
    body: 'able: Read a.ts',
    url: `${stage.url}/#/sessions/${id}?request=r`,
  })
  const worker = `${stage.url}/assets/push-worker.js`
  const registered = `navigator.serviceWorker.getRegistration('assets/').then((one) => one?.active?.scriptURL)`
  expect(await page.evaluate(registered)).toBe(worker)
  await page.getByRole('button', { name: 'Stop notifying this device' }).click()
  await page.getByRole('button', { name: 'Notify me here' }).waitFor()
  expect(await stage.client.webhooks.list()).toEqual([])
  expect(await faultsOf(watched)).toEqual([])
})
