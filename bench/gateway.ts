import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idle } from './gateway-idle.ts'
import type { Measured, Task } from './gateway-worker.ts'
import { claudeStream } from './library-streams.ts'
import { median } from './median.ts'
import type { Task as StoreTask } from './store-worker.ts'

const ROUNDS = 3
const LINES = 150_000
/** Every one of them is sent to every reader. */
const LINES_TO_MANY = 15_000
const FILLED = 1_000_000
const RATE = 1_000
const MANY_READERS = 100
const worker = (name: string) => join(import.meta.dirname, `${name}-worker.ts`)
/** The pieces of a message. */
const DELTAS = 50

/**
 * A server on a filled store, beside loops that decode and store nothing. L3 reads the pipe and parses, L4 also
 * serialises and sends. All alternate in one run, each in a separate process.
 */
export async function gateway(only: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    const isMeant = (part: string) => only.length === 0 || only.includes(part)
    const bench = new Bench(folder)
    bench.fill()
    if (isMeant('burst')) bench.burst()
    if (isMeant('many')) bench.many()
    if (isMeant('latency')) bench.latency()
    if (isMeant('sessions')) bench.sessions()
    if (isMeant('replay')) bench.replay()
    if (isMeant('memory')) await bench.memory()
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
}

class Bench {
  readonly #data: string
  readonly #stream: string
  readonly #warmUp: string
  readonly #short: string
  #last = ''

