import { decodeFixture, type Fixture, fixtures } from '../test/agents/fixtures.ts'

/** Prints what became of every frame of every recording, a line a program. */
const columns = [
  'recordings',
  'frames',
  'mapped',
  'unmapped',
  'malformed',
  'oversized',
  'unaccounted',
] as const
type Row = Record<(typeof columns)[number], number>

const programs = Map.groupBy(fixtures, ({ program, launch }) => `${program} ${launch}`)
const width = Math.max(...[...programs.keys()].map((name) => name.length))
const line = (name: string, cells: readonly (string | number)[]) =>
  `${name.padEnd(width)} ${cells.map((cell) => String(cell).padStart(12)).join('')}\n`

process.stdout.write(line('program', columns))
let lost = 0
const odd = new Map<string, number>()
for (const [name, recordings] of programs) {
  const row = count(recordings)
  lost += row.unaccounted
  process.stdout.write(
    line(
      name,
      columns.map((column) => row[column]),
    ),
  )
}
for (const [what, times] of odd) process.stdout.write(`${what} × ${times}\n`)
process.exitCode = lost === 0 ? 0 : 1

function count(recordings: readonly Fixture[]): Row {
  const row: Row = {
    recordings: 0,
    frames: 0,
    mapped: 0,
    unmapped: 0,
    malformed: 0,
    oversized: 0,
    unaccounted: 0,
  }
  for (const recording of recordings) {
    const { coverage, entries } = decodeFixture(recording)
    row.recordings++
    for (const column of ['frames', 'mapped', 'unmapped', 'malformed', 'oversized'] as const)
      row[column] += coverage[column]
    row.unaccounted +=
      coverage.frames - coverage.mapped - coverage.unmapped - coverage.malformed - coverage.oversized
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
