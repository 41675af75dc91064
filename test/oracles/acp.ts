import type { NativeMessage, Oracle, OracleTurn } from './oracle.ts'

/**
 * Reads a transcript of the Agent Client Protocol by cutting it into turns first: each prompt with its answer, and
 * whatever was said between them. Everything else is read off the frames of one turn, from their end.
 */
export const oracle: Oracle = ({ messages }) => {
  const session = messages.map(({ value }) => text(value, 'result.sessionId')).findLast(Boolean)
  const children = messages.map(({ value }) => text(value, 'params.update.sessionId'))
  const own = messages.filter(({ value }) => {
    const of = text(value, 'params.sessionId')
    return !session || !isUpdate(value) || of === session || (children.includes(of) && isTool(value))
  })
  let spent = own.some(({ value }) => at(value, 'method') === 'session/load') ? undefined : 0
  const turns = turnsOf(own)
  const sums = own.some(({ value }) => at(value, 'result.agentInfo.name') === 'Copilot')
  return {
    turns: (sums ? withoutEarlier(turns) : turns).map((turn) => {
      const cost = costOf(turn)
      const read = readTurn(turn, spent === undefined || cost === undefined ? undefined : cost - spent)
      spent = cost ?? spent
      return read
    }),
  }
}

interface Turn {
  frames: NativeMessage[]
  /** What ended it: an answer, or what stands for one. */
  end?: unknown
}

/** One program tells the sum of all turns so far: what came before a turn is taken away from its figures. */
function withoutEarlier(turns: readonly Turn[]): Turn[] {
  let before: unknown = {}
  return turns.map((turn) => {
    const now = at(turn.end, 'result.usage')
    if (!now) return turn
    const own = Object.entries(now).map(([key, sum]) => [key, Number(sum) - number(before, key)])
    before = now
    const result = { ...Object(at(turn.end, 'result')), usage: Object.fromEntries(own) }
    return { ...turn, end: { ...Object(turn.end), result } }
  })
}

/** `at(json, 'a.b')` is `json.a.b`, wherever that leads. */
function at(json: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((node, key) => (node instanceof Object ? Reflect.get(node, key) : undefined), json)
}

const text = (json: unknown, path: string) => String(at(json, path) ?? '')
const number = (json: unknown, path: string) => Number(at(json, path) ?? 0)
const all = (json: unknown, path: string) => [at(json, path)].flat().filter((item) => item !== undefined)
const isUpdate = (value: unknown) => at(value, 'method') === 'session/update'
const isTool = (value: unknown) => kindOf(value).startsWith('tool_call')
const kindOf = (value: unknown) => text(value, 'params.update.sessionUpdate')

/** Prompts are answered in the order they were sent, so a turn begins where the one before it ended. */
function turnsOf(messages: readonly NativeMessage[]): Turn[] {
  const asked = (message: NativeMessage) =>
    message.direction === 'in' && at(message.value, 'method') === 'session/prompt'
  const deaf = messages.every(({ direction }) => direction === 'out')
  const turns: Turn[] = []
  let from = 0
  messages.forEach((message, start) => {
    const first = deaf && start === 0
    if (!asked(message) && !first) return
    const id = at(message.value, 'id')
    const ends = messages.findIndex(
      ({ direction, value }, index) =>
        index > start && direction === 'out' && endsTurn(value, first ? null : id),
    )
    const end = ends < 0 ? messages.length : ends
    turns.push({ frames: messages.slice(Math.max(start, from), end), end: messages[end]?.value })
    from = Math.max(from, end)
  })
  const background = messages.filter(({ value }) => at(value, 'params.update._meta.backgroundTurn'))
  const over = messages.find(({ value }) => at(value, 'method') === '_qwencode/end_turn')
  return over
    ? [...turns, { frames: background, end: { result: { stopReason: at(over.value, 'params.reason') } } }]
    : turns
}

function endsTurn(value: unknown, id: unknown): boolean {
  if (kindOf(value) === 'state_update') return at(value, 'params.update.stopReason') !== undefined
  const answers =
    id === null ? at(value, 'result.stopReason') : at(value, 'id') === id && !at(value, 'method')
  return Boolean(answers) && at(value, 'result.messageId') === undefined
}

function readTurn({ frames, end }: Turn, costUsd: number | undefined): OracleTurn {
  const updates = frames.filter(({ direction, value }) => direction === 'out' && isUpdate(value))
  const result = at(end, 'result') ?? at(end, 'params.update')
  const blocks = textsOf(frames)
  const failure = failureOf(blocks, updates, end, result)
  const outcome = outcomeOf(result, end, failure)
  const tools = toolsOf(frames, outcome)
  const refused = tools.some(({ status, by }) => status === 'denied' && by !== 'person')
  const usage = usageOf(updates, result, tools.length > 0, costUsd)
  return {
    outcome: outcome === 'completed' && refused ? 'denied' : outcome,
    text: (failure === undefined ? blocks : blocks.filter((block) => block !== failure)).at(-1) ?? '',
    tools: tools.map(({ name, status }) => ({ name, status })),
    ...(usage && { usage }),
  }
}

