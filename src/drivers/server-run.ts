import type { ServerLaunch, Write } from '../agents/agent.ts'
import { type Frame, jsonFrame } from '../framing/frame.ts'
import { SseParser } from '../framing/sse.ts'
import { type ErrorInfo, MainstemError } from '../model/index.ts'
import { OutputTail } from '../model/output-tail.ts'
import type { Run, RunExit, Timers } from './driver.ts'
import { FrameQueue } from './frame-queue.ts'
import { type Call, ServerConnection } from './server-connection.ts'
import type { ServerSecret } from './server-secret.ts'

interface ServerRunSetup {
  launch: ServerLaunch
  secret: ServerSecret
  timers: Timers
  queueBytes: number
  startMs: number
  callMs: number
}

/** A server that dies breaks its connections first; so long we wait for its exit, which says more. */
const EXIT_MS = 2_000

/** After the exit, what still holds a connection open is not the server. */
const LAST_MS = 2_000

/** Calls that may wait for their turn. */
const MAX_CALLS = 1_000

/** The word where it listens is looked for at the start of a line only. */
const HEED_CHARS = 500

/** A server from the start of its process until nothing of it is left. Its events, answers and output are frames. */
export class ServerRun implements Run {
  readonly pid: number | undefined
  readonly frames: FrameQueue
  readonly exit: Promise<RunExit>
  readonly #program: Run
  readonly #setup: ServerRunSetup
  /** Nothing when the process ends before it listens. */
  readonly #port = Promise.withResolvers<number | undefined>()
  /** Settles with the greeting of the event stream, or with nothing when it never comes. */
  readonly #open = Promise.withResolvers<ServerConnection | undefined>()
  readonly #cut = new AbortController()
  /** What it printed, to explain a start that failed; the session adds its standard error. */
  readonly #printed = new OutputTail()
  #calling: Promise<void> = Promise.resolve()
  #calls = 0
  /** It was stopped, has failed or is gone: nothing more is asked of it, and nothing more can go wrong. */
  #over = false
  #error: ErrorInfo | undefined

  constructor(program: Run, setup: ServerRunSetup) {
    this.pid = program.pid
    this.#program = program
    this.#setup = setup
    this.frames = new FrameQueue(setup.queueBytes)
    // It is spoken to over HTTP alone, and some programs wait for the end of an open input.
    void program.write({ kind: 'end' })
    this.exit = this.#conclude()
  }

  /** Calls are made in the order of the writes, each after the answer to the one before it. */
  async write(write: Write): Promise<void> {
    switch (write.kind) {
      case 'http':
        return this.#inTurn(() => this.#call(write))
      case 'end':
        return this.#inTurn(() => this.stop())
      case 'text':
        throw new MainstemError(
          'unsupported_option',
          'This agent is a server and has no other input than HTTP.',
        )
    }
    write satisfies never
  }

  stop(): Promise<void> {
    this.#over = true
    return this.#program.stop()
  }

  moment(): number | undefined {
    return this.#program.moment?.()
  }

  async endTools(since: number): Promise<readonly number[]> {
    return this.#program.endTools?.(since) ?? []
  }

