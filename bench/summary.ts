import { cpus, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { ends } from './summary/ends.ts'
import { library } from './summary/library.ts'
import { memory } from './summary/memory.ts'
import type { Row } from './summary/row.ts'
import { starts } from './summary/start.ts'
import { manyAgents, manySubscribers, oneEvent } from './summary/streams.ts'

const PARTS: Readonly<Record<string, (checkout: string) => Promise<Row[]>>> = {
  ends,
  starts,
  agents: manyAgents,
  subscribers: manySubscribers,
  event: oneEvent,
  memory,
  library,
}

/**
 * `npm run bench -- summary [part …] [checkout …]`: what a user feels of the built program, a column for each checkout,
 * such as the trees before and after a change. Each checkout must be built. Parts are measured one after another, and the
 * checkouts in turn.
 */
export async function summary(args: readonly string[]): Promise<void> {
  const parts = args.filter((arg) => arg in PARTS)
  const given = args.filter((arg) => !(arg in PARTS)).map((path) => resolve(path))
  const checkouts = given.length > 0 ? given : [join(import.meta.dirname, '..')]
  print(
    `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}\n`,
  )
  print(`| | ${checkouts.join(' | ')} |\n|---${'|---'.repeat(checkouts.length)}|`)
  for (const [name, part] of Object.entries(PARTS)) {
    if (parts.length > 0 && !parts.includes(name)) continue
    const columns: Row[][] = []
    for (const checkout of checkouts) columns.push(await part(checkout))
    for (const [index, { what }] of (columns[0] ?? []).entries())
      print(`| ${what} | ${columns.map((rows) => figure(rows[index]?.value)).join(' | ')} |`)
  }
}

function figure(value = Number.NaN): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
