import { MainstemError } from '../model/index.ts'

/** The refusal of a command for a session that has ended. */
export function endedConflict(): MainstemError {
  return new MainstemError('conflict', 'the session has ended', {
    advice: 'Create a new session; the log of this one can still be read.',
  })
}
