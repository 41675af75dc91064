import type { Write } from '../../agents/agent.ts'
import type { Frame } from '../../framing/frame.ts'
import { frameOf } from '../../framing/large-frame.ts'
import { SseParser } from '../../framing/sse.ts'
import { type ErrorInfo, MainstemError } from '../../model/index.ts'
import { OutputTail } from '../../model/outcome/output-tail.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import type { Lasting, OutputPosition, Run, RunExit, Timers } from '../driver.ts'
import { FrameQueue } from '../process/frame-queue.ts'
import { answerFrame, type ServerAnswer, type ServerCall, ServerConnection } from './server-connection.ts'
import type { ServedLaunch, ServerFacts, ServerFolder } from './server-folder.ts'
import type { ServerSecret } from './server-secret.ts'

/** A server that outlives this process, or that an earlier process started. */
export interface LastingServer {
  folder: ServerFolder
  facts: ServerFacts
  /** How many calls it has answered. */
  calls: number
}

interface ServerRunSetup {
  launch: ServedLaunch
  lasting?: LastingServer
  secret: ServerSecret
  values: ValueSink
  /** The large values of longer events are stored as blobs. */
  maxEventBytes: number
  timers: Timers
  queueBytes: number
  startMs: number
  callMs: number
}

/**
 * A server that dies breaks its connections before its exit is reported. Waits this long for the exit, which is more
 * informative.
 */
const EXIT_MS = 2_000

/** After the exit, waits this long for connections that another process keeps open. */
const LAST_MS = 2_000

/** Waits this long before it opens the event stream again. */
const REOPEN_MS = 250

/** The event stream is opened again this often without an event. */
const MAX_REOPENED = 5

/** Maximum number of queued calls. */
const MAX_CALLS = 1_000

/** Searches only the start of a line for the listening announcement. */
const SEARCHED_CHARS = 500

/**
 * One server, from spawn until all of its processes have ended. Its events, HTTP responses and output become frames.
 */
export class ServerRun implements Run {
  readonly pid: number | undefined
  readonly frames: FrameQueue
  readonly exit: Promise<RunExit>
  readonly lasting: Lasting | undefined
  readonly #program: Run
  /** Settles before the exit of the program, which waits for the end of what it left. */
  readonly #exited: Promise<unknown>
  readonly #setup: ServerRunSetup
  /** Resolves to undefined when the process exits before it listens. */
  readonly #port = Promise.withResolvers<number | undefined>()
  /** Settles when the event stream is open; resolves to undefined when it never opens. */
  readonly #open = Promise.withResolvers<ServerConnection | undefined>()
  readonly #cut = new AbortController()
  /** Printed output, which explains a failed start; the session adds standard error. */
  readonly #printed = new OutputTail()
  #calling: Promise<void> = Promise.resolve()
  #calls = 0
  /** Calls whose response comes when the work is over. */
  readonly #long = new Set<Promise<void>>()
  /** The number of writes that were made, since the start of the server. */
  #made: number
  /** Set when the server was stopped, failed or exited: no further calls are made, no further failure is reported. */
  #over = false
  #error: ErrorInfo | undefined
  #hasOpened = false

