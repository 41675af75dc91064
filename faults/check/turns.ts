import type { Entry, Outcome } from '../../src/model/index.ts'

/** The events of one turn in a log. */
export interface LoggedTurn {
  turn: number
  /** The first word of the prompt; absent for a turn that the agent began. */
  name: string | undefined
  text: string
  result: string | undefined
  outcome: Outcome | undefined
  /** Where the terminal event is. */
  endedAt: number | undefined
}

/** The name of a prompt: its first word. */
export function nameOf(prompt: string | undefined): string | undefined {
  return prompt?.trim().split(' ')[0]
}

export function turnsOf(entries: readonly Entry[]): Map<number, LoggedTurn> {
  const turns = new Map<number, LoggedTurn>()
  for (const { event, turn, seq } of entries) {
    if (event.type === 'turn.started') turns.set(event.turn, begun(event.turn, nameOf(event.prompt)))
    const open = turn === undefined ? undefined : turns.get(turn)
    if (!open) continue
    if (event.type === 'text.completed' && event.parent === undefined) open.text += event.text
    if (event.type !== 'turn.completed' || event.turn !== turn) continue
    open.outcome = event.outcome
    open.result = event.result
    open.endedAt = seq
  }
  return turns
}

function begun(turn: number, name: string | undefined): LoggedTurn {
  return { turn, name, text: '', result: undefined, outcome: undefined, endedAt: undefined }
}

/** The agent finished the turn by itself, so all of its work must be there. */
export function isWhole({ outcome }: LoggedTurn): boolean {
  return outcome === 'completed' || outcome === 'denied'
}
