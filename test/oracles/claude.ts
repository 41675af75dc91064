import type { NativeRecording, OracleTurn } from './oracle.ts'

type Lines = readonly unknown[]

/** A turn is what lies between two results; a one-shot process is one turn, whatever it prints. */
export function oracle({ messages, stderr, exit }: NativeRecording): { turns: OracleTurn[] } {
  const live = messages.some(({ direction }) => direction === 'in')
  const printed = messages.flatMap(({ direction, value }) => (direction === 'out' ? [value].flat() : []))
  const refusals = refusedByPeople(messages)
  const status = exit.code ?? (exit.signal ? 1 : 0)
  const neverBegan = printed.every((line) => at(line, 'subtype') !== 'init') && stderr.trim() !== ''
  const silent = status !== 0 && neverBegan ? 'failed' : 'crashed'
  let cost = 0
  let byModel = {}
  const turns = (live ? cutAtResults(printed) : [printed]).map((lines) => {
    const results = lines.filter((line) => at(line, 'type') === 'result')
    const outcome = outcomeOf(results.at(-1), refusals, live ? 0 : status) ?? silent
    const usage = usageOf(lines, results, cost, byModel)
    byModel = at(results.at(-1), 'modelUsage') ?? byModel
    cost = amount(results.at(-1), 'total_cost_usd') ?? cost
    return {
      outcome,
      text: textOf(lines, results.at(-1)),
      tools: toolsOf(lines, refusals, outcome),
      ...(usage && { usage }),
    }
  })
  return { turns }
}

function cutAtResults(lines: Lines): unknown[][] {
  const turns: unknown[][] = []
  let turn: unknown[] = []
  for (const line of lines) {
    turn.push(line)
    if (at(line, 'type') !== 'result') continue
    turns.push(turn)
    turn = []
  }
  // What follows the last result is only the end of a turn that had one, unless the model was asked again.
  return turn.some((line) => at(line, 'subtype') === 'init') ? [...turns, turn] : turns
}

/** The calls that an answer of ours refused, by their ids. */
function refusedByPeople(messages: NativeRecording['messages']): Set<unknown> {
  const asked = new Map(
    messages.map(({ value }) => [at(value, 'request_id'), at(value, 'request', 'tool_use_id')]),
  )
  const denied = messages.filter(({ value }) => at(value, 'response', 'response', 'behavior') === 'deny')
  return new Set(denied.map(({ value }) => asked.get(at(value, 'response', 'request_id'))))
}

function outcomeOf(result: unknown, refusals: Set<unknown>, exitCode: number): string | undefined {
  if (result === undefined) return undefined
  if (String(at(result, 'terminal_reason')).startsWith('aborted')) return 'interrupted'
  if (at(result, 'subtype') === 'error_max_turns') return 'max_steps'
  if (at(result, 'is_error')) return at(result, 'stop_reason') === 'refusal' ? 'refused' : 'failed'
  if (exitCode !== 0) return 'failed'
  const denied = all(result, 'permission_denials').some((one) => !refusals.has(at(one, 'tool_use_id')))
  return denied ? 'denied' : 'completed'
}

/** The answer, or without one the last thing that the model said, be it cut off. */
function textOf(lines: Lines, result: unknown): string {
  if (result !== undefined && !at(result, 'is_error')) return string(at(result, 'result'))
  let said = ''
  let draft = ''
  for (const line of lines) {
    const event = at(line, 'event', 'type')
    if (event === 'message_start' || event === 'message_stop') draft = ''
    if (event === 'content_block_delta') draft += string(at(line, 'event', 'delta', 'text'))
    // A sub-agent speaks, or the client in the place of the model.
    if (at(line, 'parent_tool_use_id') || at(line, 'message', 'model') === '<synthetic>') continue
    for (const block of blocksOf(line, 'assistant')) {
      if (at(block, 'type') !== 'text') continue
      said = string(at(block, 'text'))
      draft = ''
    }
  }
  return draft || said
}

