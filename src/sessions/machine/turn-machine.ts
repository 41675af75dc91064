import type { Emitted, Exit, NamedCall, TurnVerdict } from '../../agents/agent.ts'
import type { UsageReported } from '../../model/events/report.ts'
import type { RequestOpened } from '../../model/events/request.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'
import {
  addUsage,
  type Cause,
  decide,
  type ErrorInfo,
  type Event,
  type Outcome,
  type Usage,
} from '../../model/index.ts'
import type { Author } from '../../model/request/request.ts'
import { exitStatus, outcomeError } from './turn-error.ts'
import { isCutOff, TurnUsage, type UsageReports } from './turn-usage.ts'

interface OpenTurn {
  turn: number
  startedAt: number
  /** Why the turn ends; the first cause wins. */
  cause: Cause
  /** The agent wrote text, started a call, finished a model call, or reported that its work is done. */
  hasWorked: boolean
  /** Something was cut off after we began to stop the turn. */
  wasCut: boolean
  /** The message of the error. */
  why?: string
  /** Why the first request was denied without a person. */
  refusal?: string
  usage: TurnUsage
  /** The total as the codec reports it, kept until the outcome is known. */
  total?: UsageReported
}

/** The events that influence the outcome or the usage of a turn. */
export type TurnEvidence = Extract<
  Event,
  {
    type:
      | 'text.delta'
      | 'text.completed'
      | 'thinking.delta'
      | 'thinking.completed'
      | 'tool.started'
      | 'tool.completed'
      | 'request.withdrawn'
      | 'subagent.started'
      | 'subagent.completed'
      | 'usage.reported'
      | 'notice.raised'
  }
>

/** Reports of a codec that the state of the turn turns into events. */
export type Undecided = Exclude<Emitted, Event> | UsageReported

/** Functions that the turn machine needs. */
export interface TurnRules {
  digest(text: string): string
  /** The name of a call that is the same for every agent. */
  canonicalName?(call: NamedCall): string
  /** Whether the agent has the command; undefined if that is unknown. */
  canCompact?: boolean | undefined
  /** Names the decider of a request that no person decides. */
  answeredBy?(request: RequestOpened): 'policy' | 'hook' | 'nobody' | undefined
}

/**
 * Numbers the turns of one session, decides their outcomes, and gives each exactly one terminal event. Pure: the caller
 * passes time and digests.
 */
export class TurnMachine {
  readonly #rules: TurnRules
  readonly #reports: UsageReports
  #turns: number
  #open: OpenTurn | undefined
  #usageSoFar: Usage

  constructor(rules: TurnRules, reports: UsageReports, before = { turns: 0, usageSoFar: {} as Usage }) {
    this.#rules = rules
    this.#reports = reports
    this.#turns = before.turns
    this.#usageSoFar = before.usageSoFar
  }

  /** The open turn's number. */
  get turn(): number | undefined {
    return this.#open?.turn
  }

  /** Why we are ending the open turn; `exit` if we are not. */
  get cause(): Cause {
    return this.#open?.cause ?? 'exit'
  }

  /** The number of the last turn. */
  get count(): number {
    return this.#turns
  }

