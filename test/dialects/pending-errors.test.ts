import { describe, expect, test } from 'vitest'
import type { Event } from '../../src/model/index.ts'
import { SAMPLES } from '../model/samples.ts'
import { say as sayUes } from './ues/ues-scene.ts'
import { say as sayUnified } from './unified/unified-say.ts'

const ERROR: Event = { type: 'notice.raised', level: 'error', code: 'agent_error', message: 'HTTP 500' }
const text = (text: string, partial?: true): Event => ({
  type: 'text.completed',
  messageId: 'm1',
  text,
  ...(partial && { partial }),
})

describe.each([
  ['ues', sayUes],
  ['unified', sayUnified],
] as const)('an error in %s that did not end the turn', (_, say) => {
  const typesOf = (...events: Event[]) => say(...events).map(({ type }) => type)

  test.each<[string, Event]>([
    ['text', text('I tried again.')],
    ['thinking', { type: 'thinking.completed', messageId: 'm2', text: 'again' }],
    ['tool', SAMPLES['tool.completed']],
  ])('comes before the completed %s that followed it', (_, next) => {
    expect(typesOf(ERROR, next)[0]).toBe('error')
    expect(typesOf(ERROR, next).filter((type) => type === 'error')).toHaveLength(1)
  })

  test.each<[string, Event]>([
    ['text that was cut off', text('I', true)],
    ['text that repeats it', text('API error: HTTP 500')],
    ['tool that the end of the process closed', { ...SAMPLES['tool.completed'], settled: true }],
  ])('is not reported before a %s', (_, next) => {
    expect(typesOf(ERROR, next)).not.toContain('error')
  })
})
