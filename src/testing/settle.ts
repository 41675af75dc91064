import { type ModelReply, pieces } from './apis/api.ts'
import { isOffered, type ModelCall } from './model-call.ts'
import type { Action, NativeCall, Reply, Tokens } from './scenario.ts'
import { callsFor, wordsFor } from './toolboxes.ts'

const DELTAS = 4
const USAGE: Tokens = { input: 70, output: 20, cacheRead: 30, cacheWrite: 0, reasoning: 5 }

/** The tool of Claude Code for structured output. */
const STRUCTURED = 'StructuredOutput'
/** The tool that ends a sub-agent of Gemini CLI; without the call, the model is called again. */
const FINISH = 'complete_task'

/** Completes a reply for one program: its own names of tools, text in pieces, a stop reason. */
export function settle(reply: Reply, call: ModelCall, id: string): ModelReply {
  const calls: NativeCall[] = []
  const words = reply.text === undefined ? [] : [reply.text]
  for (const use of reply.calls ?? []) {
    const native = 'do' in use ? callsFor(use, call) : [use]
    // Reports a missing tool in the text; a call that is silently dropped would look like a fault of the program.
    if (native) calls.push(...native)
    else words.push(('do' in use && wordsFor(use, call)) || missing(use, call))
  }
  if (reply.structured !== undefined) {
    const output = { name: STRUCTURED, input: Object(reply.structured) }
    if (isOffered(call, output)) calls.push(output)
    else words.push(JSON.stringify(reply.structured))
  }
  const finish = { name: FINISH, input: { result: { response: words.join('\n') } } }
  if (calls.length === 0 && isOffered(call, finish)) calls.push(finish)
  const count = reply.deltas ?? DELTAS
  return {
    id,
    model: call.model,
    thinking: pieces(reply.thinking ?? '', count),
    text: pieces(words.join('\n'), count),
    calls,
    stop: reply.stop ?? (calls.length > 0 ? 'tools' : 'end'),
    usage: { ...USAGE, ...reply.usage },
  }
}

function missing(use: Action | NativeCall, { tools }: ModelCall): string {
  const wanted = 'do' in use ? use.do : use.name
  return `[no tool to ${wanted} among ${tools.map(({ name }) => name).join(', ')}]`
}
