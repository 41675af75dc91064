import type { RemoteLaunch } from '../../agents/agent.ts'
import type { Timers } from '../driver.ts'
import type { RemoteIntake } from './remote-intake.ts'
import { isOk, type RemoteAnswer, type RemoteServer } from './remote-server.ts'
import { listen } from './remote-socket.ts'

interface FollowSetup {
  launch: RemoteLaunch
  server: RemoteServer
  session: string
  intake: RemoteIntake
  timers: Timers
  signal: AbortSignal
  /** Emits the response to a call. */
  emitResponse(tag: string, answer: RemoteAnswer): void
}

/** Delay between two polls of a session without new events. */
const POLL_MS = 500

const PAGE = 100

/** Interval for checking a silent socket, because its peer may be gone without a close. */
const CHECK_MS = 10_000

/** Backoff that gives a restarting server about six seconds. */
const RETRY_MS = [200, 400, 800, 1_600, 3_200]

/**
 * Follows one session to its end: over its socket while that is open, and by fetching the events that the socket did
 * not deliver.
 */
export class RemoteFollow {
  readonly #setup: FollowSetup

  constructor(setup: FollowSetup) {
    this.#setup = setup
  }

  /** Settles when the session has ended or the server refuses access; rejects when the server is unreachable. */
  async run(): Promise<void> {
    const { socket } = this.#setup.launch.paths
    if (socket !== undefined) await this.#listen(this.#path(socket))
    await this.#poll()
  }

  async #listen(path: string): Promise<void> {
    const { server, intake, signal } = this.#setup
    const over = new AbortController()
    const either = AbortSignal.any([signal, over.signal])
    const socket = server.socket(path)
    const take = (message: string) => {
      intake.takeMessage(message)
      // A socket has no backpressure; fetching events does.
      if (intake.full) over.abort()
    }
    const watching = this.#watch(socket, over, either)
    await listen(socket, take, either)
    over.abort()
    await watching
  }

  /** Closes the socket if it does not open, or if its session ended without an event that reports it. */
  async #watch(socket: WebSocket, over: AbortController, signal: AbortSignal): Promise<void> {
    const { timers } = this.#setup
    for (;;) {
      await timers.sleep(CHECK_MS, signal)
      if (signal.aborted) return
      if (socket.readyState !== WebSocket.OPEN || !(await this.#isRunning(signal))) over.abort()
    }
  }

  async #isRunning(signal: AbortSignal): Promise<boolean> {
    const { server, launch } = this.#setup
    try {
      return this.#isActive(
        await server.call({ method: 'GET', path: this.#path(launch.paths.state) }, signal),
      )
    } catch {
      // The fetch that follows finds and reports the cause.
      return false
    }
  }

  async #poll(): Promise<void> {
    const { launch, timers, signal, emitResponse } = this.#setup
    while (!signal.aborted) {
      // Reads the state first: every event before the end of the session is then certainly in the list.
      const state = await this.#get(launch.paths.state)
      const refusal = isOk(state) ? await this.#fetchEvents() : undefined
      if (refusal) return emitResponse('events', refusal)
      if (!this.#isActive(state)) return emitResponse('state', state)
      await timers.sleep(POLL_MS, signal)
    }
  }

  /** Fetches all events in the list; returns the response only if the server refused. */
  async #fetchEvents(): Promise<RemoteAnswer | undefined> {
    const { launch, intake, signal } = this.#setup
    for (;;) {
      await intake.room(signal)
      const answer = await this.#get(`${launch.paths.events}?offset=${intake.offset}&limit=${PAGE}`)
      if (!isOk(answer)) return answer
      if (!intake.takePage(this.#pageOf(answer.body))) return undefined
    }
  }

  #pageOf(body: unknown): readonly unknown[] {
    const page = Array.isArray(body) ? body : fieldOf(body, this.#setup.launch.names.events)
    return Array.isArray(page) ? page : []
  }

  #isActive(answer: RemoteAnswer): boolean {
    const { state, running } = this.#setup.launch.names
    return isOk(answer) && fieldOf(answer.body, state) === running
  }

  /** Retried, because GET requests have no side effects. */
  async #get(path: string): Promise<RemoteAnswer> {
    const { server, timers, signal } = this.#setup
    const call = { method: 'GET', path: this.#path(path) }
    for (const pauseMs of RETRY_MS) {
      try {
        const answer = await server.call(call, signal)
        if (answer.status < 500 && answer.status !== 429) return answer
      } catch (thrown) {
        if (signal.aborted) throw thrown
      }
      await timers.sleep(pauseMs, signal)
    }
    return server.call(call, signal)
  }

  #path(template: string): string {
    return template.replace('{id}', this.#setup.session)
  }
}

export function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
}