  /** Sets the number of the last turn, and of the open one with the time of its start, when a state is rebuilt. */
  renumber(count: number, open?: { turn: number; startedAt: number }): void {
    this.#turns = count
    if (this.#open && open) Object.assign(this.#open, open)
  }

  /** The usage of the session without the open turn. */
  get usageSoFar(): Usage {
    return this.#usageSoFar
  }

  /** Call when the process has exited, before the codec closes what it left open. */
  processExited(): void {
    this.#open?.usage.stop()
  }

  /** Assigns a number to an accepted prompt, also if it is queued. */
  accept(): number {
    return ++this.#turns
  }

  begin(turn: number, now: number, prompt?: string, promptId?: string, author?: Partial<Author>): Event {
    this.#open = this.#newTurn(turn, now)
    return {
      type: 'turn.started',
      turn,
      origin: 'prompt',
      ...(prompt !== undefined && { prompt }),
      ...(promptId !== undefined && { promptId }),
      ...author,
    }
  }

  /** Records why we are about to end the open turn. */
  setCause(cause: Cause, why?: string): void {
    if (this.#open?.cause !== 'exit') return
    this.#open.cause = cause
    this.#open.usage.stop()
    if (why !== undefined) this.#open.why = why
  }

  /** Records why a request was denied without a person. */
  refused(reason: string): void {
    if (this.#open) this.#open.refusal ??= reason
  }

  /** Records whether the agent has worked, and whether our interrupt cut something off. */
  observe(event: TurnEvidence, exit?: Exit): void {
    const open = this.#open
    if (!open) return
    open.usage.observe(event)
    open.hasWorked ||= isWork(event)
    // Items that the exit settles were not cut off by the interrupt.
    open.wasCut ||= isStopped(open) && !exit && isCut(event)
  }

  /** Turns a report of the codec into events. */
  apply(emitted: Undecided, now: number, exit?: Exit, author?: Partial<Author>): readonly Event[] {
    switch (emitted.type) {
      case 'usage.reported':
        return this.#report(emitted)
      case 'turn.verdict':
        return this.#complete(emitted, now, exit)
      case 'turn.started': {
        if (this.#open) return []
        const turn = this.accept()
        this.#open = this.#newTurn(turn, now)
        return [{ ...emitted, ...author, turn }]
      }
      case 'turn.steered':
        return this.#open ? [{ ...emitted, ...author, turn: this.#open.turn }] : []
      case 'request.opened': {
        // Agents that send no input put the command in the title, so the digest covers everything that is shown.
        const { kind, tool, title, input, locations, options, questions, permission, data } = emitted
        const more = permission === undefined && data === undefined ? [] : [permission, data]
        const asked = JSON.stringify([kind, tool, title, input, locations, options, questions, ...more])
        const canonicalName = tool === undefined ? undefined : this.#rules.canonicalName?.(emitted)
        const request: RequestOpened = {
          ...emitted,
          ...(canonicalName !== undefined && { canonicalName }),
          inputDigest: this.#rules.digest(asked),
        }
        const answeredBy = this.#rules.answeredBy?.(request)
        return [answeredBy === undefined ? request : { ...request, answeredBy }]
      }
      default:
        return emitted satisfies never
    }
  }

  /** Counts a report. The total of the open turn is returned later, with the end of the turn. */
  #report(used: UsageReported): readonly Event[] {
    const open = this.#open
    if (open && used.scope === 'turn') {
      open.total = used
      return []
    }
    this.observe(used)
    // No turn's total includes what a background sub-agent uses outside a turn.
    if (!open && used.scope === 'subagent') this.#usageSoFar = addUsage(this.#usageSoFar, used)
    return [used]
  }

  /** Ends a turn that was accepted and never ran. */
  drop(turn: number, error?: ErrorInfo): Event {
    const outcome = error ? 'timeout' : 'interrupted'
    return { type: 'turn.completed', turn, outcome, ...(error && { error }), durationMs: 0, denials: 0 }
  }

  /** Ends a turn without a verdict of its codec: the process exited, or never started. */
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

  #newTurn(turn: number, now: number): OpenTurn {
    const usage = new TurnUsage(this.#reports)
    return { turn, startedAt: now, cause: 'exit', hasWorked: false, wasCut: false, usage }
  }

  #complete(verdict: TurnVerdict, now: number, exit: Exit | undefined): readonly Event[] {
    const open = this.#open
    if (!open) return []
    this.#open = undefined
    // A start timeout is reported as the error of the process.
    const cause = open.cause === 'exit' && exit?.error?.code === 'timeout' ? 'timeout' : open.cause
    const cut = isStopped(open) && (open.wasCut || isEmpty(open, verdict))
    const outcome = decide({ ...verdict, cut }, cause, exit && exitStatus(exit))
    const usage = isCutOff(outcome, open.cause, exit) ? open.usage.ofCut(verdict.usage) : verdict.usage
    if (usage) this.#usageSoFar = addUsage(this.#usageSoFar, usage)
    const counted = usage ? { ...verdict, usage } : verdict
    const error = outcomeError(outcome, verdict, exit, open, this.#rules.canCompact)
    const completed = turnCompleted({ ...open, error }, outcome, counted, now, exit)
    const ends = open.total ? [{ ...open.total, ...usage }, completed] : [completed]
    const tooLate = isStopped(open) && (outcome === 'completed' || outcome === 'denied')
    if (!tooLate) return ends
    const message = `the turn had ended by itself before it could be stopped (${open.cause})`
    return [{ type: 'notice.raised', level: 'info', code: 'interrupt_refused', message }, ...ends]
  }
}

/** Text, a call, a finished model call, or the report that there is nothing to interrupt. */
function isWork(event: TurnEvidence): boolean {
  if (event.type === 'usage.reported') return event.scope === 'step'
  if (event.type === 'notice.raised') return event.code === 'interrupt_refused'
  return event.type === 'text.completed' || event.type === 'tool.started'
}

/** Text, a call or a request of the main thread that was cut off. */
function isCut(event: TurnEvidence): boolean {
  switch (event.type) {
    case 'request.withdrawn':
      return event.reason === 'interrupted'
    case 'text.completed':
      return event.parent === undefined && event.partial === true
    case 'tool.completed': {
      const { parent, status, settled } = event
      return parent === undefined && (status === 'cancelled' || (settled === true && status === 'unknown'))
    }
    default:
      return false
  }
}

/** We have begun to stop the turn. */
function isStopped({ cause }: OpenTurn): boolean {
  return cause !== 'exit' && cause !== 'finished'
}

/** A turn without any output. A cancelled agent may report it as a success. */
function isEmpty({ hasWorked }: OpenTurn, { result = '', structured }: TurnVerdict): boolean {
  return !hasWorked && result === '' && structured === undefined
}

function turnCompleted(
  open: OpenTurn & { error: ErrorInfo | undefined },
  outcome: Outcome,
  verdict: TurnVerdict,
  now: number,
  exit: Exit | undefined,
): TurnCompleted {
  const { error } = open
  const { result, structured, usage, nativeReason, data } = verdict
  return {
    type: 'turn.completed',
    turn: open.turn,
    outcome,
    ...(error && { error }),
    ...(result !== undefined && { result }),
    ...(structured !== undefined && { structured }),
    ...(usage && { usage }),
    // Our duration includes the agent's, so the larger one is right even if a recording has no clock.
    durationMs: Math.max(0, Math.round(now - open.startedAt), Math.round(verdict.durationMs ?? 0)),
    ...(exit && (exit.code !== undefined || exit.signal !== undefined) && { exit: exitOf(exit, outcome) }),
    ...(nativeReason !== undefined && { nativeReason }),
    denials: verdict.denials,
    ...(data !== undefined && { data }),
  }
}

function exitOf({ code, signal, stopped }: Exit, outcome: Outcome): NonNullable<TurnCompleted['exit']> {
  return {
    ...(code !== undefined && { code }),
    ...(signal !== undefined && { signal }),
    // With a result, the exit is the ordinary one.
    ...(stopped && outcome === 'crashed' && { stopped }),
  }
}
