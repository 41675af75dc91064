import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { least } from './least.ts'
import { claudeStream, codexStream, LINES, type Stream } from './library-streams.ts'
import { sdkFolder } from './sdks.ts'

const ROUNDS = 5
const CORE = join(import.meta.dirname, 'core-worker.ts')
const WORKER = join(import.meta.dirname, 'library-worker.ts')

/**
 * CPU time a line of one long turn, through `for await`: our library, which keeps the whole log or no more than is
 * unread, the SDK of the agent, which keeps nothing, and a process that only parses. Each measurement is a separate
 * process; they alternate, so that noise affects all of them.
 */
export async function library(only: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    process.stdout.write(
      'agent    turn of                   lines   parse µs   all kept µs   unread kept µs   its own SDK µs   all to SDK   unread to SDK\n',
    )
    const shapes = [2, 50, LINES].map((pieces) => () => claudeStream(pieces))
    for (const make of [...shapes, codexStream]) {
      const stream = make()
      if (only.length === 0 || only.includes(stream.agent)) measure(folder, stream)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function measure(folder: string, { agent, shape, launch, lines }: Stream): void {
  const file = join(folder, 'stream.jsonl')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const sdks = sdkFolder(agent)
  const parse: number[] = []
  const all: number[] = []
  const unread: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    parse.push(microsOf(CORE, 'parse', file, '5', '5'))
    all.push(microsOf(WORKER, 'all', agent, launch, file) / lines.length)
    unread.push(microsOf(WORKER, 'unread', agent, launch, file) / lines.length)
    if (sdks !== undefined) theirs.push(microsOf(WORKER, 'sdk', agent, launch, file, sdks) / lines.length)
  }
  const each = (micros: readonly number[]) => least(micros).toFixed(2)
  const toSdk = (ours: readonly number[]) =>
    theirs.length === 0 ? 'not run' : (least(ours) / least(theirs)).toFixed(2)
  const row = [
    agent.padEnd(8),
    shape.padEnd(22),
    String(lines.length).padStart(7),
    each(parse).padStart(10),
    each(all).padStart(13),
    each(unread).padStart(16),
    (theirs.length === 0 ? 'not run' : each(theirs)).padStart(16),
    toSdk(all).padStart(12),
    toSdk(unread).padStart(15),
  ]
  process.stdout.write(`${row.join(' ')}\n`)
}

function microsOf(...args: string[]): number {
  const { micros } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  if (typeof micros !== 'number') throw new Error('a measurement without a figure')
  return micros
}
