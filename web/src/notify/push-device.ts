import type { Webhook } from 'mainstem/client'
import { client } from '../app/client.ts'

/** The webhook of this browser. */
const KEY = 'mainstem.push'
const WORKER = 'assets/push-worker.js'

declare global {
  /** TypeScript does not know it. What a policy creates is accepted where a string is. */
  var trustedTypes:
    | { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }
    | undefined
}

/** `unsupported`: the browser cannot, or the page has no secure origin. `denied`: the person refused. */
export type DeviceState = 'unsupported' | 'denied' | 'off' | 'on'

export function deviceState(known: readonly Webhook[]): DeviceState {
  if (!('serviceWorker' in navigator && 'PushManager' in globalThis)) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  const id = localStorage.getItem(KEY)
  return known.some((one) => one.id === id && !one.disabled) ? 'on' : 'off'
}

/** The page may load no script but this worker by a name. */
const worker = globalThis.trustedTypes?.createPolicy('mainstem', {
  createScriptURL: () => new URL(WORKER, document.baseURI).href,
})

/** Notifies this device, also while the page is closed. Call it from a button: browsers refuse to ask otherwise. */
export async function notifyHere(): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser does not allow notifications of this page.')
  const { pushManager } = await activeWorker()
  await (await pushManager.getSubscription())?.unsubscribe()
  const sender = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  const publicKey = await crypto.subtle.exportKey('raw', sender.publicKey)
  const { d: privateKey = '' } = await crypto.subtle.exportKey('jwk', sender.privateKey)
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  const { endpoint = '', keys = {} } = subscription.toJSON()
  const { p256dh = '', auth = '' } = keys
  const push = { p256dh, auth, publicKey: base64url(publicKey), privateKey }
  await forget()
  const { webhook } = await client.webhooks.add({ kind: 'push', url: endpoint, name: deviceName(), push })
  localStorage.setItem(KEY, webhook.id)
}

export async function stopNotifyingHere(): Promise<void> {
  await forget()
  const { pushManager } = await activeWorker()
  await (await pushManager.getSubscription())?.unsubscribe()
}

async function forget(): Promise<void> {
  const id = localStorage.getItem(KEY)
  if (id === null) return
  const known = await client.webhooks.list()
  if (known.some((one) => one.id === id)) await client.webhooks.remove(id)
  localStorage.removeItem(KEY)
}

/** The worker controls no page, so `navigator.serviceWorker.ready` would never settle. */
async function activeWorker(): Promise<ServiceWorkerRegistration> {
  const url = new URL(WORKER, document.baseURI).href
  const registration = await navigator.serviceWorker.register(worker?.createScriptURL(url) ?? url)
  const starting = registration.installing ?? registration.waiting
  if (!starting || registration.active) return registration
  return new Promise((resolve, reject) => {
    starting.addEventListener('statechange', () => {
      if (starting.state === 'activated') resolve(registration)
      if (starting.state === 'redundant') reject(new Error('The worker for notifications did not start.'))
    })
  })
}

const base64url = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** What a person recognises in the list: the browser and its system. */
function deviceName(): string {
  const { userAgent } = navigator
  const browser = /(Firefox|Edg|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'Browser'
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(userAgent)?.[1]
  return `${browser === 'Edg' ? 'Edge' : browser}${system === undefined ? '' : ` on ${system}`}`
}
