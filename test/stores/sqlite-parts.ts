import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Entry } from '../../src/model/index.ts'
import type { JournalFrame, SessionState, Store } from '../../src/stores/store.ts'

export const newDirectory = () => mkdtempSync(join(tmpdir(), 'mainstem-store-'))

/** The database behind the store's back. */
export const database = (directory: string) => new DatabaseSync(join(directory, 'mainstem.db'))

export const sessionId = (index: number) => `6b0a0a3e-6a50-4a6e-9f6c-${String(index).padStart(12, '0')}`

/** What the process that is killed writes: sessions that go on and on, and above these ever new ones. */
export const WRITTEN = 6
export const CREATED = 1000

/** What nobody could confuse: each text tells its session and place, and some are odd or long. */
export function line(session: string, seq: number): string {
  const odd = seq % 7 === 0 ? '\0\u2028\ud800"\\\r\n\u{1F680}é' : ''
  return `${session} ${seq} ${odd}${'x'.repeat((seq * 37) % 500)}`
}

export function entry(session: string, seq: number): Entry {
  return {
    seq,
    session,
    at: seq,
    event: { type: 'output.written', stream: 'stdout', line: line(session, seq) },
  }
}

export function entries(session: string, first: number, last: number): Entry[] {
  return Array.from({ length: last - first + 1 }, (_, index) => entry(session, first + index))
}

export function frames(session: string, first: number, last: number): JournalFrame[] {
  return entries(session, first, last).map(({ seq }) => ({
    frame: seq,
    stream: 'stdout',
    text: line(session, seq),
  }))
}

export function state(id: string, more: Partial<SessionState> = {}): SessionState {
  return {
    id,
    principal: 'local',
    agent: 'echo',
    launch: 'live',
    cwd: '/',
    policy: { approval: 'ask', sandbox: 'none' },
    options: {},
    attended: true,
    status: 'idle',
    createdAt: 0,
    turns: 0,
    queue: [],
    requests: [],
    usage: {},
    frames: 0,
    epoch: 0,
    ...more,
  }
}

export async function readAll(store: Store, session: string, limit = 512): Promise<Entry[]> {
  const found: Entry[] = []
  for (;;) {
    const read = await store.read(session, found.length, limit)
    if (read.length === 0) return found
    found.push(...read)
  }
}

export interface Child {
  process: ChildProcess & { stdout: Readable }
  /** Complete lines of standard output. */
  lines: AsyncIterableIterator<string>
  exited: Promise<void>
}

/** A process of its own that works on a store; what it does is in `sqlite-child.ts`. */
export function startChild(role: string, directory: string, command: readonly string[] = []): Child {
  const script = fileURLToPath(new URL('./sqlite-child.ts', import.meta.url))
  const argv = [...command, process.execPath, script, role, directory]
  const [program = '', ...args] = argv
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return { process: child, lines: linesOf(child.stdout), exited }
}

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
}

export async function nextLine({ lines }: Child): Promise<string> {
  const { value } = await lines.next()
  return value ?? ''
}
