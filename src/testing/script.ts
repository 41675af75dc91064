import type { ModelCall, ModelMessage } from './model-call.ts'
import type { Fault, Reply, Scenario } from './scenario.ts'
import { callsFor } from './toolboxes.ts'

/** The last marker counts, because a program may put two prompts into one message. */
const MARKER = /.*SCENARIO:([\w-]+)/s

/** The reply to calls without a scenario. */
const PLAIN: Reply = { text: 'Hello from the scripted model.' }
const OVER: Reply = { text: 'Nothing more is scripted.' }

/** The response to one model call. */
export interface Cue {
  readonly reply: Reply
  readonly fault?: Fault
  /** The position in the script; absent if the call has no scenario. */
  readonly place?: ScriptPosition
}

/** A reply of a scenario. */
export interface ScriptPosition {
  /** The name of the scenario. */
  readonly scenario: string
  /** The number of earlier model calls of this conversation in this scenario. */
  readonly reply: number
  /** How often this call was made, this time included. */
  readonly attempt: number
}

/** Finds the reply to a call from the history in the request, so that a repeated call gets the same reply. */
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
    if (!scenario) return { reply: { text: `Unknown scenario ${name}.` } }
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

/** How programs begin the prompt of a side call that offers tools: a title, a suggested prompt, a memory to keep. */
const SIDE_PROMPTS = [
  'Your task is to generate a very short title',
  '[SUGGESTION MODE: ',
  'Managed memory has TWO directories.',
]

/** True for a call that a program makes beside the conversation. The marker in its text is not meant for it. */
function isSideCall({ tools, messages }: ModelCall): boolean {
  // Programs title or summarise a conversation without tools.
  if (tools.length === 0) return true
  const asked = messages.findLast(({ role }) => role === 'user')?.text ?? ''
  return SIDE_PROMPTS.some((start) => asked.startsWith(start))
}

/** The scenario of the last marker; none for side calls. */
function markedScenario(call: ModelCall): string | undefined {
  if (isSideCall(call)) return undefined
  return MARKER.exec(call.messages[markedMessage(call)]?.text ?? '')?.[1]
}

/** The index of the user message with the marker, or -1 to count from the start of the conversation. */
function markedMessage({ messages }: ModelCall): number {
  return messages.findLastIndex(({ role, text }) => role === 'user' && MARKER.test(text))
}

/** Counts model calls. One call may have several messages in a row. */
function turnsAfter(messages: readonly ModelMessage[], start: number): number {
  let turns = 0
  for (let index = start + 1; index < messages.length; index++) {
    if (messages[index]?.role === 'assistant' && messages[index - 1]?.role !== 'assistant') turns++
  }
  return turns
}

function replyAt({ replies, endless }: Scenario, index: number, call: ModelCall): Reply {
  const needed = replies.filter((reply) => !isNeedless(reply, call))
  return needed[index] ?? (endless ? needed.at(-1) : undefined) ?? OVER
}

/** True for a reply that only waits for a sub-agent, in a program that has waited already. */
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