  constructor(program: Run, setup: ServerRunSetup) {
    this.pid = program.pid
    this.#program = program
    this.#exited = program.exited ?? program.exit
    this.#setup = setup
    const { lasting } = setup
    this.#made = lasting?.calls ?? 0
    const { stdout = 0, stderr = 0 } = program.lasting?.position ?? {}
    this.frames = new FrameQueue(setup.queueBytes, { stdout, stderr, ...(lasting && { calls: this.#made }) })
    this.lasting = program.lasting && {
      position: this.frames.position,
      skip: () => this.#inTurn(async () => this.#answered([], 0)),
      release: (position) => program.lasting?.release(position),
      leave: () => this.#leave(),
    }
    if (lasting?.facts.port !== undefined) this.#port.resolve(lasting.facts.port)
    // The server is controlled over HTTP only, and some programs wait for the end of an open input.
    if (!lasting && !setup.launch.endsWithInput) void program.write({ kind: 'end' })
    this.exit = this.#conclude()
  }

  /** Makes calls one at a time, in the order of the writes. */
  async write(write: Write): Promise<void> {
    switch (write.kind) {
      case 'http':
        return this.#inTurn(() => (write.isLong ? this.#beginLong(write) : this.#call(write)))
      case 'end':
        return this.#inTurn(() => this.#end())
      case 'text':
        throw new MainstemError(
          'unsupported_option',
          'This agent is a server and accepts input over HTTP only.',
        )
    }
    write satisfies never
  }

  stop(): Promise<void> {
    this.#over = true
    return this.#program.stop()
  }

  async #end(): Promise<void> {
    if (!this.#setup.launch.endsWithInput) return this.stop()
    this.#over = true
    this.#begin()
    await this.#program.write({ kind: 'end' })
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
    // The remaining output of an exited process is finite.
    this.frames.widen(Number.POSITIVE_INFINITY)
    const read = Promise.all([...reading, this.#calling])
    await this.#within(LAST_MS, read)
    this.#cut.abort()
    await Promise.all([read, ...this.#long])
    this.frames.close()
    return { ...exit, ...(this.#error && { error: this.#error }) }
  }

  async #readOutput(): Promise<void> {
    for await (const batch of this.#program.frames) {
      const frames = batch.map((frame) => this.#setup.secret.mask(frame))
      for (const frame of frames) this.#findPort(frame)
      const { stdout, stderr } = this.#program.lasting?.position ?? {}
      const isRead = stdout !== undefined && stderr !== undefined
      await this.#take(frames, charsOf(frames), isRead ? { stdout, stderr } : undefined)
    }
  }

  /** Searches a frame for the port that the server listens on. */
  #findPort({ stream, text }: Frame): void {
    const port = this.#setup.launch.listening.exec(text.slice(0, SEARCHED_CHARS))?.[1]
    if (port !== undefined) this.#listens(Number(port))
    if (stream === 'stdout') this.#printed.add(text)
  }

  #listens(port: number): void {
    const { lasting } = this.#setup
    // Before the line is committed: the next process reads on after it.
    if (lasting) lasting.folder.keep({ ...lasting.facts, port })
    this.#port.resolve(port)
  }

  async #readEvents(): Promise<void> {
    const port = await this.#port.promise
    if (port === undefined) return
    const connection = new ServerConnection(port, this.#setup.secret.auth, this.#cut.signal)
    for (let failures = 0; ; ) {
      const { thrown, hasEvents } = await this.#follow(connection)
      failures = hasEvents ? 1 : failures + 1
      if (!this.#mayReopen(thrown, failures)) return this.#broke(thrown)
      if (await this.#within(REOPEN_MS, this.#exited)) return
    }
  }

  /** Reads one event stream until it ends. */
  async #follow(connection: ServerConnection): Promise<{ thrown: unknown; hasEvents: boolean }> {
    const { secret, launch, values, maxEventBytes } = this.#setup
    let hasEvents = false
    try {
      const parser = new SseParser()
      for await (const chunk of await connection.stream(launch.events, launch.absent)) {
        const frames: Frame[] = []
        for (const { data } of parser.push(chunk)) {
          const frame = frameOf('sse', data, values, maxEventBytes)
          frames.push(secret.mask(frame instanceof Promise ? await frame : frame))
        }
        if (frames.length > 0) this.#open.resolve(connection)
        hasEvents ||= frames.length > 0
        this.#hasOpened ||= hasEvents
        await this.#take(frames, chunk.length)
      }
      throw new MainstemError('connection_failed', 'the server closed its event stream')
    } catch (thrown) {
      return { thrown, hasEvents }
    }
  }

  /**
   * Another stream could hide actions of the agent, because the missed events are unknown: only a codec that reads the
   * state afterwards may use one. A server that is starting is asked again until its start takes too long.
   */
  #mayReopen(thrown: unknown, failures: number): boolean {
    if (this.#over) return false
    const isStarting = thrown instanceof MainstemError && thrown.code === 'overloaded'
    if (isStarting && !this.#hasOpened) return true
    return this.#setup.launch.reopens === true && this.#hasOpened && failures <= MAX_REOPENED
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

  /** Makes a call whose response comes when the work is over. It counts as made: events report the work. */
  async #beginLong(call: ServerCall): Promise<void> {
    const connection = await this.#open.promise
    if (!connection || this.#over) return
    const begun = Promise.withResolvers<void>()
    const answer = connection.call(call, () => {
      this.#begin()
      this.#answered([], 0)
      begun.resolve()
    })
    const received = this.#receive(call, answer)
      .then(({ frame, chars }) => this.frames.push([frame], chars))
      .catch((thrown) => this.#broke(thrown))
      .finally(() => this.#long.delete(received))
    this.#long.add(received)
    await Promise.race([begun.promise, received])
  }

  async #call(call: ServerCall): Promise<void> {
    const connection = await this.#open.promise
    if (!connection || this.#over) return
    try {
      const { frame, chars } = await this.#receive(call, this.#inTime(call, connection))
      // Without backpressure: there are never more responses than calls.
      this.#answered([frame], chars)
    } catch (thrown) {
      await this.#broke(thrown)
    }
  }

  async #inTime(call: ServerCall, connection: ServerConnection): Promise<ServerAnswer> {
    const answered = connection.call(call, () => this.#begin())
    const answer = await this.#within(this.#setup.callMs, answered)
    if (answer) return answer
    const { method, path } = call
    throw new MainstemError('timeout', `${method} ${path}: no response within ${this.#setup.callMs} ms`)
  }

  async #receive({ tag }: ServerCall, answered: Promise<ServerAnswer>) {
    const answer = await answered
    return { frame: this.#setup.secret.mask(answerFrame(tag, answer)), chars: answer.text.length }
  }

  /** The server may have the next call from now on. */
  #begin(): void {
    this.#setup.lasting?.folder.begin(this.#made + 1)
  }

  #answered(frames: readonly Frame[], chars: number): void {
    this.#made++
    this.frames.push(frames, chars, this.#setup.lasting && { calls: this.#made })
  }

  /** Breaks the connections. Calls without a response are in doubt. */
  async #leave(): Promise<void> {
    this.#over = true
    this.#cut.abort()
    await this.#program.lasting?.leave()
  }

  async #inTurn(step: () => Promise<void>): Promise<void> {
    if (this.#calls === MAX_CALLS) {
      throw new MainstemError('overloaded', `${MAX_CALLS} calls are already queued for the server`)
    }
    this.#calls++
    this.#calling = this.#calling.then(step)
    await this.#calling
    this.#calls--
  }

  /** Emits frames and waits while too many are unread. */
  async #take(
    frames: readonly Frame[],
    bytes = charsOf(frames),
    read?: Pick<OutputPosition, 'stdout' | 'stderr'>,
  ): Promise<void> {
    this.frames.push(frames, bytes, read)
    if (this.frames.full) await new Promise<void>((resolve) => this.frames.whenRoom(resolve))
  }

  /** A connection broke. If the process exits as well, the exit is the reported cause. */
  async #broke(thrown: unknown): Promise<void> {
    if (!(await this.#within(EXIT_MS, this.#exited))) this.#fail(thrown)
  }

  /** Reports only the first failure and terminates the process. */
  #fail(thrown: unknown): void {
    if (this.#over) return
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    this.#error =
      thrown instanceof MainstemError
        ? { code: thrown.code, message }
        : { code: 'connection_failed', message: `the connection to the server broke: ${message}` }
    void this.stop()
  }

  /** Resolves to undefined on timeout. */
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
