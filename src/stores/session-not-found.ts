import { MainstemError } from '../model/index.ts'

export function sessionNotFound(session: string): MainstemError {
  return new MainstemError('session_not_found', `there is no session ${session}`)
}
