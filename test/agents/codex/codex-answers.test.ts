import { describe, expect, test } from 'vitest'
import { TOOLS } from '../../../src/agents/codex/tool-lists.ts'
import { toolNames } from '../../../src/agents/kit/tool-names.ts'
import type { RequestOpened } from '../../../src/model/events/request.ts'
import type { AnswerCommand, Approval, Policy } from '../../../src/model/index.ts'
import { answerFor } from '../../../src/sessions/turns/approval.ts'
import { inTurn, item, notification, written } from './codex-wire.ts'

type Answer = Omit<AnswerCommand, 'type' | 'requestId'>

/** A codec that was asked something, and what it writes for an answer. */
function answered(method: string, params: object, answer: Answer) {
  const codec = inTurn()
  const command = { type: 'commandExecution', id: 'call-1', command: 'ls', cwd: '/project' }
  const mcp = { type: 'mcpToolCall', id: 'call-2', server: 'demo', tool: 'echo', arguments: { text: 'hi' } }
  codec.hear(item('started', command))
  codec.hear(item('started', mcp))
  const { emitted } = codec.hear({ ...notification(method, params), id: 0 })
  const step = codec.command({ type: 'answer', requestId: 'e1.0', ...answer })
  return { codec, opened: emitted[0], step, result: step.refused ?? Object(written(step)[0]) }
}

const COMMAND = 'item/commandExecution/requestApproval'
const amendment = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ['ls', '-l'] } }
const asked = { itemId: 'call-1', command: 'ls', availableDecisions: ['accept', amendment, 'cancel'] }

describe('a request that the server resolves without our answer', () => {
  const QUESTION = 'item/tool/requestUserInput'

  test.each([
    ['answered by another client', COMMAND, asked, false, 'answered_elsewhere'],
    ['cleared by an interrupt', COMMAND, asked, true, 'interrupted'],
    ['answered by its time limit', QUESTION, { questions: [], autoResolutionMs: 60_000 }, false, 'agent'],
  ])('was %s', (_name, method, params, interrupted, reason) => {
    const codec = inTurn()
    codec.hear({ ...notification(method, params), id: 0 })
    if (interrupted) codec.command({ type: 'interrupt' })
    const { emitted } = codec.hear(notification('serverRequest/resolved', { requestId: 0 }))
    expect(emitted).toEqual([{ type: 'request.withdrawn', requestId: 'e1.0', reason }])
    expect(codec.command({ type: 'answer', requestId: 'e1.0', decision: 'allow' }).refused?.code).toBe(
      'request_not_found',
    )
  })
})

