import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchKind } from '../src/model/index.ts'

export interface Corpus {
  name: string
  agent: string
  launch: LaunchKind
  lines: string
}

const AGENTS = join(import.meta.dirname, '../src/agents')
const FRAMES = 100_000
const LARGE_BYTES = 48 * 1024 * 1024

/** Real lines of every recorded program, repeated until they are many. */
export function* corpora(): Generator<Corpus> {
  for (const agent of readdirSync(AGENTS).sort()) {
    const programs = entries(join(AGENTS, agent, 'fixtures'))
    for (const program of programs) {
      const folder = join(AGENTS, agent, 'fixtures', program)
      for (const launch of ['oneshot', 'live'] as const) {
        const lines = recordedLines(folder, launch === 'oneshot' ? 'stdout.jsonl' : 'transcript.jsonl')
        if (lines.length < 50) continue
        yield { name: `${program} ${launch}`, agent, launch, lines: repeat(lines, FRAMES) }
      }
    }
  }
  const deltas = deltaLines()
  yield { name: 'claude deltas', agent: 'claude', launch: 'oneshot', lines: repeat(deltas, FRAMES * 2) }
  yield { name: 'claude 4 MB lines', agent: 'claude', launch: 'oneshot', lines: largeLines() }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function recordedLines(program: string, file: string): string[] {
  const lines: string[] = []
  for (const scenario of readdirSync(program).sort()) {
    let text: string
    try {
      text = readFileSync(join(program, scenario, file), 'utf8')
    } catch {
      continue
    }
    for (const line of text.split('\n')) {
      if (line === '') continue
      const native = file === 'transcript.jsonl' ? outgoing(line) : line
      // A few handshakes of half a megabyte would drown everything else, and the bare loop reads JSON alone.
      if (native?.startsWith('{') && native.length < 20_000) lines.push(native)
    }
  }
  return lines
}

function outgoing(line: string): string | undefined {
  const { dir, msg } = JSON.parse(line)
  return dir === 'out' && typeof msg === 'object' ? JSON.stringify(msg) : undefined
}

function repeat(lines: readonly string[], frames: number): string {
  const block = `${lines.join('\n')}\n`
  return block.repeat(Math.ceil(frames / lines.length))
}

/** Long answers: the shape that a token stream has. */
function deltaLines(): string[] {
  const text = readFileSync(join(AGENTS, 'claude/fixtures/claude/plain/stdout.jsonl'), 'utf8')
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.includes('text_delta'))
  const delta = lines[at] ?? ''
  const last = lines.findLastIndex((line) => line.includes('text_delta'))
  const before = lines.slice(
    lines.findIndex((line) => line.includes('message_start')),
    at,
  )
  const after = lines.slice(last + 1, lines.findIndex((line) => line.includes('message_stop')) + 1)
  return [...before, ...Array.from({ length: 300 }, () => delta), ...after]
}

function largeLines(): string {
  const output = 'x\\n'.repeat(1_400_000)
  const line = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"${output}"}]}}\n`
  return line.repeat(Math.ceil(LARGE_BYTES / line.length))
}
