import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What a fake agent notes about its own work, before the same thing leaves the process. A prompt is known by the
 * first word of its text (`name`), a permission request by the command that it is for (`call`).
 */
export type Note =
  | { type: 'started'; agent: string; launch: string; session: string; epoch: number }
  | { type: 'alive'; owner: string; at: number }
  | { type: 'line'; text: string }
  | { type: 'prompt'; name: string; text: string }
  | { type: 'wrote'; name: string; text: string }
  | { type: 'asked'; name: string; call: string }
  | { type: 'answered'; call: string; decision: 'allow' | 'deny' | 'cancelled' }
  | { type: 'ran'; call: string }
  | { type: 'interrupted'; name: string | undefined }
  | { type: 'ended'; name: string; how: Ending }

export type Ending = 'done' | 'interrupted'

/** The notes of one process, in order. */
export interface AgentHistory {
  process: string
  notes: readonly Note[]
}

const ALIVE_MS = 100

/** Writes a process's notes. Each write is synchronous, so a SIGKILL after it cannot lose the note. */
export class History {
  readonly #file: string

  constructor(directory: string) {
    this.#file = join(directory, `${process.pid}-${Date.now()}.jsonl`)
  }

  /** Notes again and again that the process is alive, so that its end is known although it cannot note that. */
  noteLife(owner: string): void {
    this.add({ type: 'alive', owner, at: performance.timeOrigin })
    setInterval(() => this.add({ type: 'alive', owner, at: Date.now() }), ALIVE_MS).unref()
  }

  add(note: Note): void {
    appendFileSync(this.#file, `${JSON.stringify(note)}\n`)
  }
}

/** All histories in a directory; those of a session in the order of its processes. A note that a SIGKILL cut in half is left out. */
export function readHistories(directory: string): AgentHistory[] {
  return readdirSync(directory)
    .map((name): AgentHistory => {
      const lines = readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1)
      return { process: name.replace('.jsonl', ''), notes: lines.map((line): Note => JSON.parse(line)) }
    })
    .toSorted((a, b) => epochOf(a) - epochOf(b))
}

function epochOf({ notes: [first] }: AgentHistory): number {
  return first?.type === 'started' ? first.epoch : 0
}