  async #conclude(): Promise<RunExit> {
    const reading = [this.#readOutput(), this.#readEvents(), this.#watchStart()]
    const exit = await this.#program.exit
    this.#over = true
    this.#port.resolve(undefined)
    this.#open.resolve(undefined)
    // What a dead process has left is finite.
    this.frames.widen(Number.POSITIVE_INFINITY)
    const read = Promise.all([...reading, this.#calling])
    await this.#within(LAST_MS, read)
    this.#cut.abort()
    await read
    this.frames.close()
    return { ...exit, ...(this.#error && { error: this.#error }) }
  }

  async #readOutput(): Promise<void> {
    for await (const batch of this.#program.frames) {
      const frames = batch.map((frame) => this.#setup.secret.mask(frame))
      for (const frame of frames) this.#heed(frame)
      await this.#take(frames)
    }
  }

  /** Looks for the word where it listens. */
  #heed({ stream, text }: Frame): void {
    const port = this.#setup.launch.listening.exec(text.slice(0, HEED_CHARS))?.[1]
    if (port !== undefined) this.#port.resolve(Number(port))
    if (stream === 'stdout') this.#printed.add(text)
  }

  async #readEvents(): Promise<void> {
    const port = await this.#port.promise
    if (port === undefined) return
    const { secret, launch } = this.#setup
    try {
      const connection = new ServerConnection(port, secret.auth, this.#cut.signal)
      const parser = new SseParser()
      for await (const chunk of await connection.stream(launch.events, launch.absent)) {
        const frames = parser.push(chunk).map(({ data }) => secret.mask(jsonFrame('sse', data)))
        if (frames.length > 0) this.#open.resolve(connection)
        await this.#take(frames, chunk.length)
      }
      // Nothing tells what would have come, so going on with another stream could hide what the agent did.
      throw new MainstemError('connection_failed', 'the server closed its event stream')
    } catch (thrown) {
      await this.#broke(thrown)
    }
  }

  async #watchStart(): Promise<void> {
    const { startMs, launch } = this.#setup
    const begun = this.#open.promise.then(() => true)
    if (await this.#within(startMs, begun)) return
    const { text } = this.#printed
    const printed = text === '' ? '' : `; it printed: ${text}`
    this.#fail(
      new MainstemError('timeout', `${launch.argv[0]} was not ready within ${startMs / 1000} s${printed}`),
    )
  }

  async #call(call: Call): Promise<void> {
    const connection = await this.#open.promise
    if (!connection || this.#over) return
    const { method, path, tag } = call
    try {
      const answer = await this.#within(this.#setup.callMs, connection.call(call))
      if (!answer) {
        throw new MainstemError('timeout', `${method} ${path} had no answer within ${this.#setup.callMs} ms`)
      }
      const { status, text } = answer
      // JSON stays as it was written; the rest becomes a string.
      const body = jsonFrame('http', text).value === undefined ? JSON.stringify(text) : text
      const head = JSON.stringify({ tag, status }).slice(0, -1)
      // Not held up by a slow reader: there are never more answers than calls.
      this.frames.push([this.#setup.secret.mask(jsonFrame('http', `${head},"body":${body}}`))], text.length)
    } catch (thrown) {
      await this.#broke(thrown)
    }
  }

  async #inTurn(step: () => Promise<void>): Promise<void> {
    if (this.#calls === MAX_CALLS) {
      throw new MainstemError('overloaded', `${MAX_CALLS} calls wait for the server already`)
    }
    this.#calls++
    this.#calling = this.#calling.then(step)
    await this.#calling
    this.#calls--
  }

  /** Shows frames, and waits while too many of them are unread. */
  async #take(frames: readonly Frame[], bytes = charsOf(frames)): Promise<void> {
    this.frames.push(frames, bytes)
    if (this.frames.full) await new Promise<void>((resolve) => this.frames.whenRoom(resolve))
  }

  /** A connection is lost. If the process goes as well, its exit is the whole story. */
  async #broke(thrown: unknown): Promise<void> {
    if (!(await this.#within(EXIT_MS, this.#program.exit))) this.#fail(thrown)
  }

  /** The first failure is the one to tell, and the process must not go on unseen. */
  #fail(thrown: unknown): void {
    if (this.#over) return
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#error =
      thrown instanceof MainstemError
        ? { code: thrown.code, message }
        : { code: 'connection_failed', message: `the connection to the server broke: ${message}` }
    void this.stop()
  }

  /** What is awaited, or nothing if that takes too long. */
  async #within<T>(ms: number, awaited: Promise<T>): Promise<T | undefined> {
    const over = new AbortController()
    const late = this.#setup.timers.sleep(ms, over.signal).then(() => undefined)
    try {
      return await Promise.race([awaited, late])
    } finally {
      over.abort()
    }
  }
}

function charsOf(frames: readonly Frame[]): number {
  return frames.reduce((sum, { text }) => sum + text.length, 0)
}
