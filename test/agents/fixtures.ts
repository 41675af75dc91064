import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecording, type RecordedExit } from '../../src/compose/decode.ts'
import type { LaunchKind } from '../../src/model/index.ts'
import type { Replayed } from '../../src/sessions/machine/replay.ts'

/** A recording of a real program, kept beside the agent that reads it. */
export interface Fixture {
  name: string
  agent: string
  program: string
  scenario: string
  folder: string
  launch: LaunchKind
  /** The recorded lines, each with its newline. */
  lines: readonly string[]
  stderr: string
  exit: RecordedExit
}

const AGENTS = join(import.meta.dirname, '../../src/agents')

/** Programs that are recorded beside another generation of their agent, and decoded under their own name. */
const GENERATIONS: ReadonlySet<string> = new Set(['opencode2'])

const foldersIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : [])

export const fixtures: readonly Fixture[] = foldersIn(AGENTS).flatMap((agent) =>
  foldersIn(join(AGENTS, agent, 'fixtures')).flatMap((program) =>
    scenariosOf(
      GENERATIONS.has(program) ? program : agent,
      program,
      join(AGENTS, agent, 'fixtures', program),
    ),
  ),
)

/** The recordings of another folder, which has one for each program and in it one for each scenario. */
export function recordingsIn(root: string): Fixture[] {
  const agentOf = new Map(fixtures.map(({ program, agent }) => [program, agent]))
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => {
      const agent = agentOf.get(name)
      if (agent === undefined) throw new Error(`no agent here has recordings of a program called ${name}`)
      return scenariosOf(agent, name, join(root, name))
    })
}

function scenariosOf(agent: string, program: string, root: string): Fixture[] {
  return foldersIn(root).map((scenario) => load(agent, program, scenario, join(root, scenario)))
}

function load(agent: string, program: string, scenario: string, folder: string): Fixture {
  const read = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : ''
  const transcript = read('transcript.jsonl')
  // The event stream of a server has no transcript, but a list of calls beside it; a prompt on stdin is plain text.
  const hasCalls = existsSync(join(folder, 'in.jsonl')) && /^\s*(?:\{|$)/.test(read('in.jsonl'))
  const live = transcript !== '' || hasCalls
  return {
    name: `${program}/${scenario}`,
    agent,
    program,
    scenario,
    folder,
    launch: live ? 'live' : 'oneshot',
    lines: (transcript || read('stdout.jsonl')).split(/(?<=\n)/),
    stderr: read('stderr.txt'),
    exit: JSON.parse(read('exit.json') || '{"code":0}'),
  }
}

const encoder = new TextEncoder()

/** Decodes a recording, or another version of its bytes. */
export function decodeFixture(
  fixture: Fixture,
  stdout: Iterable<Uint8Array> = [encoder.encode(fixture.lines.join(''))],
): Replayed {
  const { agent, launch, exit } = fixture
  return decodeRecording({ agent, launch, stdout, stderr: [encoder.encode(fixture.stderr)], exit })
}

/** The same with other lines. */
export function decodeLines(fixture: Fixture, lines: readonly string[]): Replayed {
  return decodeFixture(fixture, [encoder.encode(lines.join(''))])
}
