import type { NativeRecording, OracleTurn } from './oracle.ts'

type Lines = readonly unknown[]

/**
 * What a recording of Codex says, read straight from its lines and by another road than the codec: turns by their
 * ids, usage from running totals. Nothing here comes from the sources.
 */
export function oracle({ messages, stderr, exit }: NativeRecording): { turns: OracleTurn[] } {
  if (messages.some(({ direction }) => direction === 'in')) return { turns: appServerTurns(messages) }
  return {
    turns: [
      execTurn(
        messages.map(({ value }) => value),
        stderr,
        exit.code ?? undefined,
      ),
    ],
  }
}

/** `at(json, 'a.b')` is `json.a.b`, wherever that leads. */
function at(json: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((node, key) => (node instanceof Object ? Reflect.get(node, key) : undefined), json)
}

const textAt = (json: unknown, path: string) => String(at(json, path) ?? '')
const numberAt = (json: unknown, path: string) => Number(at(json, path) ?? 0)

const SPEECH = [
  'agent_message',
  'reasoning',
  'error',
  'todo_list',
  'userMessage',
  'agentMessage',
  'plan',
  'subAgentActivity',
  'contextCompaction',
  'enteredReviewMode',
  'exitedReviewMode',
]
const isTool = (item: unknown) => item !== undefined && !SPEECH.includes(textAt(item, 'type'))

function toolName(item: unknown): string {
  const server = at(item, 'server')
  if (server !== undefined) return `${server}.${at(item, 'tool')}`
  return textAt(item, 'tool') || textAt(item, 'type')
}

function toolStatus(end: unknown, ifOpen: string): string {
  if (end === undefined) return ifOpen
  if (at(end, 'status') === 'declined') return 'denied'
  if (/requires approval|rejected/.test(textAt(end, 'error.message'))) return 'denied'
  const code = numberAt(end, 'exit_code') || numberAt(end, 'exitCode')
  return at(end, 'status') === 'failed' || code !== 0 ? 'error' : 'success'
}

function execTurn(lines: Lines, stderr: string, code: number | undefined): OracleTurn {
  const ofType = (type: string) => lines.filter((line) => at(line, 'type') === type)
  const ends = ofType('item.completed').map((line) => at(line, 'item'))
  const starts = ofType('item.started').map((line) => at(line, 'item'))
  const speech = ends.filter((item) => at(item, 'type') === 'agent_message')
  // The total of the thread: whether the thread is older than the recording, its lines do not tell.
  const used = execUsage(at(ofType('turn.completed').at(-1), 'usage'))
  return {
    outcome: execOutcome(ofType, stderr, code),
    text: textAt(speech.at(-1), 'text'),
    tools: starts.filter(isTool).map((item) => {
      const end = ends.find((other) => at(other, 'id') === at(item, 'id'))
      return { name: toolName(item), status: toolStatus(end, 'error') }
    }),
    ...(used && { usage: used }),
  }
}

function execOutcome(ofType: (type: string) => unknown[], stderr: string, code: number | undefined): string {
  if (ofType('turn.failed').length > 0) return 'failed'
  if (ofType('turn.completed').length === 0) {
    const neverBegan = ofType('thread.started').length === 0 && code !== undefined && code !== 0
    return neverBegan ? 'failed' : 'crashed'
  }
  return /router: error=.*(reject command|rejected:|blocked by)/.test(stderr) ? 'denied' : 'completed'
}

function usage(input: number, cacheRead: number, cacheWrite: number, output: number, reasoning: number) {
  return {
    input: input - cacheRead - cacheWrite,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    total: input + output,
  }
}

function execUsage(native: unknown): Record<string, number> | undefined {
  if (native === undefined) return undefined
  const n = (key: string) => numberAt(native, key)
  return usage(
    n('input_tokens'),
    n('cached_input_tokens'),
    n('cache_write_input_tokens'),
    n('output_tokens'),
    n('reasoning_output_tokens'),
  )
}

function appServerTurns(messages: NativeRecording['messages']): OracleTurn[] {
  const lines = messages.map(({ direction, value }) => ({ dir: direction, msg: value }))
  const begins = lines.flatMap((line, index) => (isPrompt(lines, line, index) ? [index] : []))
  return begins.map((begin, n) => {
    // Work in the background may go on after the end of a turn, but nothing begins there.
    const until = begins[n + 1] ?? lines.length
    const prompt = at(lines[begin], 'msg')
    const answer = lines.find((line) => isAnswer(line, at(prompt, 'id')))
    const id = textAt(answer, 'msg.result.turn.id') || nextTurn(lines.slice(begin))
    const frames = lines.slice(begin, until).map((line) => at(line, 'msg'))
    const end = frames.find((frame) => isTurn(frame, 'turn/completed', id))
    const outcome = end === undefined ? 'crashed' : textAt(end, 'params.turn.status')
    const inTurn = frames
      .slice(0, end ? frames.indexOf(end) : undefined)
      // A resumed thread repeats the total of its last turn.
      .filter((frame) => !isOf(frame, textAt(prompt, 'params.threadId')) || at(frame, 'params.turnId') === id)
    const used = appUsage(lines, inTurn)
    return {
      outcome,
      text: lastText(frames.filter((frame) => at(frame, 'params.turnId') === id)),
      tools: appTools(frames, lines, outcome),
      ...(used && { usage: used }),
    }
  })
}

