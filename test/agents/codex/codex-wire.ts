import { serialize } from 'node:v8'
import type { Decoded, Emitted, Exit, Start } from '../../../src/agents/agent.ts'
import { codex } from '../../../src/agents/codex/agent.ts'
import type { Command, LaunchKind, Policy } from '../../../src/model/index.ts'

const POLICY: Policy = { approval: 'ask', sandbox: 'none' }

export type Setup = Partial<Omit<Start, 'launch'>>

export function startOf(launch: LaunchKind, setup: Setup = {}): Start {
  return { launch, cwd: '/project', policy: POLICY, options: {}, epoch: 1, ...setup }
}

/** A codec of Codex with its state, without process, clock and session. */
export function wire(launch: LaunchKind, setup: Setup = {}) {
  const recipe = codex.launches[launch]
  if (!recipe) throw new Error(`codex has no ${launch} launch`)
  const { codec } = recipe
  const state = codec.initial(startOf(launch, setup))
  return {
    /** A frame of the agent. */
    hear: (frame: unknown): Decoded =>
      codec.decode(state, { stream: 'stdout', text: JSON.stringify(frame), value: frame }),
    stderr: (text: string): Decoded => codec.decode(state, { stream: 'stderr', text }),
    command: (command: Command): Decoded => codec.encode(state, command),
    /** How much it keeps, in bytes. */
    size: (): number => serialize(state).byteLength,
    end: (exit: Exit = { code: 0, cause: 'exit' }): readonly Emitted[] => codec.end(state, exit).emitted,
  }
}

/** What a step writes to the agent, as JSON where it is a line of it. */
export function written({ writes }: Decoded): unknown[] {
  return writes.map((write) => (write.kind === 'text' ? JSON.parse(write.text) : write))
}

const THREAD = 'thread-1'

/** A live codec whose thread is open. */
export function opened(setup: Setup = {}) {
  const codec = wire('live', setup)
  codec.command({ type: 'open' })
  codec.hear({ id: 'c1', result: {} })
  codec.hear({ id: 'c2', result: { thread: { id: THREAD, cliVersion: '0.166.0' }, model: 'gpt-5.5' } })
  return codec
}

/** The same inside a turn that has begun. */
export function inTurn(setup: Setup = {}) {
  const codec = opened(setup)
  codec.command({ type: 'prompt', text: 'go' })
  codec.hear({ id: 'c3', result: { turn: { id: 'turn-1' } } })
  codec.hear(notification('turn/started', { turn: { id: 'turn-1' } }))
  codec.hear(item('started', { type: 'userMessage', id: 'u1', content: [{ type: 'text', text: 'go' }] }))
  return codec
}

export function notification(method: string, params: object) {
  return { method, params: { threadId: THREAD, turnId: 'turn-1', ...params } }
}

export function item(phase: 'started' | 'completed', native: object, more: object = {}) {
  return notification(`item/${phase}`, { item: native, ...more })
}

export function turnCompleted(status = 'completed', more: object = {}) {
  return notification('turn/completed', { turn: { id: 'turn-1', status, ...more } })
}