  constructor(folder: string) {
    this.#data = join(folder, 'data')
    this.#stream = join(folder, 'stream.jsonl')
    mkdirSync(this.#data)
    this.#warmUp = join(folder, 'warm-up.jsonl')
    this.#short = join(folder, 'short.jsonl')
    const warmUp = streamLines(LINES).join('\n')
    writeFileSync(this.#warmUp, `${warmUp.replaceAll(/"(msg|call)_/g, '"$1_first_')}\n`)
    writeFileSync(this.#stream, `${streamLines(LINES).join('\n')}\n`)
    writeFileSync(this.#short, `${streamLines(LINES_TO_MANY).join('\n')}\n`)
  }

  fill(): void {
    const directory = join(this.#data, 'log')
    const task: Partial<StoreTask> = { mode: 'append', durability: 'process', journal: false, sessions: 500 }
    run(worker('store'), JSON.stringify({ ...task, directory, batch: 8, events: FILLED }))
    print(`a store with ${FILLED} entries; ${LINES} lines a burst, medians of ${ROUNDS} rounds`)
  }

  burst(): void {
    const figures = { L3: [] as number[], L4: [] as number[], plain: [] as number[], journal: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      figures.L3.push(JSON.parse(run(worker('core'), 'parse', this.#stream)).micros)
      figures.L4.push(this.#measure({ mode: 'L4', warmUp: this.#warmUp }).cpuMicros / LINES)
      figures.plain.push(
        this.#measure({ mode: 'gateway', warmUp: this.#warmUp, journal: false }).cpuMicros / LINES,
      )
      figures.journal.push(this.#measure({ mode: 'gateway', warmUp: this.#warmUp }).cpuMicros / LINES)
    }
    const [L3, L4] = [median(figures.L3), median(figures.L4)]
    print(`CPU a line, one reader: L3 ${L3.toFixed(2)} µs, L4 ${L4.toFixed(2)} µs`)
    for (const [name, cpu] of [
      ['durable, no journal', median(figures.plain)],
      ['durable, journal', median(figures.journal)],
    ] as const) {
      print(
        `  ${name.padEnd(36)} ${cpu.toFixed(2)} µs  ${(cpu / L3).toFixed(2)} × L3  ${(cpu / L4).toFixed(2)} × L4`,
      )
    }
  }

  many(): void {
    const task = { stream: this.#short, readers: MANY_READERS }
    const L4: number[] = []
    const ours: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      L4.push(this.#measure({ mode: 'L4', ...task }).cpuMicros / LINES_TO_MANY)
      ours.push(this.#measure({ mode: 'gateway', rate: 0, ...task }).cpuMicros / LINES_TO_MANY)
    }
    const [loop, cpu] = [median(L4), median(ours)]
    const each = (micros: number) =>
      `${micros.toFixed(1)} µs, ${(micros / MANY_READERS).toFixed(2)} µs a delivery`
    print(`CPU a line, ${MANY_READERS} readers: L4 that parses once ${each(loop)}`)
    print(`  ${'durable, journal'.padEnd(36)} ${each(cpu)}  ${(cpu / loop).toFixed(2)} × L4`)
  }

  latency(): void {
    const figures = (durability: Task['durability']) => {
      const rounds = Array.from({ length: ROUNDS }, () =>
        this.#measure({ mode: 'gateway', journal: true, rate: RATE, durability }),
      )
      return { p50: median(rounds.map(({ p50 }) => p50)), p99: median(rounds.map(({ p99 }) => p99)) }
    }
    const [without, durable] = [figures('none'), figures('power')]
    print(`from the agent to the reader at ${RATE} events/s, p50 / p99 ms:`)
    for (const [name, { p50, p99 }] of Object.entries({ 'no log': without, durable })) {
      print(`  ${name.padEnd(36)} ${p50.toFixed(2)} / ${p99.toFixed(2)}`)
    }
    print(
      `  ${'added'.padEnd(36)} ${(durable.p50 - without.p50).toFixed(2)} / ${(durable.p99 - without.p99).toFixed(2)}`,
    )
  }

  sessions(): void {
    const { events, seconds, cpuMicros, ack, loop } = JSON.parse(
      run(worker('gateway-paced'), join(this.#data, 'log')),
    )
    const pair = ([p50, p99]: number[]) => `${p50?.toFixed(1)} / ${p99?.toFixed(1)} ms`
    print(
      `500 sessions × 20 events/s, ${Math.round(events / seconds)} events/s, ${(cpuMicros / events).toFixed(1)} µs an event`,
    )
    print(`  to the acknowledgement ${pair(ack)}, event loop delay ${pair(loop)} (p50 / p99)`)
  }

  replay(): void {
    if (this.#last === '') this.#measure({ mode: 'gateway' })
    const rate = ({ seconds }: Measured) => LINES / seconds
    const bare: number[] = []
    const ours: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(rate(this.#measure({ mode: 'bare-replay' })))
      ours.push(rate(this.#measure({ mode: 'replay', stream: this.#last })))
    }
    const [sent, replayed] = [median(bare), median(ours)]
    print(
      `replay over SSE ${kilo(replayed)} entries/s, bare loop that sends a file ${kilo(sent)}, ${(replayed / sent).toFixed(2)} of it`,
    )
    print('replay from the store: npm run bench -- store replay')
  }

  async memory(): Promise<void> {
    const { bytes } = this.#measure({ mode: 'rest', data: join(this.#data, 'rest') }, ['--expose-gc'])
    const { ownBytes, programBytes } = await idle(join(this.#data, 'idle'))
    const mega = (count: number) => (count / 1e6).toFixed(0)
    print(
      `idle server ${mega(ownBytes + programBytes)} MB: ${mega(ownBytes)} of its own, ${mega(programBytes)} of Node's program file`,
    )
    print(`a session at rest ${(bytes / 1e3).toFixed(1)} kB`)
  }

  #measure(task: Partial<Task>, flags: readonly string[] = []): Measured {
    const base: Omit<Task, 'mode'> = {
      data: this.#data,
      stream: this.#stream,
      warmUp: '',
      readers: 1,
      journal: true,
      durability: 'power',
      rate: 0,
    }
    const measured: Measured = JSON.parse(
      run(...flags, worker('gateway'), JSON.stringify({ ...base, ...task })),
    )
    if (task.mode === 'gateway' && task.rate === undefined && !task.warmUp) this.#last = measured.session
    return measured
  }
}

/** Messages as agents have them, with tool calls, for about so many lines. */
const streamLines = (length: number) => claudeStream(DELTAS, length).lines

function run(...args: string[]): string {
  return execFileSync(process.execPath, args, { encoding: 'utf8' })
}

function kilo(value: number): string {
  return `${Math.round(value / 1000)}k`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