/** The turn that a call starts which is not answered with its id. */
function nextTurn(lines: Lines): string {
  const start = lines.find((line) => at(line, 'msg.method') === 'turn/started')
  return textAt(start, 'msg.params.turn.id')
}

/** Calls that start a turn without a prompt. */
const STARTS = ['thread/compact/start', 'review/start']
const startsTurn = (msg: unknown) =>
  STARTS.includes(textAt(msg, 'method')) ||
  (at(msg, 'method') === 'thread/goal/set' && at(msg, 'params.objective') !== undefined)

/** A prompt that is answered with the id of an open turn steers it. */
function isPrompt(lines: Lines, line: unknown, index: number): boolean {
  if (at(line, 'dir') === 'in' && startsTurn(at(line, 'msg'))) return true
  if (at(line, 'dir') !== 'in' || at(line, 'msg.method') !== 'turn/start') return false
  const answer = lines.find((other) => isAnswer(other, at(line, 'msg.id')))
  const id = textAt(answer, 'msg.result.turn.id')
  return !lines.slice(0, index).some((other) => isTurn(at(other, 'msg'), 'turn/started', id))
}

function isAnswer(line: unknown, id: unknown): boolean {
  return at(line, 'dir') === 'out' && at(line, 'msg.id') === id && at(line, 'msg.result') !== undefined
}

const isOf = (frame: unknown, thread: string) => at(frame, 'params.threadId') === thread

const isUsage = (frame: unknown) => at(frame, 'method') === 'thread/tokenUsage/updated'

function isTurn(frame: unknown, method: string, id: string): boolean {
  return at(frame, 'method') === method && at(frame, 'params.turn.id') === id
}

/** The last message that was not taken back, whole or as far as it came. */
function lastText(frames: Lines): string {
  let texts = new Map<string, string>()
  const whole = new Set<string>()
  for (const frame of frames) {
    const id = textAt(frame, 'params.itemId') || textAt(frame, 'params.item.id')
    if (['item/agentMessage/delta', 'item/plan/delta'].includes(textAt(frame, 'method')))
      texts.set(id, (texts.get(id) ?? '') + textAt(frame, 'params.delta'))
    const isSaid = ['agentMessage', 'plan'].includes(textAt(frame, 'params.item.type'))
    if (at(frame, 'method') === 'item/completed' && isSaid) {
      texts.set(id, textAt(frame, 'params.item.text'))
      whole.add(id)
    }
    if (at(frame, 'method') === 'error' && at(frame, 'params.willRetry') === true)
      texts = new Map([...texts].filter(([key]) => whole.has(key)))
  }
  return [...texts.values()].at(-1) ?? ''
}

function appTools(frames: Lines, lines: Lines, outcome: string) {
  const open = outcome === 'interrupted' ? 'cancelled' : outcome === 'completed' ? 'unknown' : 'error'
  return frames
    .filter((frame) => at(frame, 'method') === 'item/started' && isTool(at(frame, 'params.item')))
    .map((frame) => {
      const item = at(frame, 'params.item')
      const end = lines.find(
        (line) =>
          at(line, 'msg.method') === 'item/completed' && at(line, 'msg.params.item.id') === at(item, 'id'),
      )
      return { name: toolName(item), status: toolStatus(at(end, 'msg.params.item'), open) }
    })
}

/** The running totals of all threads at the end of the turn, sub-agents included, less those before it. */
function appUsage(lines: Lines, inTurn: Lines) {
  const reports = lines.map((line) => at(line, 'msg')).filter(isUsage)
  const own = inTurn.filter(isUsage)
  const threads = new Set(own.map((frame) => textAt(frame, 'params.threadId')))
  if (threads.size === 0) return undefined
  const total = (frames: Lines, thread: string, key: string) =>
    numberAt(
      frames.findLast((frame) => isOf(frame, thread)),
      `params.tokenUsage.total.${key}`,
    )
  const earlier = reports.slice(0, reports.indexOf(own[0]))
  const n = (key: string) =>
    [...threads].reduce((sum, id) => sum + total(own, id, key) - total(earlier, id, key), 0)
  return usage(
    n('inputTokens'),
    n('cachedInputTokens'),
    n('cacheWriteInputTokens'),
    n('outputTokens'),
    n('reasoningOutputTokens'),
  )
}
