import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Corpus, corpora } from './corpus.ts'
import { median } from './median.ts'

const ROUNDS = 7
const WORKER = join(import.meta.dirname, 'core-worker.ts')

interface Measured {
  cpuMicros: number
  frames: number
}

/**
 * CPU time a frame from a pipe to canonical events, beside a process that reads the same pipe and parses every
 * line. Each measurement is a process of its own; the two alternate, so that noise hits both.
 */
export async function core(only: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    process.stdout.write(
      'stream                         frames   bytes/frame   parse µs   events µs   ratio\n',
    )
    for (const corpus of corpora()) {
      if (only.length === 0 || only.includes(corpus.agent)) measure(folder, corpus)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function measure(folder: string, corpus: Corpus): void {
  const file = join(folder, 'stream.jsonl')
  writeFileSync(file, corpus.lines)
  const parse: number[] = []
  const events: number[] = []
  let frames = 0
  for (let round = 0; round < ROUNDS; round++) {
    const baseline = work('parse', corpus, file)
    const ours = work('events', corpus, file)
    if (baseline.frames !== ours.frames) throw new Error(`read ${ours.frames} frames of ${baseline.frames}`)
    frames = ours.frames
    parse.push(baseline.cpuMicros / frames)
    events.push(ours.cpuMicros / frames)
  }
  const row = [
    corpus.name.padEnd(28),
    String(frames).padStart(8),
    String(Math.round(corpus.lines.length / frames)).padStart(13),
    median(parse).toFixed(2).padStart(10),
    median(events).toFixed(2).padStart(11),
    (median(events) / median(parse)).toFixed(2).padStart(7),
  ]
  process.stdout.write(`${row.join(' ')}\n`)
}

function work(mode: 'parse' | 'events', corpus: Corpus, file: string): Measured {
  const args = [WORKER, mode, corpus.agent, corpus.launch, file]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}
