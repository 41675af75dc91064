import type { Oracle, OracleTurn } from './oracle.ts'

interface Line {
  type?: string
  role?: string
  content?: string
  status?: string
  severity?: string
  message?: string
  tool_id?: string
  tool_name?: string
  error?: { type?: string; message?: string }
  stats?: Record<string, number>
}

/** What an approval mode takes away, or a rule forbids: calling it all the same is a refusal, not a mistake. */
const REFUSED_TOOLS = ['run_shell_command', 'write_file', 'replace', 'web_fetch', 'write_todos']

const isLine = (value: unknown): value is Line => typeof value === 'object' && value !== null

/** Reads the lines of `--output-format stream-json` from their end: the last result and the exit code decide. */
export const oracle: Oracle = ({ messages, exit }) => {
  const lines = messages.map(({ value }) => (isLine(value) ? value : {}))
  const result = lines.findLast(({ type }) => type === 'result')
  const tools = toolsOf(lines, result?.status === 'success')
  const usage = usageOf(result?.stats)
  const turn: OracleTurn = {
    outcome: outcomeOf(lines, result, tools, exit.code ?? undefined),
    text: lastTextOf(lines),
    tools,
    ...(usage && { usage }),
  }
  return { turns: [turn] }
}

/** Pieces that follow each other without a call between them are one text. */
function lastTextOf(lines: readonly Line[]): string {
  let last = ''
  let cut = true
  for (const { type, role, content = '' } of lines) {
    if (type === 'tool_use') cut = true
    if (type !== 'message' || role !== 'assistant') continue
    last = cut ? content : last + content
    cut = false
  }
  return last
}

function toolsOf(lines: readonly Line[], ended: boolean): { name: string; status: string }[] {
  return lines.flatMap(({ type, tool_id, tool_name = '' }) => {
    if (type !== 'tool_use') return []
    const end = lines.find((line) => line.type === 'tool_result' && line.tool_id === tool_id)
    // A call that a signal cut off failed with its run.
    if (!end) return [{ name: tool_name, status: ended ? 'unknown' : 'error' }]
    const unknown = end.error?.type === 'tool_not_registered' && REFUSED_TOOLS.includes(tool_name)
    const forbidden = end.error?.message?.startsWith('Access denied') === true
    return [{ name: tool_name, status: unknown || forbidden ? 'denied' : (end.status ?? '') }]
  })
}

function usageOf(stats: Record<string, number> | undefined): Record<string, number> | undefined {
  const { total_tokens: total = 0, input_tokens: prompt = 0, output_tokens: answer = 0 } = stats ?? {}
  if (!stats || total === 0) return undefined
  const { input = 0, cached = 0 } = stats
  return { input, output: total - prompt, cacheRead: cached, reasoning: total - prompt - answer, total }
}

function outcomeOf(
  lines: readonly Line[],
  result: Line | undefined,
  tools: readonly { status: string }[],
  code: number | undefined,
): string {
  if (result?.status === 'success')
    return tools.some(({ status }) => status === 'denied') ? 'denied' : 'completed'
  if (code === 53) return 'max_steps'
  if (result && !result.error) {
    return lines.some(({ message }) => message?.includes('blocked')) ? 'refused' : 'failed'
  }
  // Without a result only an exit code of its own tells a refusal to start from a death.
  return result || (code !== undefined && code !== 0) ? 'failed' : 'crashed'
}
