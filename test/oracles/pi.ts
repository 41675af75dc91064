import type { NativeMessage, NativeRecording, Oracle, OracleTurn } from './oracle.ts'

interface Line {
  type?: string
  command?: string
  success?: boolean
  aborted?: boolean
  willRetry?: boolean
  confirmed?: boolean
  value?: string
  cancelled?: boolean
  isError?: boolean
  durationMs?: number
  toolCallId?: string
  toolName?: string
  data?: { disposition?: string }
  result?: { content?: Block[]; usage?: Counts }
  message?: { role?: string; content?: Block[]; stopReason?: string; rawStopReason?: string; usage?: Counts }
  assistantMessageEvent?: { type?: string; delta?: string }
}

interface Block {
  type?: string
  text?: string
}

type Counts = Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'totalTokens', number>

const isLine = (value: unknown): value is Line => typeof value === 'object' && value !== null

/** Cuts a recording where pi says that it has settled, and reads each piece from its end. */
export const oracle: Oracle = (recording) => {
  const pieces = recording.messages.some(({ direction }) => direction === 'in')
    ? turnsOf(recording.messages)
    : [recording.messages.map(({ value }) => (isLine(value) ? value : {}))]
  return { turns: pieces.map((lines) => turnOf(lines, recording)) }
}

/** The end of a compaction that a client asked for, which is a turn. */
const isCompacted = ({ type, command }: Line) => type === 'response' && command === 'compact'

/** The lines of each turn; a prompt that an extension took, or that was refused, is a turn without a run. */
function turnsOf(messages: readonly NativeMessage[]): Line[][] {
  const turns: Line[][] = []
  let lines: Line[] = []
  for (const { value } of messages) {
    if (!isLine(value)) continue
    lines.push(value)
    const running = lines.some(({ type }) => type === 'agent_start')
    const answered = value.type === 'response' && value.command === 'prompt'
    const alone = answered && !running && (!value.success || value.data?.disposition === 'handled')
    if (value.type !== 'agent_settled' && !alone && !isCompacted(value)) continue
    turns.push(lines)
    lines = []
  }
  return lines.some(({ type }) => type === 'agent_start') ? [...turns, lines] : turns
}

function turnOf(lines: readonly Line[], recording: NativeRecording): OracleTurn {
  const tools = toolsOf(lines)
  const usage = usageOf(lines)
  const outcome = outcomeOf(lines, tools, recording)
  return { outcome, text: textOf(lines, outcome), tools, ...(usage && { usage }) }
}

const answersOf = (lines: readonly Line[]) =>
  lines.filter(({ type, message }) => type === 'message_end' && message?.role === 'assistant')

function words(content: readonly Block[] = []): string {
  return content.map(({ text = '' }) => text).join('')
}

/** What was said last and not taken back; of a message without an end, the pieces that came. */
function textOf(lines: readonly Line[], outcome: string): string {
  const kept = lines.filter(({ message, type }, index) => {
    if (type !== 'message_end' || message?.role !== 'assistant') return false
    const end = lines.slice(index).find(({ type }) => type === 'agent_end')
    return !(message.stopReason === 'error' && end?.willRetry)
  })
  const whole = kept.map(({ message }) => words(message?.content))
  if (outcome === 'completed' || outcome === 'denied') return whole.at(-1) ?? ''
  const unfinished = lines.slice(lines.findLastIndex(({ type }) => type === 'message_start'))
  const ended = unfinished.some(({ type }) => type === 'message_end')
  const pieces = unfinished.map(({ assistantMessageEvent: piece }) =>
    piece?.type === 'text_delta' ? (piece.delta ?? '') : '',
  )
  return (ended ? '' : pieces.join('')) || (whole.findLast((text) => text !== '') ?? '')
}

function toolsOf(lines: readonly Line[]): { name: string; status: string }[] {
  const aborted = lines.some((line) => line.type === 'agent_settled' && line.aborted)
  return lines.flatMap(({ type, toolCallId, toolName: name = '' }) => {
    if (type !== 'tool_execution_start') return []
    const end = lines.find((line) => line.type === 'tool_execution_end' && line.toolCallId === toolCallId)
    return [{ name, status: end ? statusOf(end, aborted) : 'error' }]
  })
}

function statusOf({ isError, durationMs, toolName, result }: Line, aborted: boolean): string {
  const said = words(result?.content)
  if (!isError) return 'success'
  if (aborted && said.endsWith('aborted')) return 'cancelled'
  if (durationMs !== undefined || said.startsWith('Validation failed')) return 'error'
  const missing = said.endsWith(' not found')
  return missing && !['read', 'bash', 'edit', 'write'].includes(toolName ?? '') ? 'error' : 'denied'
}

function usageOf(lines: readonly Line[]): Record<string, number> | undefined {
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  const compactions = lines.flatMap(({ type, result }) =>
    type === 'compaction_end' ? (result?.usage ?? []) : [],
  )
  const answers = answersOf(lines).flatMap(({ message }) => message?.usage ?? [])
  for (const { totalTokens, ...counts } of [...answers, ...compactions]) {
    for (const key of ['input', 'output', 'cacheRead', 'cacheWrite'] as const) sum[key] += counts[key]
    sum.total += totalTokens
  }
  return sum.total > 0 ? sum : undefined
}

function outcomeOf(
  lines: readonly Line[],
  tools: readonly { status: string }[],
  { stderr }: NativeRecording,
): string {
  const settled = lines.findLast(({ type }) => type === 'agent_settled')
  const answer = lines.findLast(
    (line) => line.type === 'response' && (line.command === 'prompt' || isCompacted(line)),
  )
  if (!settled) {
    if (lines.some(({ type }) => type === 'agent_start')) return 'crashed'
    if (answer) return answer.success ? 'completed' : 'failed'
    return stderr === '' ? 'crashed' : 'failed'
  }
  if (settled.aborted) return 'interrupted'
  const last = answersOf(lines).at(-1)?.message
  if (last?.rawStopReason === 'refusal') return 'refused'
  if (last?.stopReason !== 'stop') return 'failed'
  const personSaidNo = lines.some(
    ({ confirmed, cancelled, value }) => confirmed === false || cancelled || value?.includes('"allow":false'),
  )
  return tools.some(({ status }) => status === 'denied') && !personSaidNo ? 'denied' : 'completed'
}
