import { isDeepStrictEqual } from 'node:util'
import { agents } from '../src/agents/index.ts'
import { adapterOf } from '../src/ues/adapters.ts'
import type { AgentEvent, CanUseTool, ToolCallInfo } from '../src/ues/index.ts'
import { must, type Stage } from './stage.ts'

/** What a callback was asked about. */
interface Asked {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly canonicalName: string
}

interface AdapterRun {
  readonly asked: readonly Asked[]
  readonly events: readonly AgentEvent[]
}

/** Plays a part of the script through the adapter of the program, with a callback that allows every call. */
export async function adapterRun(stage: Stage, script: string): Promise<AdapterRun> {
  const agent = agents.find(({ id }) => id === stage.program.agent)
  must(agent !== undefined, 'it has no adapter')
  const asked: Asked[] = []
  const canUseTool: CanUseTool = async (tool, input, call?: ToolCallInfo) => {
    asked.push({ tool, input, canonicalName: call?.canonicalName ?? '' })
    return { allow: true }
  }
  const events: AgentEvent[] = []
  const run = adapterOf(agent, stage.settings).run(stage.line(script), { cwd: stage.cwd, canUseTool })
  for await (const event of run) events.push(event)
  return { asked, events }
}

/** The callback got the name of a call that runs, and its input, which the call may have got after its start. */
export function isAboutCall({ tool, input }: Asked, events: readonly AgentEvent[]): boolean {
  const asked = events.flatMap((event) => (event.type === 'permission_request' ? [event.payload] : []))
  return asked.some((request) => {
    const isSame = request.toolName === tool && isDeepStrictEqual(request.input, input)
    return isSame && events.some((event) => isCall(event, request.toolUseId, tool))
  })
}

function isCall(event: AgentEvent, toolUseId: string, tool: string): boolean {
  return event.type === 'tool_use' && event.payload.toolUseId === toolUseId && event.payload.toolName === tool
}
