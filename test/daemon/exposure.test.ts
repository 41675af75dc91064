import { describe, expect, test } from 'vitest'
import { allowedHosts, checkExposure, lacksNames } from '../../src/daemon/exposure.ts'

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
    checkExposure({ host, auth: true })
    checkExposure({ host, auth: false })
  })

  test.each(ELSEWHERE)('on %j needs a token', (host) => {
    expect(() => checkExposure({ host, auth: false })).toThrow(/refusing to listen/)
    checkExposure({ host, auth: true })
  })
})

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

test.each([
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['[::1]']],
  ['192.168.1.5', ['192.168.1.5']],
  ['fd00::5', ['[fd00::5]']],
  // A name for all interfaces is a name for none of them.
  ['0.0.0.0', []],
  ['::', []],
])('a server on %s is called by loopback names, its address and its names', (host, own) => {
  expect(new Set(allowedHosts({ host, hosts: ['a.test'] }))).toEqual(
    new Set([...LOOPBACK_NAMES, ...own, 'a.test']),
  )
})

test('only a server on all interfaces without names lacks them', () => {
  expect(lacksNames({ host: '0.0.0.0', hosts: [] })).toBe(true)
  expect(lacksNames({ host: '::', hosts: [] })).toBe(true)
  expect(lacksNames({ host: '0.0.0.0', hosts: ['a.test'] })).toBe(false)
  expect(lacksNames({ host: '192.168.1.5', hosts: [] })).toBe(false)
  expect(lacksNames({ host: '127.0.0.1', hosts: [] })).toBe(false)
})
