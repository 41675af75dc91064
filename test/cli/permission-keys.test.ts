import picocolors from 'picocolors'
import { expect, test } from 'vitest'
import { keyHint, pageLine } from '../../src/cli/render/key-line.ts'
import { newView } from '../../src/cli/render/view.ts'
import { widthOf } from '../../src/cli/render/wrap.ts'

const permission = {
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  tool: 'Bash',
  inputDigest: '0',
} as const

type Scope = 'once' | 'session' | 'always'

const offering = (...scopes: Scope[]) => ({
  ...permission,
  options: scopes.map((scope) => ({ id: scope, label: scope, effect: 'allow' as const, scope })),
})

test('only the scopes that the agent offers have a key', () => {
  const allow = (...scopes: Scope[]) => keyHint(offering(...scopes), 80)
  expect(allow()).toBe('  y allow once · n deny · d deny with a reason ')
  expect(allow('once', 'always')).toBe('  y allow once · n deny · d deny with a reason ')
  expect(allow('session')).toBe('  s allow for this session · n deny · d deny with a reason ')
  expect(allow('always')).toBe('  n deny · d deny with a reason ')
})

test.each([60, 80, 120])('all keys are on one line of %i columns', (columns) => {
  const every = offering('once', 'session')
  for (const kind of ['permission', 'plan'] as const)
    for (const hidden of [0, 7, 99, 1_234]) {
      const hint = keyHint({ ...every, kind }, columns, hidden)
      // One column is for the cursor.
      expect(widthOf(hint), hint).toBeLessThan(columns)
      expect(hint).toMatch(hidden === 0 ? /^ {2}y .* · s .* · n .* · d .*/ : /^ {2}v view .* · n .* · d .*/)
    }
})

test.each([60, 80, 120])('a page of an input names the request on its last line of %i columns', (columns) => {
  const view = newView({ colors: picocolors.createColors(false), columns: () => columns })
  const request = offering('once')
  const location = { path: `/very/long/${'directory/'.repeat(9)}file.ts` }
  for (const from of [1, 1_234]) {
    const line = pageLine(view, { ...request, locations: [location] }, { from, to: from + 20, of: 9_999 })
    expect(widthOf(line), line).toBeLessThan(columns)
    expect(line).toMatch(
      new RegExp(`^ {2}Bash {2}/.*… · .*${from}(–| to )${from + 20} of 9999 · space .* back $`),
    )
  }
})
