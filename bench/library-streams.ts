import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchKind } from '../src/model/index.ts'

/** One turn of a recorded program, made long. */
export interface Stream {
  agent: 'claude' | 'codex'
  launch: LaunchKind
  lines: readonly string[]
}

const LINES = 200_000
const DELTAS_A_MESSAGE = 300
const AGENTS = join(import.meta.dirname, '../src/agents')

function recorded(path: string): string[] {
  return readFileSync(join(AGENTS, path), 'utf8').trim().split('\n')
}

/** Long answers, token by token: what Claude prints most of the time. */
export function claudeStream(): Stream {
  const lines = recorded('claude/fixtures/claude/plain/stdout.jsonl')
  const isDelta = (line: string) => line.includes('text_delta')
  const begin = lines.findIndex((line) => line.includes('message_start'))
  const end = lines.findIndex((line) => line.includes('message_stop')) + 1
  const first = lines.findIndex(isDelta)
  const deltas = lines.filter(isDelta)
  const head = lines.slice(begin, first)
  const tail = lines.slice(lines.findLastIndex(isDelta) + 1, end)
  const whole: string[] = lines.slice(0, begin)
  for (let message = 0; whole.length < LINES; message++) {
    // Every message has its own id, as in real output.
    const renamed = (line: string) => line.replaceAll('msg_fake000001', `msg_${message}`)
    whole.push(...head.map(renamed))
    for (let delta = 0; delta < DELTAS_A_MESSAGE; delta++) whole.push(deltas[delta % deltas.length] ?? '')
    whole.push(...tail.map(renamed))
  }
  return { agent: 'claude', launch: 'live', lines: [...whole, ...lines.slice(end)] }
}

/** Commands and remarks, one after another: Codex prints whole items only. */
export function codexStream(): Stream {
  const lines = recorded('codex/fixtures/codex/tool_bash/stdout.jsonl')
  const items = lines.filter((line) => line.includes('"item"'))
  const begin = lines.slice(0, lines.indexOf(items[0] ?? ''))
  const whole = [...begin]
  const ids = new Set(items.map((item) => /"item_\d+"/.exec(item)?.[0])).size
  for (let first = 0; whole.length < LINES; first += ids) {
    for (const item of items) {
      // Counted on, as it counts them.
      whole.push(item.replace(/"item_(\d+)"/, (_, id) => `"item_${first + Number(id)}"`))
    }
  }
  return { agent: 'codex', launch: 'oneshot', lines: [...whole, lines.at(-1) ?? ''] }
}
