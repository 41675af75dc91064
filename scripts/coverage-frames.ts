import { decodeFixture, type Fixture, fixtures, recordingsIn } from '../test/agents/fixtures.ts'
import { leavesIn } from '../test/agents/kit/lost-strings.ts'

/**
 * Prints what became of every frame and string of every recording, a line a program: those that are kept here, or those of a
 * folder with `<program>/<scenario>/` in it. A string is lost when no event has it and its field is not named as one
 * that is dropped; that, and a frame without a verdict, is a failure, and so is an unmapped frame.
 */
const columns = [
  'recordings',
  'frames',
  'mapped',
  'unmapped',
  'malformed',
  'oversized',
  'unaccounted',
  'strings',
  'in events',
  'silent',
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
const print = (name: string, row: Row) =>
  process.stdout.write(
    line(
      name,
      columns.map((column) => row[column]),
    ),
  )
const odd = new Map<string, number>()
const total = emptyRow()
for (const [name, recordings] of programs) {
  const row = count(recordings)
  for (const column of columns) total[column] += row[column]
  print(name, row)
}
print('total', total)
for (const [what, times] of odd) process.stdout.write(`${what} × ${times}\n`)
process.exitCode = total.unaccounted + total.unmapped + total.lost === 0 ? 0 : 1

function emptyRow(): Row {
  return {
    recordings: 0,
    frames: 0,
    mapped: 0,
    unmapped: 0,
    malformed: 0,
    oversized: 0,
    unaccounted: 0,
    strings: 0,
    'in events': 0,
    silent: 0,
    lost: 0,
  }
}

function count(recordings: readonly Fixture[]): Row {
  const row = emptyRow()
  for (const recording of recordings) {
    const { coverage, entries } = decodeFixture(recording)
    row.recordings++
    for (const column of ['frames', 'mapped', 'unmapped', 'malformed', 'oversized'] as const)
      row[column] += coverage[column]
    row.unaccounted +=
      coverage.frames - coverage.mapped - coverage.unmapped - coverage.malformed - coverage.oversized
    const leaves = leavesIn(recording, entries)
    row.strings += leaves.total
    row['in events'] += leaves.inEvents
    row.silent += leaves.silent
    for (const what of leaves.lost) {
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
