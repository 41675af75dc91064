import type { Exit, Said, TurnVerdict } from '../agents/agent.ts'
import type { UsageReported } from '../model/events/report.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import {
  addUsage,
  type Cause,
  decide,
  type ErrorInfo,
  type Event,
  type Outcome,
  type Usage,
} from '../model/index.ts'

interface OpenTurn {
  turn: number
  startedAt: number
  /** What we did to it; the first cause wins. */
  cause: Cause
  /** The agent wrote text, began a call, ended a model call, or answered that its work is done. */
  spoke: boolean
  /** Something was stopped after we had begun to stop the turn. */
  cut: boolean
  /** Why we did it, as the turn's error shows it. */
  why?: string
  /** Why the first request was denied that no person decided. */
  refusal?: string
}

/** The events that show what a turn has come to. */
type Seen = Extract<
  Event,
  {
    type:
      | 'text.completed'
      | 'tool.started'
      | 'tool.completed'
      | 'request.withdrawn'
      | 'usage.reported'
      | 'notice.raised'
  }
>

/** What a turn machine is told instead of knowing it. */
export interface TurnRules {
  digest(text: string): string
  /** Who answers this request instead of a person. */
  answeredBy?(request: RequestOpened): 'policy' | 'hook' | 'nobody' | undefined
}

/**
 * The turns of one session: numbers them, decides their outcomes, and sees to it that each gets exactly one
 * terminal event. Pure: time and digests are handed in.
 */
export class TurnMachine {
  readonly #rules: TurnRules
  #turns: number
  #open: OpenTurn | undefined
  #spent: Usage

  constructor(rules: TurnRules, before: { turns: number; spent: Usage } = { turns: 0, spent: {} }) {
    this.#rules = rules
    this.#turns = before.turns
    this.#spent = before.spent
  }

  /** The open turn's number. */
  get turn(): number | undefined {
    return this.#open?.turn
  }

  /** Why the open turn is about to end, as far as we have a part in it. */
  get cause(): Cause {
    return this.#open?.cause ?? 'exit'
  }

  /** What the session used so far, without the open turn. */
  get spent(): Usage {
    return this.#spent
  }

