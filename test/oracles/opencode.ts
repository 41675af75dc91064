import type { Oracle, OracleTurn } from './oracle.ts'

interface Line {
  type?: string
  error?: { name?: string }
  part?: {
    text?: string
    tool?: string
    reason?: string
    cost?: number
    tokens?: { input: number; output: number; reasoning: number; cache: { read: number; write: number } }
    state?: { status?: string; error?: string; metadata?: { exit?: number } }
  }
}

const isLine = (value: unknown): value is Line => typeof value === 'object' && value !== null

/** Reads the lines of `run --format json`: the last step and the exit are all there is to judge by. */
export const oracle: Oracle = ({ messages, exit, stderr }) => {
  const lines = messages.map(({ value }) => (isLine(value) ? value : {}))
  const parts = (type: string) => lines.filter((line) => line.type === type).map(({ part }) => part ?? {})
  const tools = parts('tool_use').map(({ tool = '', state = {} }) => ({
    name: tool,
    status: statusOf(tool, state),
  }))
  const steps = parts('step_finish')
  const failure = lines.find(({ type }) => type === 'error')?.error?.name
  const reason = steps.at(-1)?.reason
  const turn: OracleTurn = {
    outcome: outcomeOf({ failure, reason, tools, exit, spoke: lines.length > 0, stderr }),
    text: parts('text').at(-1)?.text ?? '',
    tools,
    ...(steps.length > 0 && { usage: usageOf(steps) }),
  }
  return { turns: [turn] }
}

type State = NonNullable<NonNullable<Line['part']>['state']>

function statusOf(tool: string, { status, error = '', metadata }: State): string {
  if (/rejected permission|rule which prevents/.test(error)) return 'denied'
  return status === 'completed' && !metadata?.exit && tool !== 'invalid' ? 'success' : 'error'
}

function usageOf(steps: readonly NonNullable<Line['part']>[]): Record<string, number> {
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 0 }
  let micros = 0
  for (const { tokens, cost = 0 } of steps) {
    if (!tokens) continue
    sum.input += tokens.input
    sum.output += tokens.output + tokens.reasoning
    sum.cacheRead += tokens.cache.read
    sum.cacheWrite += tokens.cache.write
    sum.reasoning += tokens.reasoning
    micros += Math.round(cost * 1e6)
  }
  sum.total = sum.input + sum.output + sum.cacheRead + sum.cacheWrite
  return { ...sum, costUsd: micros / 1e6 }
}

interface Evidence {
  failure: string | undefined
  reason: string | undefined
  tools: readonly { status: string }[]
  exit: { code?: number | null | undefined }
  spoke: boolean
  stderr: string
}

function outcomeOf({ failure, reason, tools, exit, spoke, stderr }: Evidence): string {
  if (failure === 'ContentFilterError') return 'refused'
  if (failure !== undefined || reason === 'length') return 'failed'
  if (exit.code !== 0) return !spoke && exit.code && stderr !== '' ? 'failed' : 'crashed'
  const denied = tools.some(({ status }) => status === 'denied')
  if (reason === 'stop') return denied ? 'denied' : 'completed'
  return tools.at(-1)?.status === 'denied' ? 'denied' : 'crashed'
}
