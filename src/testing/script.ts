import type { Message, ModelCall } from './model-call.ts'
import type { Fault, Reply, Scenario } from './scenario.ts'
import { callsFor } from './toolboxes.ts'

/** The last one counts, because a program may put two prompts into one message. */
const MARKER = /.*SCENARIO:([\w-]+)/s

/** What is said where nothing is scripted. */
const PLAIN: Reply = { text: 'Hello from the scripted model.' }
const OVER: Reply = { text: 'Nothing more is scripted.' }

/** What to do with one model call. */
export interface Cue {
  readonly reply: Reply
  readonly fault?: Fault
  /** Where in the script it stands; absent when the call belongs to none. */
  readonly place?: Place
}

export interface Place {
  readonly scenario: string
  /** The number of model calls that this conversation had before, in this scenario. */
  readonly reply: number
  /** How many times this very call was made, this time included. */
  readonly attempt: number
}

/** Finds the reply to a call. The history in the request tells which it is, so a repeated call gets the same. */
export class Script {
  readonly #scenarios: Readonly<Record<string, Scenario>>
  readonly #choose: (call: ModelCall) => string | undefined
  readonly #attempts = new Map<string, number>()

  constructor(
    scenarios: Readonly<Record<string, Scenario>>,
    choose: (call: ModelCall) => string | undefined = markedScenario,
  ) {
    this.#scenarios = scenarios
    this.#choose = choose
  }

  cue(call: ModelCall): Cue {
    const name = this.#choose(call)
    if (name === undefined) return { reply: PLAIN }
    const scenario = Object.hasOwn(this.#scenarios, name) ? this.#scenarios[name] : undefined
    if (!scenario) return { reply: { text: `There is no scenario ${name}.` } }
    const start = markedMessage(call)
    const index = turnsAfter(call.messages, start)
    const reply = replyAt(scenario, index, call)
    const attempt = this.#attempt([name, index, call.messages[start]?.text])
    const fault = faultAt(reply.faults ?? [], attempt)
    return { reply, ...(fault && { fault }), place: { scenario: name, reply: index, attempt } }
  }

  #attempt(call: readonly unknown[]): number {
    const key = JSON.stringify(call)
    const attempt = (this.#attempts.get(key) ?? 0) + 1
    this.#attempts.set(key, attempt)
    return attempt
  }
}

/**
 * The scenario that the user asked for last. A call that offers no tools is not the agent's own: it makes a title or
 * a summary of what the user said, and would take the marker in there for its own.
 */
function markedScenario(call: ModelCall): string | undefined {
  if (call.tools.length === 0) return undefined
  return MARKER.exec(call.messages[markedMessage(call)]?.text ?? '')?.[1]
}

/** Where the user asked for a scenario, or -1: then the conversation counts from its start. */
function markedMessage({ messages }: ModelCall): number {
  return messages.findLastIndex(({ role, text }) => role === 'user' && MARKER.test(text))
}

/** What the model said in one call may stand in several messages, one after another. */
function turnsAfter(messages: readonly Message[], start: number): number {
  let turns = 0
  for (let index = start + 1; index < messages.length; index++) {
    if (messages[index]?.role === 'assistant' && messages[index - 1]?.role !== 'assistant') turns++
  }
  return turns
}

function replyAt({ replies, endless }: Scenario, index: number, call: ModelCall): Reply {
  const spoken = replies.filter((reply) => !isNeedless(reply, call))
  return spoken[index] ?? (endless ? spoken.at(-1) : undefined) ?? OVER
}

/** Nothing but waiting, in a program that has waited already. */
function isNeedless({ text, calls = [] }: Reply, call: ModelCall): boolean {
  if (text !== undefined || calls.length === 0) return false
  return calls.every((use) => 'do' in use && use.do === 'join' && !callsFor(use, call))
}

function faultAt(faults: readonly Fault[], attempt: number): Fault | undefined {
  let last = 0
  return faults.find(({ times = Number.POSITIVE_INFINITY }) => {
    last += times
    return attempt <= last
  })
}
