import { expect, test } from 'vitest'
import { newLedger } from '../../../src/agents/kit/ledger.ts'
import { addDelta, closeMessage } from '../../../src/agents/kit/messages.ts'
import { settle } from '../../../src/agents/kit/settle.ts'
import {
  finishTool,
  refuseTool,
  startTool,
  type ToolResult,
  type ToolStart,
} from '../../../src/agents/kit/tools.ts'
import { ToolCompleted, ToolStarted } from '../../../src/model/events/tool.ts'

/** With every field there is: a new one is missed by the compiler here, and by the tests where it is not told. */
const START: Required<ToolStart> = {
  toolId: 't1',
  name: 'Bash',
  kind: 'execute',
  title: 'ls',
  input: { command: 'ls' },
  locations: [{ path: '/project', line: 1 }],
  messageId: 'm1',
  parent: 'p1',
}
const RESULT: Required<ToolResult> = {
  status: 'denied',
  output: 'out',
  error: 'err',
  exitCode: 1,
  durationMs: 2,
  deniedBy: 'policy',
  settled: true,
  data: { a: null },
  truncated: true,
  blob: { id: 'b1', bytes: 3 },
}

test('a call starts with every reported field', () => {
  const started = startTool(newLedger(), START)
  expect(started).toEqual({ type: 'tool.started', ...START })
  expect(Object.keys(started).sort()).toEqual(Object.keys(ToolStarted.shape).sort())
})

test('a call ends with every reported field', () => {
  const ledger = newLedger()
  startTool(ledger, START)
  const { toolId, name, kind, parent } = START
  const [completed, ...more] = finishTool(ledger, toolId, RESULT)
  expect(completed).toEqual({ type: 'tool.completed', toolId, name, kind, parent, ...RESULT })
  expect(Object.keys(completed ?? {}).sort()).toEqual(Object.keys(ToolCompleted.shape).sort())
  expect(more).toEqual([])
})

test('an unreported field is absent', () => {
  const ledger = newLedger()
  const began = startTool(ledger, { toolId: 't1', name: 'Bash', kind: 'execute', title: undefined })
  expect(Object.keys(began)).toEqual(['type', 'toolId', 'name', 'kind'])
  const [ended] = finishTool(ledger, 't1', { status: 'success', output: undefined })
  expect(Object.keys(ended ?? {})).toEqual(['type', 'toolId', 'name', 'kind', 'status'])
})

test('a call that was denied before it started is denied, once, and not in another turn', () => {
  const ledger = newLedger()
  refuseTool(ledger, 't1', 'policy')
  startTool(ledger, START)
  expect(ledger.tools.get('t1')?.refusedBy).toBe('policy')
  finishTool(ledger, 't1', RESULT)
  startTool(ledger, START)
  expect(ledger.tools.get('t1~2')?.refusedBy).toBeUndefined()
  finishTool(ledger, 't1', RESULT)
  refuseTool(ledger, 't1', 'person')
  settle(ledger, 'completed')
  startTool(ledger, START)
  expect(ledger.tools.get('t1~3')?.refusedBy).toBeUndefined()
})

test('a character that the agent cut in two arrives whole, in the delta of its second half', () => {
  const ledger = newLedger()
  const pieces = ['a\ud83d', '', '\ude00b', 'c\ud83d\ude00']
  const sent = pieces.map((piece) => addDelta(ledger, 'text', 'm1', piece))
  expect(sent.map((event) => 'text' in event && event.text)).toEqual(['a', '', '\u{1f600}b', 'c\u{1f600}'])
  const text = 'a\u{1f600}bc\u{1f600}'
  expect(closeMessage(ledger, 'm1')).toEqual([{ type: 'text.completed', messageId: 'm1', text }])
})
