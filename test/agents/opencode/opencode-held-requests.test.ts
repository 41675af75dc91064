import { beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_POLICY, type Policy } from '../../../src/model/index.ts'
import { answerFor } from '../../../src/sessions/turns/approval.ts'
import { call, done, type Talk, working } from './opencode-talk.ts'

let talk: Talk
beforeEach(() => {
  talk = working()
})

describe('requests', () => {
  test('that precede their call wait for it, and show its name and input', () => {
    talk.part(call('pending'))
    talk.asked('per_1', 'call_1', { permission: 'edit' })
    expect(talk.of('request.opened')).toEqual([])
    talk.part({ ...call('running'), tool: 'write' })
    expect(talk.of('request.opened')).toMatchObject([
      {
        toolId: 'call_1',
        tool: 'write',
        toolKind: 'edit',
        input: { command: 'ls' },
        data: { permission: 'edit' },
      },
    ])
    const types = talk.events.map(({ type }) => type)
    expect(types.indexOf('tool.started')).toBeLessThan(types.indexOf('request.opened'))
  })

  test('for more than their call name it and the permission, and no tool list allows them', () => {
    talk.part(call('running'))
    talk.asked('per_1', 'call_1', { permission: 'external_directory', patterns: ['/etc/*'], metadata: {} })
    const [request] = talk.of('request.opened')
    expect(request).toMatchObject({
      tool: 'bash',
      toolKind: 'execute',
      permission: 'external_directory',
      title: 'external_directory: /etc/*',
      input: { command: 'ls' },
    })
    const isInside = () => true
    const decisionWith = (policy: Partial<Policy>) =>
      request &&
      answerFor(request, { policy: { ...DEFAULT_POLICY, ...policy }, attended: true, isInside })?.decision
    expect(decisionWith({ tools: { preapproved: ['bash', 'execute'] } })).toBeUndefined()
    expect(decisionWith({ tools: { preapproved: ['external_directory'] } })).toBe('allow')
    expect(decisionWith({ tools: { denied: ['external_directory'] } })).toBe('deny')
    expect(decisionWith({ tools: { denied: ['bash'] } })).toBe('deny')
  })

  test('that end with their turn before their call starts are opened and withdrawn', () => {
    talk.asked('per_1', 'call_1')
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('request.opened').length).toBe(1)
    expect(talk.of('request.withdrawn').length).toBe(1)
  })

  test('that are reported again are one request, and with other details another', () => {
    const asked = (diff: string) =>
      talk.asked('per_1', 'call_1', { permission: 'edit', patterns: ['a'], metadata: { diff } })
    talk.part(call('running'))
    asked('+safe')
    talk.answer({ type: 'answer', requestId: 'e1.per_1', decision: 'allow' })
    asked('+safe')
    expect(talk.of('request.opened')).toHaveLength(1)
    asked('+rm -rf /')
    expect(talk.of('request.opened').map(({ data }) => data)).toMatchObject([
      { metadata: { diff: '+safe' } },
      { metadata: { diff: '+rm -rf /' } },
    ])
  })
})
