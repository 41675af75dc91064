import type { RemoteLaunch, Write } from '../../agents/agent.ts'
import { jsonFrame } from '../../framing/frame.ts'
import { type ErrorCode, MainstemError, OUTSIDE_ID } from '../../model/index.ts'
import type { ValueSink } from '../../model/text/large-value.ts'
import type { Run, RunExit, Timers } from '../driver.ts'
import { FrameQueue } from '../process/frame-queue.ts'
import { fieldOf, RemoteFollow } from './remote-follow.ts'
import { RemoteIntake } from './remote-intake.ts'
import { isOk, type RemoteAnswer, type RemoteServer } from './remote-server.ts'

interface RemoteRunSetup {
  launch: RemoteLaunch
  server: RemoteServer
  /** Fields of the opening call's body that come from the configuration. */
  fields: Readonly<Record<string, string>>
  timers: Timers
  values: ValueSink
  queueBytes: number
  maxEventBytes: number
}

type HttpWrite = Extract<Write, { kind: 'http' }>

/** How long the server may take to end a stopped session. */
const STOP_MS = 5_000

/** One session on a remote server, from the call that opens it until its state is terminal. */
export class RemoteRun implements Run {
  readonly pid = undefined
  readonly frames: FrameQueue
  readonly exit: Promise<RunExit>
  readonly #setup: RemoteRunSetup
  readonly #exited = Promise.withResolvers<RunExit>()
  readonly #over = new AbortController()
  #opening: Promise<void> | undefined
  #session: string | undefined
  #stopping: Promise<void> | undefined

  constructor(setup: RemoteRunSetup) {
    this.#setup = setup
    this.frames = new FrameQueue(setup.queueBytes)
    this.exit = this.#exited.promise
  }

  /** Settles when the call was answered or can no longer be answered. */
  async write(write: Write): Promise<void> {
    switch (write.kind) {
      case 'text':
        throw new MainstemError('unsupported_option', 'This agent is a server and takes no text.')
      case 'end':
        // A session that was opened ends by itself.
        if (!this.#opening) this.#finish({ code: 0 })
        return
      case 'http':
        if (write.tag !== this.#setup.launch.opening.tag) return this.#call(write)
        this.#opening ??= this.#open(write)
        return this.#opening
    }
    write satisfies never
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #open(write: HttpWrite): Promise<void> {
    const { server, launch, fields } = this.#setup
    const body = { ...(typeof write.body === 'object' && write.body), ...fields }
    try {
      // Never retried: the session may have started even though the response was lost.
      const answer = await server.call({ ...write, body }, this.#over.signal)
      this.#emitResponse(launch.opening.tag, answer)
      const id = fieldOf(answer.body, launch.names.id)
      if (!isOk(answer) || typeof id !== 'string' || !OUTSIDE_ID.test(id)) return this.#finish({ code: 0 })
      this.#session = id
      void this.#follow(id)
    } catch (thrown) {
      this.#fail('connection_failed', thrown)
    }
  }

  async #follow(session: string): Promise<void> {
    const { launch, server, timers, values, maxEventBytes } = this.#setup
    const intake = new RemoteIntake({
      queue: this.frames,
      values,
      maxEventBytes,
      idField: launch.names.id,
      idPrefix: launch.idPrefix,
      fail: (thrown) => this.#fail('storage_failed', thrown),
    })
    const { signal } = this.#over
    const emitResponse = (tag: string, answer: RemoteAnswer) => this.#emitResponse(tag, answer)
    try {
      await new RemoteFollow({ launch, server, session, intake, timers, signal, emitResponse }).run()
      this.#finish({ code: 0 })
    } catch (thrown) {
      this.#fail('connection_failed', thrown)
    }
  }

  /** A failed call does not end the run: the followed session reports its own state. */
  async #call(write: HttpWrite): Promise<void> {
    const { tag = '' } = write
    try {
      this.#emitResponse(tag, await this.#setup.server.call(write, this.#over.signal))
    } catch (thrown) {
      this.#emitResponse(tag, { status: 0, body: { message: messageOf(thrown) } })
    }
  }

  #emitResponse(tag: string, { status, body }: RemoteAnswer): void {
    if (this.#over.signal.aborted) return
    const text = JSON.stringify({ tag, status, body })
    this.frames.push([jsonFrame('http', text)], text.length)
  }

  /** Cancels the session on the server and waits for its end; cuts the connection then, or after a timeout. */
  async #stop(): Promise<void> {
    const done = new AbortController()
    const deadline = this.#setup.timers.sleep(STOP_MS, done.signal)
    await Promise.race([this.#cancel(done.signal), deadline])
    const message = `session ${this.#session ?? '(not known yet)'} may still be running: its end was not confirmed`
    this.#finish(this.#opening ? { error: { code: 'connection_failed', message } } : {})
    done.abort()
    await deadline
  }

  /** Settles when the session has ended, or when there is no session to cancel. */
  async #cancel(signal: AbortSignal): Promise<void> {
    await this.#opening
    const { server, launch } = this.#setup
    if (this.#session === undefined || this.#over.signal.aborted) return
    try {
      const path = launch.paths.cancel.replace('{id}', this.#session)
      await server.call({ method: 'POST', path }, signal)
    } catch {
      // The exit reports that the end was not confirmed.
      return
    }
    await this.exit
  }

  #fail(code: ErrorCode, thrown: unknown): void {
    const error = thrown instanceof MainstemError ? thrown.code : code
    this.#finish({ error: { code: error, message: messageOf(thrown) } })
  }

  /** Only the first end counts. */
  #finish(exit: RunExit): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.frames.close()
    this.#exited.resolve(exit)
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
