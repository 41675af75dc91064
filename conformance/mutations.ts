/** A fault to plant: a text of a source file that occurs once, and its replacement. */
export interface Mutation {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** The cell that has to turn red: program/launch/scenario. */
  readonly cell: string
}

const TOOLS = 'src/agents/tools.ts'
const MESSAGES = 'src/agents/messages.ts'
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
    from: "if (result.status !== 'success' || changes.length === 0) return [end]",
    to: 'if (end) return [end]',
    cell: 'codex/live/write',
  },
  {
    name: 'path of a changed file shortened',
    file: TOOLS,
    from: "{ type: 'file.changed', path, change, toolId }",
    to: "{ type: 'file.changed', path: path.split('/').at(-1) ?? '', change, toolId }",
    cell: 'codex/live/write',
  },
  {
    name: 'parent of a call inside a sub-agent dropped',
    file: TOOLS,
    from: '  if (parent !== undefined) started.parent = parent\n',
    to: '',
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
    from: 'const { resume, lost } = this.#context.launch()',
    to: 'const { lost } = this.#context.launch()\n    const resume = undefined',
    cell: 'claude/oneshot/interrupt-memory',
  },
  {
    name: 'interrupted turn reported as completed',
    file: `${CODEX}/turns.ts`,
    from: "status === 'interrupted' ? { evidence: 'aborted' }",
    to: "status === 'interrupted' ? { evidence: 'success' }",
    cell: 'codex/live/interrupt-text',
  },
  {
    name: 'tool output truncated',
    file: TOOLS,
    from: 'if (output !== undefined) event.output = output\n',
    to: 'if (output !== undefined) event.output = output.slice(0, 65_536)\n',
    cell: 'codex/live/big-output',
  },
  {
    name: 'tool output emptied',
    file: TOOLS,
    from: 'if (output !== undefined) event.output = output\n',
    to: "if (output !== undefined) event.output = ''\n",
    cell: 'codex/live/big-output',
  },
  {
    name: 'Unicode in tool output mangled',
    file: TOOLS,
    from: 'if (output !== undefined) event.output = output\n',
    to: "if (output !== undefined) event.output = Buffer.from(output).toString('latin1')\n",
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
    from: 'const open = ledger.tools.take(nativeId) ??',
    to: "const open = ledger.tools.take([...ledger.tools.values()].at(-1)?.nativeId ?? '') ??",
    cell: 'claude/live/parallel-tools',
  },
  {
    name: 'denied call reported as success',
    file: TOOLS,
    from: 'const end = completed(open, result)',
    to: "const end = completed(open, result.status === 'denied' ? { ...result, status: 'success' } : result)",
    cell: 'codex/live/deny',
  },
  {
    name: 'text delta repeated',
    file: MESSAGES,
    from: 'return parent === undefined ? { type, messageId, text } :',
    to: 'return parent === undefined ? { type, messageId, text: text + text } :',
    cell: 'codex/live/deltas',
  },
  {
    name: 'wrong model set',
    file: `${CODEX}/commands.ts`,
    from: 'state.next.model = command.model',
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
]
