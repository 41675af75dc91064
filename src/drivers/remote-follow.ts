import type { RemoteLaunch } from '../agents/agent.ts'
import type { Timers } from './driver.ts'
import type { RemoteIntake } from './remote-intake.ts'
import { type Answer, isOk, type RemoteServer } from './remote-server.ts'
import { listen } from './remote-socket.ts'

interface FollowSetup {
  launch: RemoteLaunch
  server: RemoteServer
  session: string
  intake: RemoteIntake
  timers: Timers
  signal: AbortSignal
  /** Shows what a call was answered. */
  tell(tag: string, answer: Answer): void
}

/** Between two looks at a session that has nothing new. */
const POLL_MS = 500

const PAGE = 100

/** A socket that is silent is asked about this often: its other end may be gone without a word. */
const CHECK_MS = 10_000

/** A server that restarts is given about six seconds. */
const RETRY_MS = [200, 400, 800, 1_600, 3_200]

/** Follows one session to its end: by its socket while that holds, and by fetching what it did not bring. */
export class RemoteFollow {
  readonly #setup: FollowSetup

  constructor(setup: FollowSetup) {
    this.#setup = setup
  }

  /** Settles when the session is over, or the server refuses to tell; fails when the server is gone. */
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
      // A socket cannot be slowed down; what is fetched comes as fast as it is read.
      if (intake.full) over.abort()
    }
    const watching = this.#watch(socket, over, either)
    await listen(socket, take, either)
    over.abort()
    await watching
  }

  /** Gives the socket up when it did not open, or when its session ended and it was not told. */
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
      return this.#goesOn(await server.call({ method: 'GET', path: this.#path(launch.paths.state) }, signal))
    } catch {
      // Fetching will find out what is wrong, and says it.
      return false
    }
  }

  async #poll(): Promise<void> {
    const { launch, timers, signal, tell } = this.#setup
    while (!signal.aborted) {
      // Asked first: what was said before the session ended is then in the list for certain.
      const state = await this.#get(launch.paths.state)
      const refusal = isOk(state) ? await this.#fetchEvents() : undefined
      if (refusal) return tell('events', refusal)
      if (!this.#goesOn(state)) return tell('state', state)
      await timers.sleep(POLL_MS, signal)
    }
  }

  /** Everything that is in the list by now; an answer only if the server refused. */
  async #fetchEvents(): Promise<Answer | undefined> {
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

  #goesOn(answer: Answer): boolean {
    const { state, running } = this.#setup.launch.names
    return isOk(answer) && fieldOf(answer.body, state) === running
  }

  /** Reading changes nothing over there, so it may be tried again. */
  async #get(path: string): Promise<Answer> {
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
