import { decodeFixture, type Fixture, fixtures, recordingsIn } from '../test/agents/fixtures.ts'
import { lostStrings } from '../test/agents/lost-strings.ts'

/**
 * Prints what became of every frame of every recording, a line a program: those that are kept here, or those of a
 * folder with `<program>/<scenario>/` in it. A string is lost when no event has it and its field is not named as one
 * that is dropped; that, and a frame without a verdict, is a failure.
 */
const columns = [
  'recordings',
  'frames',
  'mapped',
  'unmapped',
  'malformed',
  'oversized',
  'unaccounted',
  'lost',
] as const
type Row = Record<(typeof columns)[number], number>

const [folder] = process.argv.slice(2)
const recorded = folder === undefined ? fixtures : recordingsIn(folder)
const programs = Map.groupBy(recorded, ({ program, launch }) => `${program} ${launch}`)
const width = Math.max(...[...programs.keys()].map((name) => name.length))
const line = (name: string, cells: readonly (string | number)[]) =>
  `${name.padEnd(width)} ${cells.map((cell) => String(cell).padStart(12)).join('')}\n`

process.stdout.write(line('program', columns))
let failures = 0
const odd = new Map<string, number>()
for (const [name, recordings] of programs) {
  const row = count(recordings)
  failures += row.unaccounted + row.lost
  process.stdout.write(
    line(
      name,
      columns.map((column) => row[column]),
    ),
  )
}
for (const [what, times] of odd) process.stdout.write(`${what} × ${times}\n`)
process.exitCode = failures === 0 ? 0 : 1

function count(recordings: readonly Fixture[]): Row {
  const row: Row = {
    recordings: 0,
    frames: 0,
    mapped: 0,
    unmapped: 0,
    malformed: 0,
    oversized: 0,
    unaccounted: 0,
    lost: 0,
  }
  for (const recording of recordings) {
    const { coverage, entries } = decodeFixture(recording)
    row.recordings++
    for (const column of ['frames', 'mapped', 'unmapped', 'malformed', 'oversized'] as const)
      row[column] += coverage[column]
    row.unaccounted +=
      coverage.frames - coverage.mapped - coverage.unmapped - coverage.malformed - coverage.oversized
    for (const what of lostStrings(recording, entries)) {
      row.lost++
      note(`${recording.name}: lost: ${what}`)
    }
    for (const { event } of entries) {
      if (event.type === 'native.unmapped') note(`${recording.program}: unmapped ${event.nativeType}`)
      if (event.type === 'output.written' && event.stream === 'stdout')
        note(`${recording.program}: not JSON: ${event.line}`)
    }
  }
  return row
}

function note(what: string): void {
  const short = what.slice(0, 120)
  odd.set(short, (odd.get(short) ?? 0) + 1)
}