/** Sentences that adapters say in the place of the model. */
const REMARKS = /^(Config warning: |Warning: |Model metadata for |Info: |\[MODE_UPDATE\]|Background agent ")/
/** Sentences with which two of them tell that a turn failed; they are messages of their own. */
const FAILURES = /^(API Error: |Error: )/

function textsOf(frames: readonly NativeMessage[]): string[] {
  const texts: { id: string; text: string }[] = []
  let cut = true
  for (const { direction, value } of frames) {
    const kind = kindOf(value)
    const piece = text(value, 'params.update.content.text')
    if (kind !== 'agent_message_chunk') {
      const silent = /usage|commands|session_info|config_option|current_mode|^$/.test(kind)
      // A model call that ends parts two messages, where they have no ids.
      if (!silent || kind === 'usage_update' || (direction === 'out' && at(value, 'id') !== undefined))
        cut = true
      continue
    }
    if (piece === '' || REMARKS.test(piece)) {
      if (/Retrying\.\.\.$/.test(piece) || piece === '') cut = true
      continue
    }
    const id = text(value, 'params.update.messageId')
    const last = texts.at(-1)
    const goesOn = last && !FAILURES.test(piece) && last.id === id && (!cut || id !== '')
    if (goesOn) last.text += piece
    else texts.push({ id, text: piece })
    cut = false
  }
  return texts.map((block) => block.text)
}

function failureOf(
  blocks: readonly string[],
  updates: readonly NativeMessage[],
  end: unknown,
  result: unknown,
): string | undefined {
  const last = blocks.at(-1)
  const broken = updates.some(
    ({ value }) => at(value, 'params.update._meta.codex.threadStatus.type') === 'systemError',
  )
  const told =
    last !== undefined && FAILURES.test(last) && (at(end, 'error') !== undefined || !at(result, 'usage'))
  return broken || told ? last : undefined
}

function outcomeOf(result: unknown, end: unknown, failure: string | undefined): string {
  if (end === undefined) return 'crashed'
  if (at(end, 'error') !== undefined || failure !== undefined) return 'failed'
  return at(result, 'stopReason') === 'cancelled' ? 'interrupted' : 'completed'
}

interface Tool {
  name: string
  status: string
  by?: string
}

function toolsOf(frames: readonly NativeMessage[], outcome: string): Tool[] {
  const calls = new Map<string, unknown[]>()
  for (const { direction, value } of frames) {
    if (direction !== 'out') continue
    const asked = at(value, 'params.toolCall') ?? at(value, 'params.subject.toolCall')
    const call = asked ?? (kindOf(value).startsWith('tool_call') ? at(value, 'params.update') : undefined)
    const id = text(call, 'toolCallId')
    if (call !== undefined) calls.set(id, [...(calls.get(id) ?? []), call])
  }
  // A call counts from the frame that has its input; before that it is a draft, and may stay one.
  const begun = (words: readonly unknown[]) =>
    frames.findIndex(({ value }) => isAbout(value, words, !isDraft(words[0])))
  const whole = [...calls].filter(([, words]) => words.length > 1 || !isDraft(words[0]))
  whole.sort(([, a], [, b]) => begun(a) - begun(b))
  return whole.map(([id, words]) => ({ name: nameOf(id, words), ...statusOf(id, words, frames, outcome) }))
}

function isAbout(value: unknown, words: readonly unknown[], fromTheFirst: boolean): boolean {
  const about = words.findIndex((word) =>
    [at(value, 'params.update'), at(value, 'params.toolCall'), at(value, 'params.subject.toolCall')].includes(
      word,
    ),
  )
  return fromTheFirst ? about >= 0 : about >= 1
}

function isDraft(call: unknown): boolean {
  const input = at(call, 'rawInput')
  return (
    at(call, 'status') === 'pending' &&
    input instanceof Object &&
    Object.keys(input).join() in { '': 1, cwd: 1 }
  )
}

function nameOf(id: string, words: readonly unknown[]): string {
  const names = words.map(
    (call) => text(call, 'name') || text(call, '_meta.claudeCode.toolName') || text(call, '_meta.toolName'),
  )
  return (
    names.find(Boolean) ?? (id.includes('__call_') ? id.split('__')[0] : undefined) ?? text(words[0], 'title')
  )
}

function statusOf(
  id: string,
  words: readonly unknown[],
  frames: readonly NativeMessage[],
  outcome: string,
): Omit<Tool, 'name'> {
  const end = words.find((call) => /^(completed|failed)$/.test(text(call, 'status')))
  const refused = isRefused(id, frames)
  if (end === undefined)
    return { status: refused ? 'denied' : open(outcome), ...(refused && { by: 'person' }) }
  const failed = at(end, 'status') === 'failed'
  if (failed && refused) return { status: 'denied', by: 'person' }
  const told = JSON.stringify([at(end, 'rawOutput'), at(end, 'content')])
  if (/Command cancelled by user|User aborted the command|"outcome":"cancelled"/.test(told))
    return { status: 'cancelled' }
  if (failed && outcome === 'interrupted') return { status: 'cancelled' }
  if (failed && /denied by policy/.test(told)) return { status: 'denied', by: 'policy' }
  const codes = [...JSON.stringify(end).matchAll(/"(?:exit_code|exitCode|exit)":(\d+)/g)].map(
    ([, code]) => code,
  )
  return { status: failed || codes.some((code) => code !== '0') ? 'error' : 'success' }
}

const open = (outcome: string) =>
  outcome === 'interrupted' ? 'cancelled' : outcome === 'completed' ? 'unknown' : 'error'

/** The answer to the question about a call: an option to reject it, or the question taken back. */
function isRefused(id: string, frames: readonly NativeMessage[]): boolean {
  const question = frames.find(({ value }) => text(value, 'params.toolCall.toolCallId') === id)?.value
  const answer = frames.find(
    ({ direction, value }) =>
      direction === 'in' && question && at(value, 'id') === at(question, 'id') && at(value, 'result.outcome'),
  )?.value
  if (!answer) return false
  const chosen = all(question, 'params.options').find(
    (option) => at(option, 'optionId') === at(answer, 'result.outcome.optionId'),
  )
  const cancelled = frames.some(({ value }) => at(value, 'method') === 'session/cancel')
  return chosen === undefined ? !cancelled : text(chosen, 'kind').startsWith('reject')
}

function costOf({ frames }: Turn): number | undefined {
  const told = frames.findLast(({ value }) => at(value, 'params.update.cost') !== undefined)?.value
  return told === undefined ? undefined : number(told, 'params.update.cost.amount')
}

function usageOf(
  updates: readonly NativeMessage[],
  result: unknown,
  tools: boolean,
  costUsd: number | undefined,
): Record<string, number> | undefined {
  const steps = updates.flatMap(({ value }) => all(value, 'params.update._meta.usage'))
  const quota = at(result, '_meta.quota.token_count')
  // One adapter tells everything by model, and beside it the main thread alone.
  const models = all(result, '_meta.quota.model_usage')
    .map((row) => Object(at(row, 'token_count')))
    .filter((counts) => 'cachedWriteTokens' in counts)
    .map(({ reasoningOutputTokens: _, ...counts }) => ({
      ...counts,
      cachedReadTokens: counts.cachedInputTokens,
    }))
  const told = at(result, 'usage') ?? undefined
  // One agent tells the last model call only: with tools there were others before it.
  const partial = costUsd !== undefined && tools && !('cachedWriteTokens' in Object(told))
  const whole = models.length > 0 ? models : told !== undefined && !partial ? [told] : steps
  const sums = whole.length > 0 ? tokens(whole) : undefined
  const counted =
    sums ?? (told === undefined && at(quota, 'input_tokens') !== undefined ? geminiTokens(quota) : undefined)
  const cost = costUsd === undefined ? {} : { costUsd: Math.round(costUsd * 1e10) / 1e10 }
  const usage = { ...(counted?.total ? counted : {}), ...cost }
  return Object.values(usage).some((figure) => figure > 0) ? usage : undefined
}

function geminiTokens(quota: unknown): Record<string, number> {
  const input = number(quota, 'input_tokens')
  const output = number(quota, 'output_tokens')
  return { input, output, total: input + output }
}

/** Totals agree for everybody; what is input and what is output follows from them. */
function tokens(counts: readonly unknown[]): Record<string, number> {
  const sum = (key: string) => counts.reduce<number>((all, one) => all + number(one, key), 0)
  const has = (key: string) => counts.some((one) => at(one, key) !== undefined)
  const total = sum('totalTokens')
  const cached = sum('cachedReadTokens') + sum('cachedWriteTokens')
  const cacheInside = sum('inputTokens') + sum('outputTokens') === total
  const input = cacheInside ? sum('inputTokens') - cached : sum('inputTokens')
  return {
    input,
    output: total - input - cached,
    ...(has('cachedReadTokens') && { cacheRead: sum('cachedReadTokens') }),
    ...(has('cachedWriteTokens') && { cacheWrite: sum('cachedWriteTokens') }),
    ...(has('thoughtTokens') && { reasoning: sum('thoughtTokens') }),
    total,
  }
}
