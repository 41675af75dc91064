import { expect, test } from 'vitest'
import { keyHint } from '../../src/cli/terminal/permission-keys.ts'

const permission = {
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  tool: 'Bash',
  inputDigest: '0',
} as const

test('only the scopes that the agent offers have a key', () => {
  const allow = (...scopes: ('once' | 'session' | 'always')[]) =>
    keyHint({
      ...permission,
      options: scopes.map((scope) => ({ id: scope, label: scope, effect: 'allow', scope })),
    })
  expect(allow()).toBe('  y allow once · n deny · d deny with a reason ')
  expect(allow('once', 'always')).toBe('  y allow once · n deny · d deny with a reason ')
  expect(allow('session')).toBe('  s allow for this session · n deny · d deny with a reason ')
  expect(allow('always')).toBe('  n deny · d deny with a reason ')
})
