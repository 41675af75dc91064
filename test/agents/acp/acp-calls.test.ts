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
