import type { Write } from '../../agent.ts'
import { type Fields, isFields, list, text } from '../../kit/fields.ts'
import { callServer } from './calls.ts'
import type { AppServerState } from './state.ts'

/** The running commands of the main thread. */
export function runningCommands({ ledger }: AppServerState): string[] {
  return [...ledger.tools.values()].flatMap(({ kind, parent, nativeId }) =>
    kind === 'execute' && parent === undefined ? [nativeId] : [],
  )
}

/** An interrupted turn leaves its shells running. Looks them up by the calls that started them. */
export function findShells(state: AppServerState, commands: readonly string[]): Write[] {
  // A transcript is only read: there is no process to write to.
  if (!state.opening || commands.length === 0) return []
  for (const id of commands) state.abandoned.add(id)
  return [callServer(state, 'thread/backgroundTerminals/list', { threadId: state.threadId })]
}

/** Terminates the shells that were found. Other terminals, such as a server, may be meant to keep running. */
export function endShells(state: AppServerState, result: Fields): Write[] {
  const found = list(result, 'data').filter(isFields)
  const shells = found.filter((shell) => state.abandoned.has(text(shell, 'itemId') ?? ''))
  state.abandoned.clear()
  return shells.map(({ processId }) =>
    callServer(state, 'thread/backgroundTerminals/terminate', { threadId: state.threadId, processId }),
  )
}
