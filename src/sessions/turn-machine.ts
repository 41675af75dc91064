import type { Emitted, Exit, TurnVerdict } from '../agents/agent.ts'
import type { UsageReported } from '../model/events/report.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import { addUsage, type Cause, decide, type Event, type Outcome, type Usage } from '../model/index.ts'
import { exitStatus, outcomeError } from './turn-error.ts'
import { isCutOff, TurnUsage, type UsageReports } from './turn-usage.ts'

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
  usage: TurnUsage
  /** The total as the codec reports it, kept until the outcome is known. */
  total?: UsageReported
}

/** The events that show what a turn has come to. */
export type Seen = Extract<
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

/** What codecs report and the state of the turn decides. */
export type Undecided = Exclude<Emitted, Event> | UsageReported

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

  /** Why the open turn is about to end, as far as we have a part in it. */
  get cause(): Cause {
    return this.#open?.cause ?? 'exit'
  }

  /** What the session used so far, without the open turn. */
  get usageSoFar(): Usage {
    return this.#usageSoFar
  }

  /** The process of the open turn is gone, before the codec closes what it left open. */
  gone(): void {
    this.#open?.usage.stop()
  }

  /** Numbers are given when a prompt is accepted, whether it runs at once or waits. */
  accept(): number {
    return ++this.#turns
  }

  begin(turn: number, now: number, prompt?: string, promptId?: string): Event {
    this.#open = this.#newTurn(turn, now)
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
    this.#open.usage.stop()
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
    open.usage.see(event)
    open.spoke ||= isWork(event)
    // What the exit of a process settles was not stopped by the cancel.
    open.cut ||= isStopped(open) && !exit && isCut(event)
  }

  /** What a codec says becomes what the log may keep. */
  hear(said: Undecided, now: number, exit?: Exit): readonly Event[] {
    switch (said.type) {
      case 'usage.reported':
        return this.#report(said)
      case 'turn.verdict':
        return this.#complete(said, now, exit)
      case 'turn.started': {
        if (this.#open) return []
        const turn = this.accept()
        this.#open = this.#newTurn(turn, now)
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

  /** Counts a report. The total of the open turn is returned later, with the end of the turn. */
  #report(used: UsageReported): readonly Event[] {
    const open = this.#open
    if (open && used.scope === 'turn') {
      open.total = used
      return []
    }
    this.see(used)
    // No turn's total includes what a background sub-agent uses outside a turn.
    if (!open && used.scope === 'subagent') this.#usageSoFar = addUsage(this.#usageSoFar, used)
    return [used]
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

  #newTurn(turn: number, now: number): OpenTurn {
    const usage = new TurnUsage(this.#reports)
    return { turn, startedAt: now, cause: 'exit', spoke: false, cut: false, usage }
  }

  #complete(verdict: TurnVerdict, now: number, exit: Exit | undefined): readonly Event[] {
    const open = this.#open
    if (!open) return []
    this.#open = undefined
    // A start that took too long is told by how the process failed.
    const cause = open.cause === 'exit' && exit?.error?.code === 'timeout' ? 'timeout' : open.cause
    const cut = isStopped(open) && (open.cut || isEmpty(open, verdict))
    const outcome = decide({ ...verdict, cut }, cause, exit && exitStatus(exit))
    const usage = isCutOff(outcome, open.cause, exit) ? open.usage.ofCut(verdict.usage) : verdict.usage
    if (usage) this.#usageSoFar = addUsage(this.#usageSoFar, usage)
    const completed = turnCompleted(open, outcome, usage ? { ...verdict, usage } : verdict, now, exit)
    const ends = open.total ? [{ ...open.total, ...usage }, completed] : [completed]
    const tooLate = isStopped(open) && (outcome === 'completed' || outcome === 'denied')
    if (!tooLate) return ends
    const message = `the turn had ended by itself before it could be stopped (${open.cause})`
    return [{ type: 'notice.raised', level: 'info', code: 'interrupt_refused', message }, ...ends]
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

/** A turn without any answer, which an agent that was cancelled may call a success. */
function isEmpty({ spoke }: OpenTurn, { result = '', structured }: TurnVerdict): boolean {
  return !spoke && result === '' && structured === undefined
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
