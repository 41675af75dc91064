import { MainstemError } from '../model/index.ts'

export function draining(): MainstemError {
  return new MainstemError('draining', 'the server is stopping')
}

/** The refusal of a suspended session. Only another node can continue it; without one, it is over for its callers. */
export function suspended(node: string | undefined): MainstemError {
  return node === undefined ? endedConflict() : draining()
}

/** The refusal of a command for a session that has ended. */
export function endedConflict(): MainstemError {
  return new MainstemError('conflict', 'the session has ended', {
    advice: 'Create a new session; the log of this one can still be read.',
  })
}

/** The refusal of a second prompt for a session that runs one task. */
export function singleTask(id: string): MainstemError {
  return new MainstemError('conflict', `session ${id} runs a single task and takes no more prompts`, {
    advice: 'Create a new session for the next prompt.',
  })
}
