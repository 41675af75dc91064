import { createDecipheriv, createECDH, createHmac, hkdfSync } from 'node:crypto'
import type { Received } from './receiver.ts'

/** Verifies a signature as docs/webhooks.md tells receivers to, without any code of ours. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(text).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}

/** Decrypts as a browser does: the other half of RFC 8291, without any code of ours. */
export function decrypted(body: Buffer, privateKey: Buffer, auth: Buffer): string {
  const [salt, size, length] = [body.subarray(0, 16), body.readUInt32BE(16), body.readUInt8(20)]
  const sender = body.subarray(21, 21 + length)
  const own = createECDH('prime256v1')
  own.setPrivateKey(privateKey)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), sender])
  const hkdf = (key: Buffer, by: Buffer, about: Buffer, count: number) =>
    Buffer.from(hkdfSync('sha256', key, by, about, count))
  const shared = hkdf(own.computeSecret(sender), auth, info, 32)
  const key = hkdf(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = hkdf(shared, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const sealed = body.subarray(21 + length)
  if (sealed.length > size) throw new Error('the record is larger than it says')
  const cipher = createDecipheriv('aes-128-gcm', key, nonce)
  cipher.setAuthTag(sealed.subarray(-16))
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
  if (plain.at(-1) !== 2) throw new Error('the record is not the last')
  return plain.subarray(0, -1).toString()
}
