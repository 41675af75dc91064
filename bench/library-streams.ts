import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchKind } from '../src/model/index.ts'
import { words } from './stream.ts'

/** One turn of a recorded program, made long. */
export interface Stream {
  agent: 'claude' | 'codex'
  /** What the turn is made of. */
  shape: string
  launch: LaunchKind
  lines: readonly string[]
}

export const LINES = 200_000
const WORDS_PER_DELTA = 4
const AGENTS = join(import.meta.dirname, '../src/agents')

function recorded(path: string): string[] {
  return readFileSync(join(AGENTS, path), 'utf8').trim().split('\n')
}

/** Messages of so many pieces, each followed by a tool call and its result. */
export function claudeStream(pieces: number, length = LINES): Stream {
  const lines = recorded('claude/fixtures/claude/plain/stdout.jsonl')
  const isDelta = (line: string) => line.includes('text_delta')
  const begin = lines.findIndex((line) => line.includes('message_start'))
  const end = lines.findIndex((line) => line.includes('message_stop')) + 1
  const first = lines.findIndex(isDelta)
  const deltas = lines.filter(isDelta)
  const head = lines.slice(begin, first)
  const tail = lines.slice(lines.findLastIndex(isDelta) + 1, end)
  const call = callIn(recorded('claude/fixtures/claude/perm_allowed/stdout.jsonl'))
  const whole: string[] = lines.slice(0, begin)
  for (let message = 0; whole.length < length; message++) {
    // Every message and call has its own id, as in real output.
    const renamed = (line: string) =>
      line
        .replaceAll(/"msg_fake\d+"/g, `"msg_${message}"`)
        .replaceAll(/"toolu_fake[\d_]+"/g, `"call_${message}"`)
    whole.push(...head.map(renamed))
    for (let delta = 0; delta < pieces; delta++) whole.push(reworded(deltas[delta % deltas.length] ?? ''))
    whole.push(...tail.map(renamed), ...call.map((line) => renamed(line).replaceAll('"msg_', '"msg_call_')))
  }
  const shape = pieces < length ? `messages of ${pieces} pieces` : 'one long message'
  return { agent: 'claude', shape, launch: 'live', lines: [...whole, ...lines.slice(end)] }
}

/** The same line with other words, because databases compress what repeats. */
function reworded(line: string): string {
  return line.replace(/("text":")[^"]*/, (_, key) => `${key}${words(WORDS_PER_DELTA)} `)
}

/** The lines of one tool call, to its result. */
function callIn(lines: readonly string[]): string[] {
  const begin = lines.findIndex((line) => line.includes('message_start'))
  return lines.slice(begin, lines.findIndex((line) => line.includes('"tool_result"')) + 1)
}

/** Commands and remarks, one after another: Codex prints whole items only. */
export function codexStream(length = LINES): Stream {
  const lines = recorded('codex/fixtures/codex/tool_bash/stdout.jsonl')
  const items = lines.filter((line) => line.includes('"item"'))
  const begin = lines.slice(0, lines.indexOf(items[0] ?? ''))
  const whole = [...begin]
  const ids = new Set(items.map((item) => /"item_\d+"/.exec(item)?.[0])).size
  for (let first = 0; whole.length < length; first += ids) {
    for (const item of items) {
      // Counted on, as it counts them.
      whole.push(item.replace(/"item_(\d+)"/, (_, id) => `"item_${first + Number(id)}"`))
    }
  }
  return {
    agent: 'codex',
    shape: 'commands and remarks',
    launch: 'oneshot',
    lines: [...whole, lines.at(-1) ?? ''],
  }
}
