import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BENCH } from '../../scripts/scale-constants.ts'
import {
  benchTable,
  costOfEntry,
  costTable,
  needsOf,
  needsTable,
  WORKLOAD,
} from '../../scripts/scale-model.ts'

const page = readFileSync('docs/scale.md', 'utf8')

describe('the model of docs/scale.md', () => {
  it('prints the tables of the page', () => {
    for (const table of [costTable(), benchTable(), needsTable()]) expect(page).toContain(`\n${table}\n`)
  })

  it.each(BENCH)('predicts the bench: $name on $nodes nodes', (row) => {
    const { databaseMicros, walBytes } = costOfEntry(row.entriesPerAppend, row.appendsPerTransaction)
    expect(databaseMicros / row.databaseMicros).toBeGreaterThan(0.6)
    expect(databaseMicros / row.databaseMicros).toBeLessThan(1.6)
    expect(walBytes / row.walBytes).toBeGreaterThan(0.6)
    expect(walBytes / row.walBytes).toBeLessThan(1.6)
  })

  it('states the workload of the page', () => {
    const { turns, secondsPerTurn, entriesPerTurn } = WORKLOAD
    expect(page).toContain(`${turns} turns of ${secondsPerTurn} s and ${entriesPerTurn} entries each`)
  })

  it('needs more of everything for more sessions, and less time of the database for larger appends', () => {
    const [few, many] = [needsOf(10_000), needsOf(1_000_000)]
    for (const name of ['nodes', 'entriesPerSecond', 'processors', 'bytesPerDay', 'connections'] as const)
      expect(many[name], name).toBeGreaterThan(few[name])
    expect(needsOf(10_000, { ...WORKLOAD, entriesPerAppend: 30 }).processors).toBeLessThan(few.processors)
  })
})
