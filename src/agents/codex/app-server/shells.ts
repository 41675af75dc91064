import type { Write } from '../../agent.ts'
import { type Fields, isFields, list, text } from '../../fields.ts'
import { callServer } from './calls.ts'
import type { State } from './state.ts'

/** The commands of the main thread that are running now. */
export function runningCommands({ ledger }: State): string[] {
  return [...ledger.tools.values()].flatMap(({ kind, parent, nativeId }) =>
    kind === 'execute' && parent === undefined ? [nativeId] : [],
  )
}

/** An interrupted turn leaves its shells running. They are looked up by the calls that started them. */
export function findShells(state: State, commands: readonly string[]): Write[] {
  // A transcript is only read: nobody is there to write to.
  if (!state.opening || commands.length === 0) return []
  for (const id of commands) state.abandoned.add(id)
  return [callServer(state, 'thread/backgroundTerminals/list', { threadId: state.threadId })]
}

/** Ends what was found of them. Other terminals may be meant to run on, such as a server. */
export function endShells(state: State, result: Fields): Write[] {
  const found = list(result, 'data').filter(isFields)
  const shells = found.filter((shell) => state.abandoned.has(text(shell, 'itemId') ?? ''))
  state.abandoned.clear()
  return shells.map(({ processId }) =>
    callServer(state, 'thread/backgroundTerminals/terminate', { threadId: state.threadId, processId }),
  )
}
