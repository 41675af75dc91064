import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { MainstemError } from '../model/index.ts'
import type { PushKeys } from '../model/webhook.ts'

const CURVE = 'prime256v1'
/** An uncompressed point, and the header of RFC 8188: salt, size of the record, length and value of the key. */
const POINT_BYTES = 65
const [SALT_BYTES, KEY_BYTES, NONCE_BYTES, AUTH_BYTES] = [16, 16, 12, 16]
const RECORD_BYTES = 4096
/** The largest message that every push service takes. */
const MESSAGE_BYTES = 3_800
const TOKEN_SECONDS = 12 * 3_600

const bytesOf = (text: string) => Buffer.from(text, 'base64url')

/** Refuses keys that no browser has. */
export function checkPushKeys({ p256dh, auth, publicKey, privateKey }: PushKeys): void {
  const lengths = [p256dh, publicKey, auth, privateKey].map((text) => bytesOf(text).length)
  const isWrong = lengths.join() !== [POINT_BYTES, POINT_BYTES, AUTH_BYTES, 32].join()
  if (isWrong)
    throw new MainstemError('invalid_request', 'push: not the keys of a browser', { field: 'push' })
}

/** What encryption draws at random. */
export interface Chance {
  salt: Buffer
  privateKey: Buffer
}

/** Encrypts a message for a browser as one record of `aes128gcm` (RFC 8291), so that the push service cannot read it. */
export function encrypted(
  message: string,
  { p256dh, auth }: Pick<PushKeys, 'p256dh' | 'auth'>,
  chance: Partial<Chance> = {},
): Buffer {
  const { salt = randomBytes(SALT_BYTES), privateKey } = chance
  const sender = createECDH(CURVE)
  if (privateKey) sender.setPrivateKey(privateKey)
  else sender.generateKeys()
  const [own, theirs] = [sender.getPublicKey(), bytesOf(p256dh)]
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, own])
  const shared = derived(sender.computeSecret(theirs), bytesOf(auth), info, 32)
  const key = derived(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), KEY_BYTES)
  const nonce = derived(shared, salt, Buffer.from('Content-Encoding: nonce\0'), NONCE_BYTES)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const size = Buffer.alloc(5)
  size.writeUInt32BE(RECORD_BYTES)
  size.writeUInt8(POINT_BYTES, 4)
  // A single byte ends the last record.
  const text = Buffer.concat([Buffer.from(message).subarray(0, MESSAGE_BYTES), Buffer.from([2])])
  return Buffer.concat([salt, size, own, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

function derived(key: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, info, length))
}

/** The header by which a push service knows who sends (VAPID, RFC 8292). `contact` is a URL. */
export function vapidHeader(url: URL, keys: PushKeys, contact: string, now: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const expires = Math.floor(now / 1000) + TOKEN_SECONDS
  const claims = `${part({ typ: 'JWT', alg: 'ES256' })}.${part({ aud: url.origin, exp: expires, sub: contact })}`
  const options = { key: privateKeyOf(keys), dsaEncoding: 'ieee-p1363' } as const
  const signature = sign('sha256', Buffer.from(claims), options).toString('base64url')
  return `vapid t=${claims}.${signature}, k=${keys.publicKey}`
}

function privateKeyOf({ publicKey, privateKey }: PushKeys): KeyObject {
  const point = bytesOf(publicKey)
  const x = point.toString('base64url', 1, 33)
  const y = point.toString('base64url', 33)
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d: privateKey }, format: 'jwk' })
}
