import { expect, test } from 'vitest'
import { Talk, update } from './acp-talk.ts'

test('a call of an MCP server has its kind, although Codex calls it a command', () => {
  const talk = new Talk('codex-acp').begin()
  talk.hear(
    update('tool_call', {
      toolCallId: 't1',
      title: 'mcp.demo.echo',
      kind: 'execute',
      rawInput: { server: 'demo', tool: 'echo', arguments: {} },
      _meta: { is_mcp_tool_call: true },
    }),
    update('tool_call_update', { toolCallId: 't1', status: 'completed' }),
  )
  expect(talk.only('tool.started')).toMatchObject([{ name: 'mcp.demo.echo', kind: 'mcp' }])
  expect(talk.only('tool.completed')).toMatchObject([{ kind: 'mcp', status: 'success' }])
})

test('a call of an MCP server keeps its kind in frames without a mark', () => {
  const talk = new Talk('codex-acp').begin()
  talk.hear(
    update('tool_call', { toolCallId: 't1', title: 'x', kind: 'execute', _meta: { is_mcp_tool_call: true } }),
    update('tool_call_update', { toolCallId: 't1', kind: 'execute', status: 'in_progress' }),
  )
  talk.write({
    jsonrpc: '2.0',
    id: 1,
    method: 'session/request_permission',
    params: {
      sessionId: 'native-1',
      toolCall: { toolCallId: 't1', kind: 'execute', title: 'x' },
      options: [{ optionId: 'allow', kind: 'allow_once', name: 'Allow' }],
    },
  })
  expect(talk.only('tool.updated').flatMap(({ kind }) => kind ?? [])).toEqual([])
  expect(talk.only('request.opened')).toMatchObject([{ toolKind: 'mcp' }])
})

test.each([
  [{ content: [{ type: 'content', content: { type: 'text', text: 'another' } }] }, 1],
  [{ rawOutput: 'another' }, 1],
  [{ content: [{ type: 'content', content: { type: 'text', text: 'result' } }] }, 0],
  [{ title: 'x' }, 0],
])('a second result of a call is kept unless it repeats the first: %j', (late, unmapped) => {
  const talk = new Talk('acp').begin()
  const content = [{ type: 'content', content: { type: 'text', text: 'result' } }]
  talk.hear(
    update('tool_call', { toolCallId: 't1', title: 'x', kind: 'read' }),
    update('tool_call_update', { toolCallId: 't1', status: 'completed', content }),
    update('tool_call_update', { toolCallId: 't1', status: 'completed', ...late }),
  )
  expect(talk.only('tool.completed')).toMatchObject([{ output: 'result' }])
  expect(talk.only('native.unmapped')).toHaveLength(unmapped)
})

test.each([
  ['Blocked: command substitution detected in shell command.', 'error'],
  ['Blocked: nothing', 'success'],
])('a command that Gemini refused to run is no success: %s', (words, status) => {
  const talk = new Talk('gemini').begin()
  const content = [{ type: 'content', content: { type: 'text', text: words } }]
  talk.hear(
    update('tool_call', { toolCallId: 'run_shell_command__1', title: 'x', kind: 'execute' }),
    update('tool_call_update', { toolCallId: 'run_shell_command__1', status: 'completed', content }),
  )
  expect(talk.only('tool.completed')).toMatchObject([{ status, output: words }])
})
