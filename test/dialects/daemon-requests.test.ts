import { describe, expect, test } from 'vitest'
import { endsExchange } from '../../src/dialects/daemon.ts'
import type { Event } from '../../src/model/index.ts'
import { bash, request, result, say, system } from './daemon-scene.ts'

describe('a request', () => {
  const allowed = (header: string) => ({
    type: 'tool_use',
    tool: 'AskUserQuestion',
    input: [
      {
        header,
        options: [
          { label: 'Allow', description: 'Allow' },
          { label: 'Deny', description: 'Deny' },
        ],
        multiSelect: false,
      },
    ],
    request_id: 'e1.0',
  })
  const input = { command: 'rm -r build' }
  const call = { type: 'tool_use', tool: 'Bash', input }
  const started: Event = { type: 'tool.started', ...bash, input }
  const about = { tool: 'Bash', toolId: 't1', title: 'clean up', input }
  const permission = request(about)
  const question = allowed('Allow Bash: clean up?')

  test('for permission is a question with the answers Allow and Deny', () => {
    expect(say(started, permission)).toEqual([call, question, result])
    expect(say(started, request({ tool: 'Bash', toolId: 't1' }))).toEqual([
      call,
      allowed('Allow Bash?'),
      result,
    ])
  })

  test('shows the call that was not seen yet, and the call is not shown again', () => {
    expect(say(permission, started)).toEqual([call, question, result])
    expect(say(request({ tool: 'Bash', title: 'clean up', input }))).toEqual([call, question, result])
  })

  test('about another input than was shown shows it', () => {
    const other = { command: 'rm -r /' }
    expect(say(started, request({ ...about, input: other }))).toEqual([
      call,
      { ...call, input: other },
      question,
      result,
    ])
  })

  test('is asked at once, whatever its title is', () => {
    const title = `${'?'.repeat(200_000)}x`
    expect(say(request({ title }))).toEqual([allowed(`Allow ${title}?`), result])
  })

  test.each([
    [{ kind: 'permission' }, 'Allow this?'],
    [{ kind: 'permission', title: 'May I run this?' }, 'Allow May I run this?'],
    [{ kind: 'plan', title: 'ExitPlanMode' }, 'Approve this plan?'],
    [{ kind: 'login' }, 'The agent needs a login. Go on?'],
    [{ kind: 'login', title: 'Open the page' }, 'Open the page'],
    [{ kind: 'question' }, 'Go on?'],
  ] as const)('%o asks in words', (more, header) => {
    expect(say(request(more))).toEqual([allowed(header), result])
  })

  test('for answers is the question alone, whatever the agent calls its tool', () => {
    const questions = [{ id: 'q', text: 'Which?', options: [] }]
    const asked = { header: 'Which?', options: [], multiSelect: false }
    expect(say(request({ kind: 'question', tool: 'ask_user', input: { questions }, questions }))).toEqual([
      { type: 'tool_use', tool: 'AskUserQuestion', input: [asked], request_id: 'e1.0' },
      result,
    ])
    expect(say(request({ kind: 'question', questions: [] }))).toEqual([allowed('Go on?'), result])
  })

  test('that a policy or a hook answers is no question to anybody', () => {
    expect(say(request({ ...about, asks: 'policy' }))).toEqual([])
    expect(say(request({ ...about, asks: 'hook' }))).toEqual([])
  })

  test('that does not block leaves the exchange open', () => {
    expect(say(started, request({ ...about, blocking: false }))).toEqual([call, question])
  })

  test('beside another is the next exchange', () => {
    const second = request({ ...about, requestId: 'e1.1', toolId: 't2' })
    const messages = say(started, permission, second)
    expect(messages.filter(endsExchange)).toHaveLength(2)
    expect(messages.slice(3, 6)).toEqual([system, call, { ...question, request_id: 'e1.1' }])
  })
})
