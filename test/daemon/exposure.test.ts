import { describe, expect, test } from 'vitest'
import { allowedHosts, checkExposure } from '../../src/daemon/exposure.ts'

const LOOPBACK = ['127.0.0.1', '127.0.0.2', '::1', 'localhost']
const ELSEWHERE = [
  '0.0.0.0',
  '::',
  '192.168.1.5',
  '10.0.0.1',
  'example.com',
  '::ffff:192.168.1.5',
  '128.0.0.1',
  '',
]

describe('listening', () => {
  test.each(LOOPBACK)('on %s is safe with and without a token', (host) => {
    checkExposure({ host, hosts: [], auth: true })
    checkExposure({ host, hosts: [], auth: false })
  })

  test.each(ELSEWHERE)('on %j needs a token and a name', (host) => {
    expect(() => checkExposure({ host, hosts: ['example.com'], auth: false })).toThrow(/refusing to listen/)
    expect(() => checkExposure({ host, hosts: [], auth: true })).toThrow(/refusing to listen/)
    checkExposure({ host, hosts: ['example.com'], auth: true })
  })
})

test('loopback names are known on loopback only', () => {
  expect(allowedHosts({ host: '127.0.0.1', hosts: ['a.test'], auth: true })).toEqual(
    expect.arrayContaining(['localhost', '127.0.0.1', '[::1]', 'a.test']),
  )
  expect(allowedHosts({ host: '0.0.0.0', hosts: ['a.test'], auth: true })).toEqual(['a.test'])
})
