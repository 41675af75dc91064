import { type Agent, type Beat, type Codec, type Emitted, recipe } from '../../src/agents/agent.ts'
import { echo } from '../../src/agents/echo/agent.ts'
import { emit, emitAll, line, nothing, refuse, send, unmapped } from '../../src/agents/kit/decoded.ts'
import { isFields } from '../../src/agents/kit/fields.ts'
import type { Cue } from './puppet.ts'

/** The prompt that makes a talker play these acts: the first at once, the next with each answer it gets. */
export const play = (...acts: Cue[][]): string => JSON.stringify(acts)

interface TalkerState {
  acts: Cue[][]
  asked: Set<string>
  told: number
}

const codec: Codec<TalkerState> = {
  initial: () => ({ acts: [], asked: new Set(), told: 0 }),
  decode(state, frame) {
    if (!isFields(frame.value)) return unmapped('other', frame.text)
    const emitted = frame.value as Emitted
    if (emitted.type === 'request.opened') state.asked.add(emitted.requestId)
    return emit(emitted)
  },
  encode(state, command) {
    switch (command.type) {
      case 'prompt':
        state.acts = JSON.parse(command.text)
        return send([line(state.acts.shift() ?? [])])
      case 'answer': {
        const { type: _, requestId, ...decision } = command
        if (!state.asked.delete(requestId)) return refuse('request_not_found', 'no such request')
        const heard: Cue = {
          say: {
            type: 'text.completed',
            messageId: `told-${++state.told}`,
            text: `told ${JSON.stringify(decision)}`,
          },
        }
        return send([line([heard, ...(state.acts.shift() ?? [])])])
      }
      case 'close':
        return send([{ kind: 'end' }])
      default:
        return nothing
    }
  },
  end(state) {
    const asked = [...state.asked]
    state.asked.clear()
    return emitAll(
      asked.map((requestId): Emitted => ({ type: 'request.withdrawn', requestId, reason: 'process_ended' })),
    )
  },
}

/** An agent that asks, takes answers, and tells what it was answered. It can resume what it has once begun. */
export const talker: Agent = {
  id: 'talker',
  name: 'Talker',
  launches: {
    live: recipe({
      capabilities: { ...capabilities(), permissions: true, questions: true, resume: true },
      codec,
      launch: () => ({ kind: 'builtin', reply }),
    }),
  },
}

function capabilities() {
  if (!echo.launches.oneshot) throw new Error('echo has a oneshot launch')
  return echo.launches.oneshot.capabilities
}

function reply(written: string): Beat[] {
  const cues: Cue[] = JSON.parse(written)
  return cues.map(({ say: line, wait }) => ({ afterMs: wait ? 1 : 0, line: JSON.stringify(line) }))
}
