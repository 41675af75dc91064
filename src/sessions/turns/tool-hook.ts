import type { Run, RunExit } from '../../drivers/driver.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import type { AnswerCommand } from '../../model/index.ts'
import { OutputTail } from '../../model/outcome/output-tail.ts'
import { NO_VALUES } from '../../model/text/large-value.ts'
import type { SessionDeps } from '../deps.ts'
import { checkDirectories, hookRunId, type SessionSetup } from '../process/setup.ts'

/** The default timeout of a hook. */
const TIMEOUT_MS = 60_000

/** Runs the command that decides tool calls of one session, one request at a time. */
export class ToolHooks {
  readonly #setup: Pick<SessionSetup, 'id' | 'cwd' | 'options'>
  readonly #deps: Pick<SessionDeps, 'driver' | 'timers' | 'mayWorkIn'>
  readonly #deciding = new Map<string, AbortController>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    setup: Pick<SessionSetup, 'id' | 'cwd' | 'options'>,
    deps: Pick<SessionDeps, 'driver' | 'timers' | 'mayWorkIn'>,
  ) {
    this.#setup = setup
    this.#deps = deps
  }

  /** True while the hook is deciding; no other decision is accepted meanwhile. */
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

  /** Stops the hook of a withdrawn request. */
  withdraw(requestId: string): void {
    this.#deciding.get(requestId)?.abort()
  }

  /** Settles when no hook runs. */
  async stop(): Promise<void> {
    for (const requestId of this.#deciding.keys()) this.withdraw(requestId)
    await this.#last
  }

  /** Only exit code 0 allows. A hook that fails, times out or cannot be started denies. */
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
    const { id, cwd, options } = this.#setup
    const hook = options.hooks?.beforeToolCall
    const [program, ...args] = hook?.command ?? []
    if (program === undefined) return 'there is no hook to ask'
    if (signal.aborted) return 'the request was withdrawn'
    const { driver, timers, mayWorkIn } = this.#deps
    checkDirectories(this.#setup, this.#deps)
    const run = driver.start(
      { kind: 'process', argv: [program, ...args], env: {}, passEnv: [] },
      { runId: hookRunId(id), cwd, isRealCwd: mayWorkIn !== undefined, env: {}, values: NO_VALUES },
    )
    const timeoutMs = hook?.timeoutMs ?? TIMEOUT_MS
    const over = new AbortController()
    const stopped = timers.sleep(timeoutMs, AbortSignal.any([signal, over.signal])).then(async () => {
      if (over.signal.aborted) return false
      await run.stop()
      return true
    })
    const exit = await runToEnd(run, `${JSON.stringify(request)}\n`).finally(() => over.abort())
    if (await stopped) return `the hook had not decided after ${timeoutMs} ms`
    if (exit.error) return `the hook could not decide: ${exit.error.message}`
    return exit.code === 0
      ? undefined
      : exit.stderr
        ? `the hook denied it: ${exit.stderr}`
        : 'the hook denied it'
  }
}

/** Writes the whole input, reads all output, and returns the exit with standard error. */
async function runToEnd(run: Run, text: string): Promise<RunExit & { stderr: string }> {
  // Not awaited before reading: a command that prints first would wait for us while we wait for it.
  const written = Promise.all([run.write({ kind: 'text', text }), run.write({ kind: 'end' })])
  const stderr = new OutputTail()
  for await (const batch of run.frames) {
    for (const { stream, text: line } of batch) if (stream === 'stderr') stderr.add(line)
  }
  await written
  return { ...(await run.exit), stderr: stderr.text }
}
