import { expect, test } from 'vitest'
import { joinSettings } from '../../../src/drivers/process/join-settings.ts'

const join = (given: unknown, own: unknown) =>
  JSON.parse(joinSettings(JSON.stringify(given), JSON.stringify(own)))

test('our settings are on top, and lists are appended', () => {
  const given = { plugin: ['theirs'], agent: { plan: { steps: 9, tools: ['a'] } }, model: 'a', theme: 'b' }
  const own = { plugin: ['ours'], agent: { plan: { steps: 3, tools: ['c'] }, build: {} }, model: 'd' }
  expect(join(given, own)).toEqual({
    plugin: ['theirs', 'ours'],
    agent: { plan: { steps: 3, tools: ['c'] }, build: {} },
    model: 'd',
    theme: 'b',
  })
})

test.each(['', 'not JSON', '[1]', 'null'])('%j is replaced', (given) => {
  expect(joinSettings(given, '{"a":1}')).toBe('{"a":1}')
})

test('a field named like a prototype is a field', () => {
  expect(joinSettings('{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}')).toBe('{"__proto__":{"a":1,"b":2}}')
})
