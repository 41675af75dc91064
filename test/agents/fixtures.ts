import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecording, type RecordedExit } from '../../src/daemon/decode.ts'
import type { LaunchKind } from '../../src/model/index.ts'
import type { Replayed } from '../../src/sessions/replay.ts'

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

const foldersIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : [])

export const fixtures: readonly Fixture[] = foldersIn(AGENTS).flatMap((agent) =>
  foldersIn(join(AGENTS, agent, 'fixtures')).flatMap((program) =>
    foldersIn(join(AGENTS, agent, 'fixtures', program)).map((scenario) => load(agent, program, scenario)),
  ),
)

function load(agent: string, program: string, scenario: string): Fixture {
  const folder = join(AGENTS, agent, 'fixtures', program, scenario)
  const read = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : ''
  const transcript = read('transcript.jsonl')
  // The event stream of a server has no transcript, but it is live all the same.
  const live = transcript !== '' || existsSync(join(folder, 'in.jsonl'))
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
