import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentSettings } from '../../src/sessions/deps.ts'
import {
  type AgentAdapter,
  type AgentEvent,
  type AgentOptions,
  claudeCode,
  type DonePayload,
  opencode,
} from '../../src/ues/index.ts'

type Of<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>

/** The command that stands in for an agent's program. */
export const program = (script: string, ...args: string[]): AgentSettings => ({
  command: [process.execPath, join(import.meta.dirname, script), ...args],
})

/** Claude Code as a script that does what the first word of the prompt says. */
export const claude = (): AgentAdapter => claudeCode(program('fake-claude.mjs'))

/** An agent that plays its side of a recorded transcript. */
export function playing(make: (settings: AgentSettings) => AgentAdapter, recording: string): AgentAdapter {
  return make(program('play.mjs', join('src/agents', recording, 'transcript.jsonl')))
}

/** OpenCode as a server that says what the recorded one said. */
export const serving = (scenario: string): AgentAdapter =>
  opencode(
    program(
      '../fake-agents/server.mjs',
      'recorded',
      join('src/agents/opencode/fixtures/opencode-serve', scenario),
    ),
  )

export async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  return Array.fromAsync(events)
}

export const run = (adapter: AgentAdapter, prompt: string, options?: AgentOptions) =>
  all(adapter.run(prompt, options))

export const types = (events: readonly AgentEvent[]) => events.map(({ type }) => type)

export function only<Type extends AgentEvent['type']>(events: readonly AgentEvent[], type: Type): Of<Type>[] {
  return events.filter((event): event is Of<Type> => event.type === type)
}

/** How a run ended, as its last event tells it. */
export function ending(events: readonly AgentEvent[]): DonePayload {
  const last = events.at(-1)
  if (last?.type !== 'done') throw new Error(`the last event is ${last?.type}`)
  return last.payload
}

/** What the stand-in wrote about itself. */
export function told(events: readonly AgentEvent[]): {
  argv: string[]
  cwd: string
  pid: number
  tool: number
} {
  return JSON.parse(only(events, 'text')[0]?.payload.content ?? '{}')
}

/** The processes that were started for a run, theirs included. */
export function processesOf(sessionId: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(`MAINSTEM_RUN=${sessionId}.`)
    } catch (thrown) {
      // It has gone meanwhile.
      if (thrown instanceof Error && 'code' in thrown) return false
      throw thrown
    }
  })
}
