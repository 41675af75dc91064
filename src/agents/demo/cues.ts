import type { PlanItem } from '../../model/events/work.ts'
import type { Usage } from '../../model/index.ts'
import type { DemoLine, DemoLineOf } from './native.ts'

/** A line of the script, emitted `afterMs` after the previous one. */
export interface DemoCue {
  readonly afterMs: number
  readonly line: DemoLine
}

export type Scene = readonly DemoCue[]

/** Reading speed, after the typical latency of a model. */
const MS_PER_LETTER = 28
const MS_TO_BEGIN = 1000

export function cue(afterMs: number, line: DemoLine): DemoCue {
  return { afterMs, line }
}

/** A message as a model streams it: one or two words at a time. */
function stream(of: 'text' | 'thinking', id: string, text: string, agent?: string): Scene {
  const pieces = text.match(/\s*\S+(?: \S{1,3}(?= ))?/g) ?? []
  const deltas = pieces.map((piece, index) =>
    cue((index === 0 ? MS_TO_BEGIN : 0) + piece.length * MS_PER_LETTER, {
      type: 'delta',
      of,
      id,
      text: piece,
      ...(agent !== undefined && { agent }),
    }),
  )
  return [...deltas, cue(0, { type: 'said', id })]
}

export function message(id: string, text: string, agent?: string): Scene {
  return stream('text', id, text, agent)
}

export function think(id: string, text: string): Scene {
  return stream('thinking', id, text)
}

/** The last message of a turn. */
export function conclude(id: string, text: string, usage: Usage): Scene {
  return [...message(id, text), cue(300, { type: 'spent', usage }), cue(0, { type: 'end', result: text })]
}

/** A plan in which the steps before `current` are completed and the later ones pending. */
export function plan(steps: readonly string[], current: number): DemoCue {
  const items = steps.map((text, index): PlanItem => {
    const status = index < current ? 'completed' : index === current ? 'in_progress' : 'pending'
    return { text, status }
  })
  return cue(1000, { type: 'plan', items })
}

/** A call and, after its duration, its result. */
export function run(
  call: Omit<DemoLineOf<'call'>, 'type'>,
  ms: number,
  result: Omit<DemoLineOf<'result'>, 'type' | 'id'>,
): Scene {
  return [cue(500, { type: 'call', ...call }), cue(ms, { type: 'result', id: call.id, ms, ...result })]
}

/** The duration of a scene at its original speed. */
export function playTime(scene: Scene): number {
  return scene.reduce((sum, { afterMs }) => sum + afterMs, 0)
}
