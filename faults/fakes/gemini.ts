import { randomUUID } from 'node:crypto'
import { Actor } from './actor.ts'
import { nothing } from './codex.ts'
import type { History } from './history.ts'
import { lineWriter, readAll } from './lines.ts'
import type { Native } from './native.ts'

const STATS = {
  total_tokens: 2,
  input_tokens: 1,
  output_tokens: 1,
  cached: 0,
  input: 1,
  duration_ms: 1,
  tool_calls: 0,
  models: {},
}

/** `gemini --output-format=stream-json`, which runs one turn. */
export async function gemini(history: History, argv: readonly string[]): Promise<void> {
  const write = lineWriter(history)
  const say = (message: Native) => write({ timestamp: new Date().toISOString(), ...message })
  const session_id = argv.find((flag) => flag.startsWith('--resume='))?.slice(9) ?? randomUUID()
  await new Actor(history, {
    begin(_, content) {
      say({ type: 'init', session_id, model: 'm' })
      say({ type: 'message', role: 'user', content })
    },
    openMessage: nothing,
    piece: (_, content) => say({ type: 'message', role: 'assistant', content, delta: true }),
    closeMessage: nothing,
    tool: nothing,
    end: (_, how) => how === 'done' && say({ type: 'result', status: 'success', stats: STATS }),
  }).prompt(await readAll())
}
