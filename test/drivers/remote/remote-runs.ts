import { expect, vi } from 'vitest'
import type { RemoteLaunch } from '../../../src/agents/agent.ts'
import type { Run, RunContext, Timers } from '../../../src/drivers/driver.ts'
import { type RemoteDriverOptions, remoteDriver } from '../../../src/drivers/remote.ts'
import type { Frame } from '../../../src/framing/frame.ts'
import { contextOf } from '../fake-run.ts'

export const TOKEN = 'a-very-secret-token'

export const LAUNCH: RemoteLaunch = {
  kind: 'remote',
  variables: { url: 'SERVER_URL', token: 'SERVER_TOKEN' },
  opening: { tag: 'prompt', fields: { agentId: 'SERVER_AGENT' } },
  paths: {
    socket: '/ws/sessions/{id}',
    events: '/api/sessions/{id}/events',
    state: '/api/sessions/{id}',
    cancel: '/api/sessions/{id}/cancel',
  },
  names: { id: 'id', events: 'events', state: 'state', running: 'running' },
}

const { socket: _, ...fetched } = LAUNCH.paths

/** The same server for a client that only fetches. */
export const FETCHING: RemoteLaunch = { ...LAUNCH, paths: fetched }

/** Between two looks, and between two tries. */
const PAUSES = new Set([500, 200, 400, 800, 1_600, 3_200])

/** Pauses are over at once; any other time is a deadline, and passes only when a test lets it. */
export class RemoteTimers implements Timers {
  readonly pauses: number[] = []
  readonly #deadlines: { ms: number; pass(): void }[] = []
  #wake: (() => void) | undefined

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    if (PAUSES.has(ms)) {
      this.pauses.push(ms)
      return new Promise((resolve) => setImmediate(resolve))
    }
    return new Promise((resolve) => {
      const deadline = { ms, pass }
      function pass(): void {
        resolve()
      }
      this.#deadlines.push(deadline)
      this.#wake?.()
      signal.addEventListener('abort', () => {
        this.#deadlines.splice(this.#deadlines.indexOf(deadline), 1)
        resolve()
      })
    })
  }

  /** Lets the oldest deadline of this length pass, as soon as there is one. */
  async pass(ms: number): Promise<void> {
    for (;;) {
      const index = this.#deadlines.findIndex((deadline) => deadline.ms === ms)
      const [deadline] = index < 0 ? [] : this.#deadlines.splice(index, 1)
      if (deadline) return deadline.pass()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

export interface Started {
  run: Run
  timers: RemoteTimers
  /** Every frame that was read. */
  frames: Frame[]
  /** Settles when the run has said its last. */
  read: Promise<Frame[]>
}

export function start(
  url: string,
  launch: RemoteLaunch = LAUNCH,
  options: RemoteDriverOptions = {},
  more: Partial<RunContext> = {},
): Started {
  const timers = new RemoteTimers()
  const env = { SERVER_URL: url, SERVER_TOKEN: TOKEN }
  const run = remoteDriver({ timers, environment: {}, ...options }).start(launch, contextOf({ env, ...more }))
  const frames: Frame[] = []
  return { run, timers, frames, read: collect(run, frames) }
}

/** The same without a reader. */
export function startUnread(
  url: string,
  launch: RemoteLaunch,
  queueBytes: number,
): Omit<Started, 'read' | 'frames'> {
  const timers = new RemoteTimers()
  const driver = remoteDriver({ timers, environment: {}, queueBytes })
  return { run: driver.start(launch, contextOf({ env: { SERVER_URL: url } })), timers }
}

/** Settles when that many events have arrived. */
export async function seen(frames: readonly Frame[], events: number): Promise<void> {
  await vi.waitFor(() => expect(frames.filter(({ stream }) => stream === 'sse')).toHaveLength(events))
}

export async function collect(run: Run, frames: Frame[] = []): Promise<Frame[]> {
  for await (const batch of run.frames) frames.push(...batch)
  return frames
}

export function prompt(run: Run): Promise<void> {
  const body = { agentId: 'claude', projectId: 'p', prompt: 'Go' }
  return run.write({ kind: 'http', method: 'POST', path: '/api/sessions', tag: 'prompt', body })
}

/** The lines that a session logged, as they arrived. */
export function linesOf(frames: readonly Frame[]): unknown[] {
  return frames.filter(({ stream }) => stream === 'sse').map(({ text }) => JSON.parse(text).payload.line)
}

/** What calls were answered. */
export function answersOf(frames: readonly Frame[]): [tag: string, status: number][] {
  return frames
    .filter(({ stream }) => stream === 'http')
    .map(({ text }) => {
      const { tag, status } = JSON.parse(text)
      return [tag, status]
    })
}
