import type { LaunchFile } from '../agent.ts'
import { type Fields, isFields } from '../kit/fields.ts'

/** The title of the gate's dialogs, to distinguish them from those of other extensions. */
export const GATE_TITLE = 'mainstem: may this tool run?'

/**
 * An extension that requests approval before each call. Pi has no approval requests, but a call that an extension
 * blocks does not run, and neither does one whose extension fails or gets no answer. An approval for the session allows
 * the same call again, until the process ends.
 */
export const GATE: LaunchFile = {
  name: 'gate.mjs',
  text: `const lasting = new Set()
export default function (pi) {
  pi.on('tool_call', async (event, ctx) => {
    const { toolCallId, toolName, input } = event
    const question = JSON.stringify({ toolCallId, toolName, input })
    const call = JSON.stringify([toolName, input])
    if (lasting.has(call)) return
    const answer = await ctx.ui.input(${JSON.stringify(GATE_TITLE)}, question, { signal: ctx.signal })
    const { allow, reason, session, input: rewritten } = JSON.parse(answer ?? '{}')
    if (allow !== true) return { block: true, reason: reason ?? 'Nobody allowed this.' }
    if (session === true && rewritten === undefined) lasting.add(call)
    if (rewritten === undefined) return
    for (const key of Object.keys(input)) delete input[key]
    Object.assign(input, rewritten)
  })
}
`,
}

/** Parses the payload of the dialog in either direction; empty if it is not JSON. */
export function readGate(text = ''): Fields {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : {}
  } catch {
    return {}
  }
}
