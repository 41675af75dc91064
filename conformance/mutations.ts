/** A fault to plant: a text of a source file that occurs once, and its replacement. */
export interface Mutation {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** The cell that has to turn red: program/launch/scenario. */
  readonly cell: string
}

const TOOLS = 'src/agents/kit/tools.ts'
const MESSAGES = 'src/agents/kit/messages.ts'
/** The end of every call. */
const ENDED = "compact({ type: 'tool.completed', toolId, name, kind, ...result, parent }),"
const CODEX = 'src/agents/codex/app-server'

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'usage of a turn dropped',
    file: `${CODEX}/turns.ts`,
    from: '    ...(usage && { usage }),\n',
    to: '',
    cell: 'codex/live/usage',
  },
  {
    name: 'running total reported as one model call',
    file: `${CODEX}/turns.ts`,
    from: "usageOf(fields(native, 'last'), 'appServer')",
    to: "usageOf(fields(native, 'total'), 'appServer')",
    cell: 'codex/live/usage',
  },
  {
    name: 'cost doubled',
    file: 'src/agents/claude/turn-usage.ts',
    from: '&& { costUsd }),',
    to: '&& { costUsd: costUsd * 2 }),',
    cell: 'claude/live/cost',
  },
  {
    name: 'file.changed dropped',
    file: TOOLS,
    from: "const changed = result.status === 'success' ? changes : NO_CHANGES",
    to: 'const changed = NO_CHANGES',
    cell: 'codex/live/write',
  },
  {
    name: 'path of a changed file shortened',
    file: TOOLS,
    from: "compact({ type: 'file.changed', path, change, toolId, ...more, parent }),",
    to: "compact({ type: 'file.changed', path: path.split('/').at(-1) ?? '', change, toolId, ...more, parent }),",
    cell: 'codex/live/write',
  },
  {
    name: 'parent of a call inside a sub-agent dropped',
    file: TOOLS,
    from: "return compact({ type: 'tool.started', toolId, name, kind, title, input, locations, messageId, parent })",
    to: "return compact({ type: 'tool.started', toolId, name, kind, title, input, locations, messageId })",
    cell: 'codex/live/subagent-events',
  },
  {
    name: 'usage of sub-agents not added to the turn',
    file: `${CODEX}/turns.ts`,
    from: '  if (state.turn) countUsage(state.turn, usage)\n',
    to: '',
    cell: 'codex/live/subagent-usage',
  },
  {
    name: 'resume id ignored after an interrupt',
    file: 'src/sessions/machine/conversation.ts',
    from: 'const { resume, fork, lost } = this.#context.launch()',
    to: 'const { fork, lost } = this.#context.launch()\n    const resume = undefined',
    cell: 'claude/oneshot/interrupt-memory',
  },
  {
    name: 'interrupted turn reported as completed',
    // Not in the codec: a text that was cut off outweighs a report of success.
    file: 'src/model/outcome/outcome.ts',
    from: "if (cause === 'interrupt' || cause === 'drain') return 'interrupted'",
    to: "if (cause === 'interrupt' || cause === 'drain') return 'completed'",
    cell: 'codex/live/interrupt-text',
  },
  {
    name: 'tool output truncated',
    file: TOOLS,
    from: ENDED,
    to: ENDED.replace('parent', 'output: result.output?.slice(0, 65_536), parent'),
    cell: 'codex/live/big-output',
  },
  {
    name: 'tool output emptied',
    file: TOOLS,
    from: ENDED,
    to: ENDED.replace('parent', "output: '', parent"),
    cell: 'codex/live/big-output',
  },
  {
    name: 'Unicode in tool output mangled',
    file: TOOLS,
    from: ENDED,
    to: ENDED.replace('parent', "output: Buffer.from(result.output ?? '').toString('latin1'), parent"),
    cell: 'codex/live/unicode-output',
  },
  {
    name: 'Unicode in a text mangled',
    file: MESSAGES,
    from: 'if (!partial && !phase && parent === undefined) return { type, messageId, text }',
    to: "text = text.normalize('NFC')\n  if (!partial && !phase && parent === undefined) return { type, messageId, text }",
    cell: 'codex/live/unicode',
  },
  {
    name: 'ids of parallel calls swapped',
    file: TOOLS,
    from: 'const id = toolIdOf(ledger, nativeId)\n  const open = ledger.tools.get(id)\n',
    to: "const id = [...ledger.tools.keys()].at(-1) ?? ''\n  const open = ledger.tools.get(id)\n",
    cell: 'claude/live/parallel-tools',
  },
  {
    name: 'denied call reported as success',
    file: TOOLS,
    from: ENDED,
    to: ENDED.replace('parent', "...(result.status === 'denied' && { status: 'success' }), parent"),
    cell: 'codex/live/deny',
  },
  {
    name: 'text delta repeated',
    file: MESSAGES,
    from: 'return parent === undefined ? { type, messageId, text: piece } :',
    to: 'return parent === undefined ? { type, messageId, text: piece + piece } :',
    cell: 'codex/live/deltas',
  },
  {
    name: 'wrong model set',
    file: `${CODEX}/settings.ts`,
    from: 'state.next.model = model',
    to: "state.next.model = 'gpt-5.5'",
    cell: 'codex/live/set-model',
  },
  {
    name: 'half message of a broken stream kept',
    file: `${CODEX}/threads.ts`,
    from: 'emitted.push(...discardMessage(ledger, message.nativeId))',
    to: 'emitted.push(...closeMessage(ledger, message.nativeId))',
    cell: 'codex/live/drop',
  },
  {
    name: 'command of an interrupted turn left running',
    file: 'src/agents/acp/registry.ts',
    from: '    leavesTools: true,\n',
    to: '',
    cell: 'codex-acp/live/interrupt-tool',
  },
  {
    name: 'call of an MCP server reported as a command',
    file: 'src/agents/protocols/acp/tools/tool-call.ts',
    from: "if (meta?.is_mcp_tool_call === true) return 'mcp'",
    to: '',
    cell: 'codex-acp/live/mcp',
  },
  {
    name: 'gap of a long output not marked',
    file: 'src/agents/codex/calls.ts',
    from: 'truncated: hasOmission(output) || undefined,',
    to: '',
    cell: 'codex/live/huge-output',
  },
  {
    name: 'kind of a command wrong',
    file: 'src/agents/codex/calls.ts',
    from: "return { toolId, name, kind: 'execute', title: line, input, parent }",
    to: "return { toolId, name, kind: 'other', title: line, input, parent }",
    cell: 'codex/live/shell',
  },
]
