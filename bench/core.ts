import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Corpus, corpora, RECORDED } from './corpus.ts'
import { least } from './least.ts'
import type { ScenePlan } from './play.ts'

const ROUNDS = 5
const FRAMES = 2_000_000
const MOST_BYTES = 1024 * 1024 * 1024
/** The share of frames that are played first and not measured. */
const WARM_UP = 1 / 2
const WORKER = join(import.meta.dirname, 'core-worker.ts')

interface Measured {
  /** Of processor time, a frame. */
  micros: number
  frames: number
}

/**
 * CPU time a frame from a pipe to canonical events, beside a process that reads the same pipe and parses every
 * line. Each measurement is a separate process; the two alternate, so that noise affects both.
 */
export async function core(only: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    process.stdout.write(
      'stream                         frames   bytes/frame   parse µs   events µs   ratio\n',
    )
    for (const corpus of corpora()) {
      if (isMeant(corpus, only)) measure(folder, corpus)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** By words of their names; those as recorded, which are mostly handshakes, only when that is asked for. */
function isMeant({ name }: Corpus, only: readonly string[]): boolean {
  const words = only.filter((word) => word !== RECORDED)
  const isNamed = words.length === 0 || words.some((word) => name.includes(word))
  return isNamed && name.endsWith(RECORDED) === only.includes(RECORDED)
}

function measure(folder: string, corpus: Corpus): void {
  const file = join(folder, 'stream.jsonl')
  const plan = join(folder, 'plan.json')
  const { bytes, times } = write(file, corpus)
  const plans: ScenePlan[] = corpus.scenes.map(({ lines, told }) => ({ lines: lines.length, told }))
  writeFileSync(plan, JSON.stringify(plans))
  const parse: number[] = []
  const events: number[] = []
  let frames = 0
  for (let round = 0; round < ROUNDS; round++) {
    const baseline = work('parse', file, times)
    const ours = work('events', file, times, corpus.agent, corpus.launch, plan)
    if (baseline.frames !== ours.frames) throw new Error(`read ${ours.frames} frames of ${baseline.frames}`)
    frames = ours.frames
    parse.push(baseline.micros)
    events.push(ours.micros)
  }
  const row = [
    corpus.name.padEnd(28),
    String(frames).padStart(8),
    String(Math.round(bytes / frames)).padStart(13),
    least(parse).toFixed(2).padStart(10),
    least(events).toFixed(2).padStart(11),
    (least(events) / least(parse)).toFixed(2).padStart(7),
  ]
  process.stdout.write(`${row.join(' ')}\n`)
}

/** All scenes once; both sides are given this file over and over again. */
function write(path: string, { scenes }: Corpus): { bytes: number; times: number } {
  const lines = scenes.flatMap((scene) => scene.lines)
  const block = Buffer.from(`${lines.join('\n')}\n`)
  const times = Math.ceil(Math.min(FRAMES / lines.length, MOST_BYTES / block.length))
  writeFileSync(path, block)
  return { bytes: times * block.length, times }
}

function work(mode: string, file: string, times: number, ...more: string[]): Measured {
  const warmUp = Math.ceil(times * WARM_UP)
  const args = [WORKER, mode, file, String(times), String(warmUp), ...more]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}
