import type { Driver, Run, RunExit, Timers } from '../drivers/driver.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { AnswerCommand, BlobSink, ToolHook } from '../model/index.ts'
import { OutputTail } from '../model/output-tail.ts'
import type { SessionDeps } from './deps.ts'
import { checkPlaces, hookRunId, type SessionSetup } from './setup.ts'

/** How long a hook may think where nobody says. */
const TIMEOUT_MS = 60_000

/** Lines that are too long for a frame are dropped. */
const NOWHERE: BlobSink = {
  open: () => ({ write: () => undefined, close: async () => ({ id: '', bytes: 0 }) }),
}

export interface ToolHookDeps {
  driver: Driver
  timers: Timers
  /** Throws when no process may start in the directory any more. */
  checkPlace(): void
  /** Marks its processes. Never the run of the agent: what is left of a run ends with it. */
  runId: string
  cwd: string
  isRealCwd?: boolean
}

/** The command that decides the tool calls of one session, asked for one request after another. */
export class ToolHooks {
  readonly #hook: ToolHook | undefined
  readonly #deps: ToolHookDeps
  readonly #deciding = new Map<string, AbortController>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(hook: ToolHook | undefined, deps: ToolHookDeps) {
    this.#hook = hook
    this.#deps = deps
  }

  /** Until it has decided, nobody else may. */
  decides(requestId: string): boolean {
    return this.#deciding.has(requestId)
  }

  ask(request: RequestOpened): Promise<AnswerCommand> {
    const withdrawn = new AbortController()
    this.#deciding.set(request.requestId, withdrawn)
    const answer = this.#last.then(() => this.#answer(request, withdrawn.signal))
    this.#last = answer
    return answer
  }

  /** Nobody waits for this answer any more. */
  withdraw(requestId: string): void {
    this.#deciding.get(requestId)?.abort()
  }

  /** Settles when nothing of them runs. */
  async stop(): Promise<void> {
    for (const requestId of this.#deciding.keys()) this.withdraw(requestId)
    await this.#last
  }

  /** Only a clear yes allows: a hook that fails, is late or cannot be started has said no. */
  async #answer(request: RequestOpened, signal: AbortSignal): Promise<AnswerCommand> {
    const { requestId } = request
    const refusal = await this.#refusal(request, signal).catch((thrown) => `the hook failed: ${thrown}`)
    // The agent may have reused the id for another request, which this hook has not decided.
    if (this.#deciding.get(requestId)?.signal === signal) this.#deciding.delete(requestId)
    return refusal === undefined
      ? { type: 'answer', requestId, decision: 'allow', scope: 'once', by: 'hook' }
      : { type: 'answer', requestId, decision: 'deny', message: refusal, by: 'hook' }
  }

  async #refusal(request: RequestOpened, signal: AbortSignal): Promise<string | undefined> {
    const [program, ...args] = this.#hook?.command ?? []
    if (program === undefined) return 'there is no hook to ask'
    if (signal.aborted) return 'the request was withdrawn'
    const { driver, timers, runId, cwd, isRealCwd = false } = this.#deps
    this.#deps.checkPlace()
    const run = driver.start(
      { kind: 'process', argv: [program, ...args], env: {}, passEnv: [] },
      { runId, cwd, isRealCwd, env: {}, blobs: NOWHERE },
    )
    const timeoutMs = this.#hook?.timeoutMs ?? TIMEOUT_MS
    const over = new AbortController()
    const stopped = timers.sleep(timeoutMs, AbortSignal.any([signal, over.signal])).then(async () => {
      if (over.signal.aborted) return false
      await run.stop()
      return true
    })
    const exit = await told(run, `${JSON.stringify(request)}\n`).finally(() => over.abort())
    if (await stopped) return `the hook had not decided after ${timeoutMs} ms`
    if (exit.error) return `the hook could not decide: ${exit.error.message}`
    return exit.code === 0
      ? undefined
      : exit.stderr
        ? `the hook denied it: ${exit.stderr}`
        : 'the hook denied it'
  }
}

/** Tells a run everything at once; how it ended, after all it had to say. */
async function told(run: Run, text: string): Promise<RunExit & { stderr: string }> {
  // Not awaited before reading: a command that prints first would wait for us while we wait for it.
  const written = Promise.all([run.write({ kind: 'text', text }), run.write({ kind: 'end' })])
  const stderr = new OutputTail()
  for await (const batch of run.frames) {
    for (const { stream, text: line } of batch) if (stream === 'stderr') stderr.add(line)
  }
  await written
  return { ...(await run.exit), stderr: stderr.text }
}

export function toolHooksOf(
  setup: SessionSetup,
  deps: Pick<SessionDeps, 'driver' | 'timers' | 'mayWorkIn'>,
): ToolHooks {
  const { id, cwd, options } = setup
  const { driver, timers } = deps
  const checkPlace = () => checkPlaces(setup, deps)
  const isRealCwd = deps.mayWorkIn !== undefined
  return new ToolHooks(options.hooks?.beforeToolCall, {
    driver,
    timers,
    checkPlace,
    runId: hookRunId(id),
    cwd,
    isRealCwd,
  })
}
