import { expect, test } from 'vitest'
import { approvalFields, escapeInvisible, offeredScopes } from '../../src/client/index.ts'

test.each([
  ['a bidirectional control', 'rm \u202egnp.exe', 'rm \\u202egnp.exe'],
  ['characters without a width', 'a\u200bb\u2060c\ufeff', 'a\\u200bb\\u2060c\\ufeff'],
  ['characters without a glyph', 'x\u3164y\u00ad', 'x\\u3164y\\u00ad'],
  ['a tag character', 'ok\u{e0041}', 'ok\\u{e0041}'],
  ['control characters', 'a\rb\u001b[2Kc\u0000', 'a\\u000db\\u001b[2Kc\\u0000'],
  ['half a character', 'a\ud800', 'a\\ud800'],
  ['line separators', 'a\u2028b', 'a\\u2028b'],
  ['spaces that are not ordinary', 'a\u00a0b\u2003c', 'a\\u00a0b\\u2003c'],
  ['an empty braille pattern', 'a\u2800b', 'a\\u2800b'],
  ['characters for private use', 'a\ue0b0b', 'a\\ue0b0b'],
  ['unassigned characters', 'a\u{e0fff}b', 'a\\u{e0fff}b'],
])('%s becomes an escape', (_, text, shown) => {
  expect(escapeInvisible(text)).toBe(shown)
})

test('other text stays as it is', () => {
  const text = 'if (a < b) {\n\treturn "größer" // 比較　👍\n}'
  expect(escapeInvisible(text)).toBe(text)
})

test('a request has every field of its input, whole and escaped', () => {
  const content = 'x'.repeat(100_000)
  const fields = approvalFields({
    tool: 'Write',
    title: 'Write a\u202eb',
    input: { path: '/tmp/a', content, 'mode\u200b': null, nested: { deep: ['\u202e'] } },
    locations: [{ path: '/tmp/a' }, { path: '/etc/passwd' }],
  })
  expect(fields).toEqual([
    { name: 'tool', text: 'Write' },
    { name: 'title', text: 'Write a\\u202eb' },
    { name: 'path', text: '/tmp/a' },
    { name: 'content', text: content },
    { name: 'mode\\u200b', text: 'null' },
    { name: 'nested', text: '{\n  "deep": [\n    "\\u202e"\n  ]\n}' },
    { name: 'location', text: '/etc/passwd' },
  ])
})

test('an input that is no object is one field', () => {
  expect(approvalFields({ input: 'ls' })).toEqual([{ name: 'input', text: 'ls' }])
  expect(approvalFields({ input: undefined })).toEqual([])
})

test('a permission beyond the call is shown with its description', () => {
  const data = { patterns: ['/etc/*'] }
  const shown = [
    { name: 'permission', text: 'external_directory' },
    { name: 'command', text: 'ls /etc' },
    { name: 'data', text: '{\n  "patterns": [\n    "/etc/*"\n  ]\n}' },
  ]
  expect(approvalFields({ permission: 'external_directory', input: { command: 'ls /etc' }, data })).toEqual(
    shown,
  )
})

test('the description of a call is shown only if the call has no input', () => {
  expect(approvalFields({ input: { command: 'ls' }, data: { diff: '+x' } })).toHaveLength(1)
  for (const input of [undefined, {}]) {
    expect(approvalFields({ input, data: 'asks to edit' })).toEqual([{ name: 'data', text: 'asks to edit' }])
  }
})

test('what an answer for longer allows besides the call is shown', () => {
  const options = [
    { id: 'once', label: 'Allow once', effect: 'allow', scope: 'once' },
    { id: 'session', label: 'Allow for this session: Bash(rm\u00a0*)', effect: 'allow', scope: 'session' },
    { id: 'wider', label: 'Allow everything', effect: 'allow', scope: 'session' },
    { id: 'always', label: 'Always allow', effect: 'allow', scope: 'always' },
    { id: 'never', label: 'Never allow rm', effect: 'deny', scope: 'always' },
  ] as const
  expect(approvalFields({ input: 'rm', options: [...options] })).toEqual([
    { name: 'input', text: 'rm' },
    { name: 'for this session', text: 'Allow for this session: Bash(rm\\u00a0*)' },
  ])
})

test.each(['For the session', 'Allow for this session', 'Approve for the session', 'Always', 'Always allow'])(
  '"%s" says no more than its scope',
  (label) => {
    const scope = /always/i.test(label) ? 'always' : 'session'
    const options = [{ id: 'o', label, effect: 'allow', scope } as const]
    expect(approvalFields({ input: 'rm', options })).toEqual([{ name: 'input', text: 'rm' }])
  },
)

test('a request is allowed in the scopes that the agent offers, and once if it offers none', () => {
  const option = (scope: 'once' | 'session' | 'always', effect: 'allow' | 'deny' = 'allow') =>
    ({ id: scope, label: scope, effect, scope }) as const
  expect(offeredScopes({ options: [] })).toEqual(['once'])
  expect(offeredScopes({ options: [option('once', 'deny')] })).toEqual(['once'])
  expect(offeredScopes({ options: [option('always'), option('session')] })).toEqual(['session', 'always'])
  expect(offeredScopes({ options: [option('always'), option('once')] })).toEqual(['once', 'always'])
})
