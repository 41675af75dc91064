import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEvent, Cursor, Delivery, Timers, Transport } from '../../src/client/index.ts'
import { StdioTransport } from '../../src/client/stdio/index.ts'
import { MainstemError } from '../../src/model/index.ts'
import { MAIN } from '../built-program.ts'
import { type TestGateway, TOKEN } from '../gateway/start.ts'

/** Pauses are over at once; only the wait for a silent connection, which is long, never ends by itself. */
export const quick: Timers = {
  sleep: (ms, signal) =>
    ms < 20_000 || signal.aborted
      ? Promise.resolve()
      : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
}

export async function collect<Item>(source: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of source) items.push(item)
  return items
}

const STAMP = { sessionId: '11111111-1111-4111-8111-111111111111', timestamp: '2026-01-01T00:00:00.000Z' }

/** So many chunks of text, numbered, and the end. */
export function chunks(count: number): AgentEvent[] {
  const texts = Array.from({ length: count }, (_, index): AgentEvent => {
    return {
      id: `evt_${index + 1}`,
      ...STAMP,
      type: 'textChunk',
      content: `${index + 1} `,
      isComplete: false,
    }
  })
  return [...texts, { id: `evt_${count + 1}`, ...STAMP, type: 'sessionEnded', reason: 'completed' }]
}

export const lines = (events: readonly AgentEvent[]): string[] => events.map((event) => JSON.stringify(event))

/** A transport whose connections break in the middle, after as many messages as it is told. */
export function breaking(transport: Transport, breaks: readonly number[]): Transport & { left: number } {
  const remaining = [...breaks]
  async function* connect(session: string, from: Cursor, signal: AbortSignal) {
    const cut = new AbortController()
    let left = remaining.shift() ?? Number.POSITIVE_INFINITY
    const whole = transport.connect(session, from, AbortSignal.any([signal, cut.signal]))
    try {
      for await (const batch of whole) {
        const rest: readonly Delivery[] = batch.slice(0, left)
        if (rest.length > 0) yield rest
        left -= batch.length
        if (left <= 0) throw new MainstemError('connection_failed', 'cut off')
      }
    } finally {
      cut.abort()
    }
  }
  return {
    create: (...args) => transport.create(...args),
    answer: (...args) => transport.answer(...args),
    list: (...args) => transport.list(...args),
    state: (...args) => transport.state(...args),
    cancel: (...args) => transport.cancel(...args),
    count: (...args) => transport.count(...args),
    connect,
    get left() {
      return remaining.length
    },
  }
}

/** The command that passes calls to this server, with the token of its owner in the environment. */
export class StdioScene implements AsyncDisposable {
  readonly transport: StdioTransport
  readonly #data = mkdtempSync(join(tmpdir(), 'stdio-'))
  readonly #pids = join(this.#data, 'pids')

  constructor(server: TestGateway) {
    const args = [MAIN, 'stdio', '--url', server.url, '--data', this.#data]
    // A shell that writes down its pid and then becomes the command.
    const shell = [
      '-c',
      `echo $$ >> ${this.#pids}; export MAINSTEM_TOKEN=${TOKEN}; exec "$0" "$@"`,
      process.execPath,
    ]
    this.transport = new StdioTransport({ command: 'sh', args: [...shell, ...args] })
  }

  /** The processes that were started so far, the last of which runs. */
  get pids(): number[] {
    return readFileSync(this.#pids, 'utf8').trim().split('\n').map(Number)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.transport[Symbol.asyncDispose]()
    rmSync(this.#data, { recursive: true })
  }
}
