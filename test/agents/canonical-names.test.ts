import { expect, test } from 'vitest'
import { agents } from '../../src/agents/index.ts'
import type { ToolKind } from '../../src/model/index.ts'
import { plainToolNames } from '../../src/sessions/turns/approval.ts'

const canonical = (id: string, tool: string, toolKind?: ToolKind) =>
  (agents.find((agent) => agent.id === id)?.tools ?? plainToolNames).canonical({ tool, toolKind })

test.each([
  ['claude', 'Bash', 'execute'],
  ['codex', 'commandExecution', 'execute'],
  ['gemini', 'run_shell_command', 'execute'],
  ['opencode', 'bash', 'execute'],
  ['copilot', 'Running: ls', 'execute'],
  ['claude', 'Write', 'edit'],
  ['codex', 'fileChange', 'edit'],
  ['gemini', 'write_file', 'edit'],
  ['opencode', 'write', 'edit'],
  ['qwen', 'write_file', 'edit'],
] as const)('%s: %s is %s', (id, tool, kind) => {
  expect(canonical(id, tool, kind)).toBe(kind)
})

test.each([
  ['claude', 'mcp__docs__search', 'mcp:docs/search'],
  ['codex', 'docs.search', 'mcp:docs/search'],
  ['gemini', 'mcp_docs_search', 'mcp:docs/search'],
  // The name does not show where that of the server ends.
  ['opencode', 'docs_search', 'docs_search'],
])('%s: %s of a server is %s', (id, tool, name) => {
  expect(canonical(id, tool, 'mcp')).toBe(name)
})

test('a tool without a canonical name keeps its own', () => {
  expect(canonical('copilot', 'frobnicate', 'other')).toBe('frobnicate')
  expect(canonical('claude', 'Frobnicate')).toBe('Frobnicate')
})
