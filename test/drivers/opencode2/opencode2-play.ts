import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Wired, wire } from '../../../src/compose/wire.ts'
import type { AnswerCommand, Event, EventType } from '../../../src/model/index.ts'
import type { NewSession } from '../../../src/model/session/new-session.ts'
import type { Session } from '../../../src/sessions/session.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SERVER = join(ROOT, 'test/fake-agents/opencode2.mjs')
const RECORDINGS = join(ROOT, 'src/agents/opencode/fixtures/opencode2')

export interface NativeCall {
  method: string
  path: string
  body: Record<string, unknown>
}

type Of<T extends EventType> = Extract<Event, { type: T }>

/** The folder of a program called `opencode` that is version 2, and what it was sent. */
export class Opencode2 {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'opencode2-')))
  readonly program = join(this.folder, 'opencode')
  readonly #log = join(this.folder, 'calls.jsonl')
  readonly env: Record<string, string>

  constructor(mode = '', version = '2.0.17') {
    writeFileSync(this.program, `#!/bin/sh\nexec "${process.execPath}" "${SERVER}" "$@"\n`)
    chmodSync(this.program, 0o755)
    this.env = {
      OPENCODE_2_RECORDINGS: RECORDINGS,
      OPENCODE_2_LOG: this.#log,
      OPENCODE_2_STATE: join(this.folder, 'sessions.json'),
      OPENCODE_2_MODE: mode,
      OPENCODE_2_VERSION: version,
    }
  }

  get settings() {
    return { opencode: { command: [this.program] as const, env: this.env } }
  }

  /** What the server was asked for, without the reads. */
  calls(pattern = /./): NativeCall[] {
    const lines = existsSync(this.#log) ? readFileSync(this.#log, 'utf8').trim().split('\n') : []
    return lines
      .filter(Boolean)
      .map((line): NativeCall => JSON.parse(line))
      .filter(({ method, path }) => pattern.test(`${method} ${path}`))
  }
}

/** One session of `opencode`, whose program is version 2. */
export class Play implements AsyncDisposable {
  readonly opencode: Opencode2
  readonly wired: Wired
  readonly #session: Promise<Session>
  #cursor = 0

  constructor(request: Partial<NewSession> = {}, opencode = new Opencode2()) {
    this.opencode = opencode
    this.wired = wire({ settings: opencode.settings })
    this.#session = this.wired.sessions.create({ agent: 'opencode', cwd: opencode.folder, ...request })
  }

  get session(): Promise<Session> {
    return this.#session
  }

  async prompt(text: string): Promise<number> {
    return (await this.#session).prompt(text)
  }

  /** The next event of a type, once it is there. */
  async next<T extends EventType>(type: T): Promise<Of<T>> {
    const { id } = await this.#session
    const isOne = (event: Event): event is Of<T> => event.type === type
    for await (const batch of this.wired.sessions.follow(id, this.#cursor, new AbortController().signal)) {
      for (const { seq, event } of batch) {
        this.#cursor = seq
        if (isOne(event)) return event
      }
    }
    throw new Error(`the session ended without ${type}`)
  }

  /** The next line of the server that matches. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec((await this.next('output.written')).line)
      if (found) return found
    }
  }

  /** The process of the server, which prints its id after its address. */
  async pid(): Promise<number> {
    return Number((await this.line(/^fake opencode (\d+)$/))[1])
  }

  async answer(answer: Omit<AnswerCommand, 'type' | 'requestId'>): Promise<void> {
    const { requestId, inputDigest } = await this.next('request.opened')
    await (await this.#session).answer({ type: 'answer', requestId, inputDigest, ...answer })
  }

  /** Ends the session and returns everything that it logged. */
  async end(): Promise<Event[]> {
    const { id } = await this.#session
    await this.wired.sessions.end(id)
    const batches = await Array.fromAsync(this.wired.sessions.follow(id, 0, new AbortController().signal))
    return batches.flat().map(({ event }) => event)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.wired[Symbol.asyncDispose]()
  }
}
