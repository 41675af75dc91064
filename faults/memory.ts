import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LargeLog, type LargeParts, writeLog, writeParts } from './memory/large-log.ts'
import {
  headOf,
  type Reading,
  readBlob,
  readEvents,
  readExport,
  readPages,
  readParallelPages,
  readRecords,
  readSocket,
} from './memory/readers.ts'
import { SmallServer } from './memory/small-server.ts'

// Shows the peak memory of a server with a small heap that recovers and serves logs much larger than the heap.
// Usage: npm run faults -- memory [--heap 256] [--scale 1]

const HEAP_MB = option('--heap', 256)
/** Below 1, smaller logs: for a quick look. */
const SCALE = option('--scale', 1)

const LOGS: readonly LargeLog[] = [
  {
    id: '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d01',
    entries: Math.ceil(100 * SCALE),
    size: 16 * 1024 * 1024,
    batch: 1,
  },
  {
    id: '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d02',
    entries: Math.ceil(3_000_000 * SCALE),
    size: 40,
    batch: 20_000,
  },
]

const PARTS: LargeParts = {
  id: '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d03',
  frames: Math.ceil(100 * SCALE),
  blobMb: Math.ceil(1_000 * SCALE),
  queued: Math.ceil(99 * SCALE),
}

const PART_PHASES: readonly [string, (log: Reading) => Promise<number>][] = [
  ['records', readRecords],
  ['pages with raw frames', (log) => readPages(log, '&raw=1')],
  ['one blob', readBlob],
]

const PHASES: readonly [string, (log: Reading) => Promise<number>][] = [
  ['pages', (log) => readPages(log, '&limit=1000')],
  ['ten pages at once', (log) => readParallelPages(log, 10)],
  ['export', readExport],
  ['server-sent events', readEvents],
  ['WebSocket', readSocket],
]

function option(name: string, value: number): number {
  const at = process.argv.indexOf(name)
  return at < 0 ? value : Number(process.argv[at + 1])
}

/** In a process apart, so that the memory for writing is not that of the reader. */
async function write(home: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, '--write', home, '--scale', String(SCALE)], {
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`writing the logs failed with ${code}`)
}

async function timed<T>(work: () => Promise<T>): Promise<[T, string]> {
  const start = performance.now()
  const result = await work()
  return [result, `${((performance.now() - start) / 1000).toFixed(1)} s`]
}

async function measure(home: string): Promise<void> {
  console.log(
    `heap ${HEAP_MB} MB; ${LOGS.map(({ entries, size }) => `${entries} entries of ${size} characters`)}`,
  )
  const [server, took] = await timed(() => SmallServer.start(home, HEAP_MB))
  await using running = server
  console.log(`recovery: ${took}, peak ${running.peakMb} MB`)
  for (const { id, entries } of LOGS) {
    const head = await headOf(running.url, id)
    if (head !== entries + 2) throw new Error(`log ${id} ends at ${head}, not with the end of its turn`)
    await play(running, { url: running.url, id, head }, PHASES)
  }
  const { id, frames, blobMb, queued } = PARTS
  console.log(`${frames} raw frames of 8 MiB, a blob of ${blobMb} MB, ${queued} queued images of 4 MiB`)
  await play(running, { url: running.url, id, head: await headOf(running.url, id) }, PART_PHASES)
}

async function play(server: SmallServer, log: Reading, phases: typeof PHASES): Promise<void> {
  for (const [name, read] of phases) {
    server.resetPeak()
    const [count, took] = await timed(() => read(log))
    console.log(`${log.head} entries, ${name}: ${count} read in ${took}, peak ${server.peakMb} MB`)
  }
}

const target = process.argv.indexOf('--write')
if (target >= 0) {
  for (const log of LOGS) await writeLog(process.argv[target + 1] ?? '', log)
  await writeParts(process.argv[target + 1] ?? '', PARTS)
} else {
  const home = mkdtempSync(join(tmpdir(), 'memory-'))
  try {
    const [, took] = await timed(() => write(home))
    console.log(`written in ${took}`)
    await measure(home)
  } finally {
    rmSync(home, { recursive: true, maxRetries: 3 })
  }
}
