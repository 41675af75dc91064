import type { LookupAddress } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { AddressGuard, isPublic } from '../../src/webhooks/address-guard.ts'
import { post } from '../../src/webhooks/post.ts'
import { Receiver } from './receiver.ts'

const never = new AbortController().signal

test.each([...['8.8.8.8', '93.184.216.34', '2606:4700::6810:85e5', '2a00:1450:4001:81b::200e']])(
  '%s is public',
  (address) => {
    expect(isPublic(address)).toBe(true)
  },
)

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...[
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
  ],
  ...['::', '::1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', '64:ff9b::7f00:1', 'fe80::1', 'fc00::1', 'fd12::1'],
  ...['ff02::1', '2001:db8::1', '2001::1', '2002:7f00:1::', '3fff::1', 'name.example', ''],
])('%s is not public', (address) => {
  expect(isPublic(address)).toBe(false)
})

describe('a guard', () => {
  const strict = new AddressGuard([])
  const refused = { code: 'invalid_request', details: { field: 'url' } }

  test.each([
    ...['http://example.com/', 'https://127.0.0.1/', 'https://0x7f.1/', 'https://2130706433/'],
    ...['https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://169.254.169.254/latest', 'https://0/'],
  ])('refuses %s', (url) => {
    expect(() => strict.check(new URL(url))).toThrow('may not be called')
  })

  test('allows https to a public address, and private ranges only if the operator named them', () => {
    for (const url of ['https://example.com/', 'https://8.8.8.8/']) strict.check(new URL(url))
    const allowing = new AddressGuard(['10.0.0.0/8', 'fd00::/8'])
    for (const url of ['http://10.2.3.4/', 'https://10.2.3.4/', 'https://[fd00::1]/', 'http://ntfy.lan/'])
      allowing.check(new URL(url))
    expect(() => allowing.check(new URL('http://11.0.0.1/'))).toThrow('may not be called')
  })

  test('compares the address to which it connects, so that a name cannot lead elsewhere later', async () => {
    await using receiver = await new Receiver().start()
    const { port } = new URL(receiver.url)
    const answers: LookupAddress[][] = []
    const resolve = async () => answers.shift() ?? []
    const local = { address: '127.0.0.1', family: 4 }
    const send = (guard: AddressGuard, url: string) =>
      post({ url: new URL(url), headers: {}, body: '{}' }, guard, never)
    // The name was public when it was checked, and is not when it is called.
    answers.push([{ address: '8.8.8.8', family: 4 }])
    const rebound = new AddressGuard([], resolve)
    rebound.check(new URL(`https://rebind.example:${port}/`))
    answers.splice(0)
    for (const found of [[local], [{ address: '::1', family: 6 }], []]) {
      answers.push(found)
      await expect(send(rebound, `https://rebind.example:${port}/`)).rejects.toMatchObject(refused)
    }
    // Of several addresses only those that are allowed are tried.
    answers.push([{ address: '10.0.0.1', family: 4 }, local])
    const allowing = new AddressGuard(['127.0.0.1'], resolve)
    expect(await send(allowing, `http://name.example:${port}/`)).toEqual({ status: 204 })
    expect(receiver.received).toHaveLength(1)
    answers.push([{ address: '10.0.0.1', family: 4 }])
    await expect(send(allowing, `http://name.example:${port}/`)).rejects.toMatchObject(refused)
    // Plain http goes to private addresses only.
    answers.push([{ address: '8.8.8.8', family: 4 }])
    await expect(send(allowing, `http://name.example:${port}/`)).rejects.toMatchObject(refused)
  })
})