describe('answers', () => {
  test.each<[string, Answer, unknown]>([
    ['allow', { decision: 'allow' }, 'accept'],
    ['allow for the session', { decision: 'allow', scope: 'session' }, 'acceptForSession'],
    ['allow always', { decision: 'allow', scope: 'always' }, amendment],
    ['deny', { decision: 'deny' }, 'decline'],
    ['deny and stop', { decision: 'deny', interrupt: true }, 'cancel'],
  ])('%s, under the request id 0', (_name, answer, decision) => {
    expect(answered(COMMAND, asked, answer).result).toEqual({ id: 0, result: { decision } })
  })

  test('a scope that is not offered and an empty answer are refused', () => {
    const refusals = [
      answered(COMMAND, { itemId: 'call-1' }, { decision: 'allow', scope: 'always' }),
      answered(COMMAND, asked, { decision: 'answered', answers: { a: ['b'] } }),
      answered('item/tool/requestUserInput', { questions: [] }, { decision: 'answered', answers: { a: [] } }),
      answered('item/tool/requestUserInput', { questions: [] }, { decision: 'allow' }),
    ]
    expect(refusals.map(({ step }) => step.refused?.code)).toEqual([
      'unsupported_option',
      'unsupported_option',
      'invalid_request',
      'unsupported_option',
    ])
  })

  test('a question is answered by its id, and skipped with no answers', () => {
    const questions = { questions: [{ id: 'colour', question: 'Which?', options: [] }] }
    const method = 'item/tool/requestUserInput'
    expect(
      answered(method, questions, { decision: 'answered', answers: { colour: ['Blue'] } }).result,
    ).toEqual({
      id: 0,
      result: { answers: { colour: { answers: ['Blue'] } } },
    })
    expect(answered(method, questions, { decision: 'deny' }).result).toEqual({
      id: 0,
      result: { answers: {} },
    })
  })

  test('the request to run an MCP tool is linked to the call and keeps its scopes', () => {
    const approval = {
      serverName: 'demo',
      message: 'Allow?',
      _meta: { codex_approval_kind: 'mcp_tool_call', persist: ['session'], tool_params: { text: 'hi' } },
      requestedSchema: { type: 'object', properties: {} },
    }
    const method = 'mcpServer/elicitation/request'
    const session = answered(method, approval, { decision: 'allow', scope: 'session' })
    expect(session.opened).toMatchObject({ kind: 'permission', tool: 'demo.echo', toolId: 'call-2' })
    expect(session.result).toEqual({
      id: 0,
      result: { action: 'accept', content: {}, _meta: { persist: 'session' } },
    })
    expect(answered(method, approval, { decision: 'allow', scope: 'always' }).step.refused).toBeDefined()
    expect(answered(method, approval, { decision: 'deny', interrupt: true }).result).toMatchObject({
      result: { action: 'cancel' },
    })
  })

  test('of several open calls of a server it selects the one with these arguments and no request', () => {
    const codec = inTurn()
    const call = (id: string, text: string) =>
      item('started', { type: 'mcpToolCall', id, server: 'demo', tool: 'echo', arguments: { text } })
    for (const frame of [call('a', 'one'), call('b', 'two'), call('c', 'two')]) codec.hear(frame)
    const ask = (id: number, _meta: object) =>
      codec.hear({
        ...notification('mcpServer/elicitation/request', {
          serverName: 'demo',
          _meta: { codex_approval_kind: 'mcp_tool_call', ..._meta },
        }),
        id,
      }).emitted[0]
    expect(ask(9, { tool_params: { text: 'six' } })).toMatchObject({ tool: 'demo', input: { text: 'six' } })
    expect(ask(0, { tool_params: { text: 'one' } })).toMatchObject({ toolId: 'a', input: { text: 'one' } })
    expect(ask(1, { tool_params: { text: 'two' } })).toMatchObject({ toolId: 'b', input: { text: 'two' } })
    codec.command({ type: 'answer', requestId: 'e1.1', decision: 'allow' })
    expect(ask(2, {})).toMatchObject({ toolId: 'c', input: { text: 'two' } })
    expect(ask(3, { tool_params: { text: 'six' } })).toMatchObject({ tool: 'demo', input: { text: 'six' } })
  })

  test('the only open call of a server is not selected when its arguments differ', () => {
    const approval = { codex_approval_kind: 'mcp_tool_call', tool_params: { text: 'other' } }
    const params = { serverName: 'demo', _meta: approval }
    const { opened } = answered('mcpServer/elicitation/request', params, { decision: 'allow' })
    expect(opened).toMatchObject({ tool: 'demo', input: { text: 'other' } })
    expect(opened).not.toHaveProperty('toolId')
  })

  test('a form of an MCP server is a question for each field, answered in its types', () => {
    const form = {
      serverName: 'demo',
      mode: 'form',
      message: 'Who are you?',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name' },
          age: { type: 'integer' },
          kind: { type: 'string', enum: ['cat', 'dog'] },
          tame: { type: 'boolean' },
        },
      },
    }
    const answers = { name: ['Ada'], age: ['36'], kind: ['cat'], tame: ['true'] }
    const { opened: request, result } = answered('mcpServer/elicitation/request', form, {
      decision: 'answered',
      answers,
    })
    expect(request).toMatchObject({
      kind: 'question',
      questions: [
        { id: 'name', text: 'Name', other: true },
        { id: 'age', other: true },
        { id: 'kind', options: [{ label: 'cat' }, { label: 'dog' }] },
        { id: 'tame', options: [{ label: 'true' }, { label: 'false' }] },
      ],
    })
    expect(result).toMatchObject({ result: { content: { name: 'Ada', age: 36, kind: 'cat', tame: true } } })
    const allowed = answered('mcpServer/elicitation/request', form, { decision: 'allow' })
    expect(allowed.step.refused?.code).toBe('unsupported_option')
  })

  test('a page that an MCP server opens is a login, with its address', () => {
    const url = 'http://127.0.0.1:1/login'
    const page = { serverName: 'demo', mode: 'url', message: 'Sign in', url }
    const { opened: request, result } = answered('mcpServer/elicitation/request', page, { decision: 'allow' })
    expect(request).toMatchObject({ kind: 'login', title: 'Sign in', input: { url } })
    expect(result).toMatchObject({ result: { action: 'accept' } })
  })

  test('a denied call names the decider, and a request is answered once', () => {
    const { codec } = answered(COMMAND, asked, { decision: 'deny', by: 'policy' })
    const end = { type: 'commandExecution', id: 'call-1', command: 'ls', status: 'declined' }
    expect(codec.hear(item('completed', end)).emitted).toMatchObject([
      { status: 'denied', deniedBy: 'policy' },
    ])
    const again = codec.command({ type: 'answer', requestId: 'e1.0', decision: 'allow' })
    expect(again.refused?.code).toBe('request_not_found')
  })

  test('an allowed call that fails was not denied', () => {
    const { codec } = answered(COMMAND, asked, { decision: 'allow' })
    const end = { type: 'commandExecution', id: 'call-1', command: 'ls', status: 'failed', exitCode: 1 }
    const [completed] = codec.hear(item('completed', end)).emitted
    expect(completed).toMatchObject({ type: 'tool.completed', status: 'error' })
    expect(completed).not.toHaveProperty('deniedBy')
  })

  test('a request that no rule knows is rejected immediately and kept whole', () => {
    const step = inTurn().hear({ ...notification('attestation/generate', {}), id: 7 })
    expect(step.verdict).toBe('unmapped')
    expect(written(step)).toEqual([
      { id: 7, error: { code: -32601, message: 'attestation/generate is not supported' } },
    ])
  })
})