function toolsOf(lines: Lines, refusals: Set<unknown>, outcome: string): { name: string; status: string }[] {
  const ends = new Map<unknown, string>()
  for (const line of lines) {
    for (const block of blocksOf(line, 'user')) {
      const id = at(block, 'tool_use_id')
      const meta = all(line, 'tool_result_meta').find((one) => at(one, 'id') === id)
      const decision = at(meta, 'permission_decision', 'decision')
      const kind = at(meta, 'non_execution_kind')
      const cut = kind === 'interrupted' || (kind === 'user-rejected' && decision === undefined)
      const denied = decision === 'reject' || refusals.has(id)
      ends.set(id, denied ? 'denied' : cut ? 'cancelled' : at(block, 'is_error') ? 'error' : 'success')
    }
  }
  const open = { interrupted: 'cancelled', completed: 'unknown', denied: 'unknown' }[outcome] ?? 'error'
  return lines
    .flatMap((line) => blocksOf(line, 'assistant'))
    .filter((block) => at(block, 'type') === 'tool_use')
    .map((block) => ({ name: string(at(block, 'name')), status: ends.get(at(block, 'id')) ?? open }))
}

const NAMES = {
  input: ['input_tokens'],
  output: ['output_tokens'],
  cacheRead: ['cache_read_input_tokens'],
  cacheWrite: ['cache_creation_input_tokens'],
  reasoning: ['output_tokens_details', 'thinking_tokens'],
}

/**
 * What the models used between two results, which includes sub-agents, or what the results add up to if that is more,
 * which includes broken streams; where both are zero, what the model calls add up to.
 */
function usageOf(
  lines: Lines,
  results: Lines,
  costBefore: number,
  modelsBefore: object,
): Record<string, number> | undefined {
  const main = add(results.map((result) => at(result, 'usage')))
  const since = results.map((result) => at(result, 'model_usage_since_last_result'))
  const all = since.includes(undefined)
    ? addModels([at(results.at(-1), 'modelUsage')], modelsBefore)
    : addModels(since, {})
  const told = main && (all.total ?? 0) > (main.total ?? 0) ? all : main
  const steps = add(lines.map((line) => at(line, 'event', 'usage')))
  if (!told) return steps
  if (told.total === 0 && steps) return steps
  const models = since.flatMap((one) => (one ? Object.values(one) : []))
  const total = amount(results.at(-1), 'total_cost_usd') ?? 0
  const costs = models.map((model) => amount(model, 'costUSD') ?? 0)
  const cost = since.includes(undefined) ? total - costBefore : costs.reduce((sum, one) => sum + one, 0)
  return { ...told, costUsd: Math.round(cost * 1e10) / 1e10 }
}

const MODEL_NAMES = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheReadInputTokens',
  cacheWrite: 'cacheCreationInputTokens',
  reasoning: 'thinkingTokens',
}

/** What the models used, less what they had used before. */
function addModels(now: Lines, before: object): Record<string, number> {
  const models = now.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  const sum = (of: readonly unknown[], key: string) =>
    of.reduce<number>((count, model) => count + (amount(model, key) ?? 0), 0)
  const counts: Record<string, number> = {}
  for (const [name, key] of Object.entries(MODEL_NAMES)) {
    const isTold = models.some((model) => amount(model, key) !== undefined)
    if (isTold) counts[name] = sum(models, key) - sum(Object.values(before), key)
  }
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = counts
  return { ...counts, total: input + output + cacheRead + cacheWrite }
}

function add(usages: Lines): Record<string, number> | undefined {
  const known = usages.filter((usage) => usage !== undefined)
  if (known.length === 0) return undefined
  const sums: Record<string, number> = {}
  for (const [name, path] of Object.entries(NAMES)) {
    const counts = known.map((usage) => at(usage, ...path)).filter((count) => typeof count === 'number')
    if (counts.length > 0) sums[name] = counts.reduce((sum, count) => sum + count, 0)
  }
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = sums
  return { ...sums, total: input + output + cacheRead + cacheWrite }
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  )
}

function all(value: unknown, key: string): unknown[] {
  const found = at(value, key)
  return Array.isArray(found) ? found : []
}

function blocksOf(line: unknown, speaker: 'assistant' | 'user'): unknown[] {
  return at(line, 'type') === speaker ? all(at(line, 'message'), 'content') : []
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function amount(value: unknown, key: string): number | undefined {
  const found = at(value, key)
  return typeof found === 'number' ? found : undefined
}
