import { createECDH, createPublicKey, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import type { StoredWebhook } from '../../src/model/webhook.ts'
import { requestTo } from '../../src/webhooks/destinations.ts'
import { checkPushKeys, encrypted } from '../../src/webhooks/push.ts'
import { decrypted } from './verify.ts'

const bytes = (text: string) => Buffer.from(text, 'base64url')

// The example of RFC 8291, appendix A.
const EXAMPLE = {
  text: 'When I grow up, I want to be a watermelon',
  sender: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  receiver: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  message:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

test('a message is encrypted as in the example of RFC 8291', () => {
  const chance = { salt: bytes(EXAMPLE.salt), privateKey: bytes(EXAMPLE.sender) }
  expect(encrypted(EXAMPLE.text, EXAMPLE, chance).toString('base64url')).toBe(EXAMPLE.message)
})

function device() {
  const [browser, sender] = [createECDH('prime256v1'), createECDH('prime256v1')]
  browser.generateKeys()
  sender.generateKeys()
  const push = {
    p256dh: browser.getPublicKey('base64url'),
    auth: EXAMPLE.auth,
    publicKey: sender.getPublicKey('base64url'),
    privateKey: sender.getPrivateKey().toString('base64url').padStart(43, 'A'),
  }
  return { push, privateKey: browser.getPrivateKey() }
}

test('a browser gets what waits for a person, and the push service knows only who sends', () => {
  const { push, privateKey } = device()
  const webhook: StoredWebhook = {
    ...{ id: 'p', principal: 'ann', kind: 'push', url: 'https://push.example/send/device', push },
    ...{ events: ['request.opened'], secrets: [], at: 0 },
  }
  const { url, headers, body } = requestTo(webhook, {
    id: 'session.7',
    now: 1_700_000_000_000,
    contact: 'mailto:ann@example.com',
    payload: {
      type: 'request.opened',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { title: 'Fix it', text: 'codex: Run rm -rf', url: 'https://mainstem.example/#/sessions/1' },
    },
  })
  expect(JSON.parse(decrypted(Buffer.from(body), privateKey, bytes(push.auth)))).toEqual({
    ...{ id: 'session.7', title: 'Fix it', body: 'codex: Run rm -rf' },
    url: 'https://mainstem.example/#/sessions/1',
  })
  expect([url.href, headers.urgency, headers['content-encoding']]).toEqual([
    'https://push.example/send/device',
    'high',
    'aes128gcm',
  ])
  const [, token = '', key] = /^vapid t=(\S+), k=(\S+)$/.exec(headers.authorization ?? '') ?? []
  const [header = '', claims = '', signature = ''] = token.split('.')
  expect(key).toBe(push.publicKey)
  expect(JSON.parse(bytes(header).toString())).toEqual({ typ: 'JWT', alg: 'ES256' })
  expect(JSON.parse(bytes(claims).toString())).toEqual({
    aud: 'https://push.example',
    exp: 1_700_000_000 + 12 * 3_600,
    sub: 'mailto:ann@example.com',
  })
  const point = bytes(push.publicKey)
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)]
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${claims}`)
  const options = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  expect(verify('sha256', signed, options, bytes(signature))).toBe(true)
  expect(verify('sha256', Buffer.from(`${header}.x`), options, bytes(signature))).toBe(false)
})

test('keys that no browser has are refused', () => {
  const { push } = device()
  checkPushKeys(push)
  for (const wrong of [{ auth: 'short' }, { p256dh: push.auth }, { publicKey: '' }, { privateKey: 'AA' }])
    expect(() => checkPushKeys({ ...push, ...wrong })).toThrow('not the keys of a browser')
})