describe('the question about a change', () => {
  /** What the policy answers to it; nothing when a person is to be asked. */
  function decided(
    approval: Approval,
    changes: readonly object[],
    more: object = {},
    tools: Policy['tools'] = undefined,
  ) {
    const codec = inTurn()
    codec.hear(item('started', { type: 'fileChange', id: 'call-1', changes, status: 'inProgress' }))
    const question = notification('item/fileChange/requestApproval', { itemId: 'call-1', ...more })
    const [opened] = codec.hear({ ...question, id: 0 }).emitted
    if (opened?.type !== 'request.opened') throw new Error('nothing was asked')
    const request: RequestOpened = { ...opened, inputDigest: 'd' }
    const isInside = (path: string) => path.startsWith('/project/')
    const policy: Policy = { approval, sandbox: 'workspace-write', ...(tools && { tools }) }
    const answer = answerFor(request, { policy, attended: true, isInside, means: toolNames(TOOLS).means })
    return { request, decision: answer?.decision }
  }

  const edit = { path: '/project/a', kind: { type: 'update', move_path: null }, diff: '@@' }
  const gone = { path: '/project/b', kind: { type: 'delete' }, diff: 'b' }
  const moved = (to: string) => ({ path: '/project/c', kind: { type: 'update', move_path: to }, diff: '@@' })

  test.each<[string, readonly object[], string, readonly string[]]>([
    ['an edit', [edit], 'edit', ['/project/a']],
    ['a file that goes', [edit, gone], 'delete', ['/project/a', '/project/b']],
    ['a file that moves', [edit, moved('/etc/c')], 'move', ['/project/a', '/project/c', '/etc/c']],
    ['one that moves and one that goes', [moved('/d'), gone], 'delete', ['/project/c', '/d', '/project/b']],
  ])('%s is requested as its effect, with every file that it touches', (_name, changes, kind, paths) => {
    const { request } = decided('ask', changes)
    expect(request).toMatchObject({ toolKind: kind, locations: paths.map((path) => ({ path })) })
  })

  test('a policy approves by itself only what it names, inside the workspace', () => {
    expect(decided('ask-dangerous', [edit]).decision).toBe('allow')
    expect(decided('ask-dangerous', [gone]).decision).toBeUndefined()
    expect(decided('ask-dangerous', [moved('/project/d')]).decision).toBeUndefined()
    expect(decided('auto-edit', [gone, moved('/project/d')]).decision).toBe('allow')
    expect(decided('auto-edit', [moved('/etc/d')]).decision).toBeUndefined()
  })

  test('a folder that is to be opened for good is one of its places', () => {
    const { request, decision } = decided('auto-edit', [edit], { grantRoot: '/etc' })
    expect(request).toMatchObject({
      input: { changes: [edit] },
      title: 'write access to /etc',
      permission: 'write_root',
      data: { grantRoot: '/etc' },
      locations: [{ path: '/project/a' }, { path: '/etc' }],
    })
    expect(decision).toBeUndefined()
  })

  test('a tool list that approves edits opens no folder for good', () => {
    const root = { grantRoot: '/etc' }
    for (const name of ['edit', 'apply_patch', 'fileChange', 'file_change']) {
      expect(decided('ask', [edit], {}, { preapproved: [name] }).decision).toBe('allow')
      expect(decided('ask', [edit], root, { preapproved: [name] }).decision).toBeUndefined()
    }
  })
})
