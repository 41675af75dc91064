import type { LaunchKind } from '../src/model/index.ts'
import { type Fixture, fixtures } from '../test/agents/fixtures.ts'
import { longTurn } from './long-turn.ts'

/** The lines of one process, and the lines sent to it: `[number of lines written before, the line]`. */
export interface Scene {
  lines: readonly string[]
  told: readonly (readonly [number, string])[]
}

/** Scenes that are played in a loop, each in a separate process as recorded. */
export interface Corpus {
  name: string
  agent: string
  launch: LaunchKind
  scenes: readonly Scene[]
}

export const RECORDED = 'as recorded'
const LEAST_LINES = 50
const LONGEST_LINE = 20_000

/**
 * Every recorded program twice: as its scenes were recorded, and with the long turns that real ones have, since the
 * scripted model behind the recordings answers in a few words and calls one tool. Then one extreme. Both sides of a
 * measurement read the very same bytes.
 */
export function* corpora(): Generator<Corpus> {
  for (const [name, recordings] of Map.groupBy(fixtures, ({ program, launch }) => `${program} ${launch}`)) {
    const [first] = recordings
    const scenes = recordings.map(sceneOf).filter(({ lines }) => lines.length > 0)
    const lines = scenes.reduce((sum, scene) => sum + scene.lines.length, 0)
    if (!first || lines < LEAST_LINES) continue
    const { agent, launch } = first
    yield { name: `${name}, ${RECORDED}`, agent, launch, scenes }
    yield { name, agent, launch, scenes: scenes.map((scene) => longTurn(scene, launch)) }
  }
  yield { name: 'claude 4 MB lines', agent: 'claude', launch: 'oneshot', scenes: [largeLines()] }
}

function sceneOf(recording: Fixture): Scene {
  const lines: string[] = []
  const told: [number, string][] = []
  for (const recorded of recording.lines) {
    const { told: toAgent, line } = directionOf(recorded.trimEnd())
    if (toAgent) told.push([lines.length, line])
    // A few handshakes of half a megabyte would drown everything else, and the bare loop reads JSON alone.
    else if (line.startsWith('{') && line.length < LONGEST_LINE) lines.push(line)
  }
  return { lines, told }
}

/** A transcript has the direction of every line. */
function directionOf(line: string): { told: boolean; line: string } {
  if (!line.startsWith('{')) return { told: false, line }
  const { dir, msg } = JSON.parse(line)
  if (dir === undefined || msg === undefined) return { told: false, line }
  return { told: dir === 'in', line: typeof msg === 'string' ? msg : JSON.stringify(msg) }
}

/** A tool that printed megabytes. */
function largeLines(): Scene {
  const output = 'x\\n'.repeat(1_400_000)
  const call =
    '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}'
  const result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"${output}"}]}}`
  return { lines: [call, result], told: [] }
}