  /** Adds what a background sub-agent used outside a turn: no turn's total includes it. */
  spend(used: UsageReported): void {
    if (used.scope === 'subagent' && !this.#open) this.#spent = addUsage(this.#spent, used)
  }

  /** Numbers are given when a prompt is accepted, whether it runs at once or waits. */
  accept(): number {
    return ++this.#turns
  }

  begin(turn: number, now: number, prompt?: string, promptId?: string): Event {
    this.#open = { turn, startedAt: now, cause: 'exit', spoke: false, cut: false }
    return {
      type: 'turn.started',
      turn,
      origin: 'prompt',
      ...(prompt !== undefined && { prompt }),
      ...(promptId !== undefined && { promptId }),
    }
  }

  /** Notes what we are about to do to the open turn, and why. */
  blame(cause: Cause, why?: string): void {
    if (this.#open?.cause !== 'exit') return
    this.#open.cause = cause
    if (why !== undefined) this.#open.why = why
  }

  /** A request was denied without a person, for this reason. */
  refused(reason: string): void {
    if (this.#open) this.#open.refusal ??= reason
  }

  /** Notes whether the agent has answered, and whether our cancel stopped something of it. */
  see(event: Seen, exit?: Exit): void {
    const open = this.#open
    if (!open) return
    open.spoke ||= isWork(event)
    // What the exit of a process settles was not stopped by the cancel.
    open.cut ||= isStopped(open) && !exit && isCut(event)
  }

  /** What a codec says becomes what the log may keep. */
  hear(said: Exclude<Said, Event>, now: number, exit?: Exit): readonly Event[] {
    switch (said.type) {
      case 'turn.verdict':
        return this.#complete(said, now, exit)
      case 'turn.started': {
        if (this.#open) return []
        const turn = this.accept()
        this.#open = { turn, startedAt: now, cause: 'exit', spoke: false, cut: false }
        return [{ ...said, turn }]
      }
      case 'turn.steered':
        return this.#open ? [{ ...said, turn: this.#open.turn }] : []
      case 'request.opened': {
        // Agents that send no input put the command in the title, so the digest covers everything that is shown.
        const { kind, tool, title, input, locations, options, questions } = said
        const asked = JSON.stringify([kind, tool, title, input, locations, options, questions])
        const request: RequestOpened = { ...said, inputDigest: this.#rules.digest(asked) }
        const asks = this.#rules.answeredBy?.(request)
        return [asks === undefined ? request : { ...request, asks }]
      }
      default:
        return said satisfies never
    }
  }

  /** A turn that was accepted and never ran. */
  drop(turn: number): Event {
    return { type: 'turn.completed', turn, outcome: 'interrupted', durationMs: 0, denials: 0 }
  }

  /** Ends a turn that its codec had no word on: the process is gone, or never came. */
  abandon(now: number, exit: Exit): readonly Event[] {
    return this.#complete(
      {
        type: 'turn.verdict',
        evidence: exit.error ? 'error' : 'none',
        ...(exit.error && { error: exit.error }),
        denials: 0,
        personDenials: 0,
      },
      now,
      exit,
    )
  }

  #complete(verdict: TurnVerdict, now: number, exit: Exit | undefined): readonly Event[] {
    const open = this.#open
    if (!open) return []
    this.#open = undefined
    if (verdict.usage) this.#spent = addUsage(this.#spent, verdict.usage)
    // A start that took too long is told by how the process failed.
    const cause = open.cause === 'exit' && exit?.error?.code === 'timeout' ? 'timeout' : open.cause
    const cut = isStopped(open) && (open.cut || isEmpty(open, verdict))
    const outcome = decide({ ...verdict, cut }, cause, exit && exitStatus(exit))
    const completed = turnCompleted(open, outcome, verdict, now, exit)
    const tooLate = isStopped(open) && (outcome === 'completed' || outcome === 'denied')
    if (!tooLate) return [completed]
    const message = `the turn had ended by itself before it could be stopped (${open.cause})`
    return [{ type: 'notice.raised', level: 'info', code: 'interrupt_refused', message }, completed]
  }
}

/** Text, a call, a model call that came to its end, or the agent's answer that there is nothing to stop. */
function isWork(event: Seen): boolean {
  if (event.type === 'usage.reported') return event.scope === 'step'
  if (event.type === 'notice.raised') return event.code === 'interrupt_refused'
  return event.type === 'text.completed' || event.type === 'tool.started'
}

/** Text, a call or a request of the main thread that did not come to its end. */
function isCut(event: Seen): boolean {
  if (event.type === 'request.withdrawn') return event.reason === 'interrupted'
  if (event.type === 'usage.reported' || event.type === 'notice.raised') return false
  if (event.type === 'tool.started') return false
  if (event.parent !== undefined) return false
  if (event.type === 'text.completed') return event.partial === true
  return event.status === 'cancelled' || (event.settled === true && event.status === 'unknown')
}

/** We have begun to stop the turn. */
function isStopped({ cause }: OpenTurn): boolean {
  return cause !== 'exit' && cause !== 'finished'
}

/** A turn without any answer, which an agent that was cancelled may call a success. */
function isEmpty({ spoke }: OpenTurn, { result = '', structured }: TurnVerdict): boolean {
  return !spoke && result === '' && structured === undefined
}

/** A process that died by a signal has no code, and that is not success. */
function exitStatus(exit: Exit): number {
  return exit.code ?? (exit.signal === undefined ? 0 : 1)
}

function turnCompleted(
  open: OpenTurn,
  outcome: Outcome,
  verdict: TurnVerdict,
  now: number,
  exit: Exit | undefined,
): TurnCompleted {
  const error = outcomeError(outcome, verdict, exit, open)
  const { result, structured, usage, nativeReason, data } = verdict
  return {
    type: 'turn.completed',
    turn: open.turn,
    outcome,
    ...(error && { error }),
    ...(result !== undefined && { result }),
    ...(structured !== undefined && { structured }),
    ...(usage && { usage }),
    // The agent's own figure is part of ours, so the larger one is the truth when a recording has no clock.
    durationMs: Math.max(0, Math.round(now - open.startedAt), Math.round(verdict.durationMs ?? 0)),
    ...(exit && (exit.code !== undefined || exit.signal !== undefined) && { exit: exitOf(exit) }),
    ...(nativeReason !== undefined && { nativeReason }),
    denials: verdict.denials,
    ...(data !== undefined && { data }),
  }
}

function exitOf(exit: Exit): { code?: number; signal?: string } {
  return {
    ...(exit.code !== undefined && { code: exit.code }),
    ...(exit.signal !== undefined && { signal: exit.signal }),
  }
}

/** Every outcome but a good one says why, in words a person can use. */
function outcomeError(
  outcome: Outcome,
  verdict: TurnVerdict,
  exit: Exit | undefined,
  { why, refusal }: OpenTurn,
): ErrorInfo | undefined {
  switch (outcome) {
    case 'completed':
    case 'interrupted':
      return undefined
    case 'failed':
      return failure(verdict, exit)
    case 'denied':
      return {
        code: 'permission_denied',
        message: refusal ?? 'something it needed was refused, and nobody was there to allow it',
      }
    case 'timeout':
      return { code: 'timeout', message: withStderr(why ?? timeoutOf(exit), exit) }
    case 'crashed': {
      const message = `the agent ended without a result (${describeExit(exit)})`
      return { code: verdict.error?.code ?? 'protocol_error', message: withStderr(message, exit) }
    }
    case 'lost':
      return { code: 'connection_failed', message: 'the process that owned the turn went away' }
    case 'refused':
    case 'max_steps':
    case 'max_budget':
      return verdict.error
    default:
      return outcome satisfies never
  }
}

function failure({ error }: TurnVerdict, exit: Exit | undefined): ErrorInfo {
  if (error === undefined) {
    const status = exit ? exitStatus(exit) : 0
    return { code: 'unknown', message: withStderr(`the agent exited with ${status} after its result`, exit) }
  }
  // A process that never started, or whose connection broke.
  if (error !== exit?.error) return error
  return { ...error, message: withStderr(error.message, exit) }
}

/** A start that took too long is explained by the process itself. */
function timeoutOf(exit: Exit | undefined): string {
  return exit?.error?.code === 'timeout' ? exit.error.message : 'the turn took longer than it was allowed to'
}

/** The reason for a crash is often on standard error alone. */
function withStderr(message: string, exit: Exit | undefined): string {
  return exit?.stderr === undefined ? message : `${message}: ${exit.stderr}`
}

function describeExit(exit: Exit | undefined): string {
  if (exit?.signal !== undefined) return `signal ${exit.signal}`
  return exit?.code === undefined ? 'connection lost' : `exit code ${exit.code}`
}
