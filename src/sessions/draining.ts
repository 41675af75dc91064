import { MainstemError } from '../model/index.ts'
import { endedConflict } from './ended-conflict.ts'

export function draining(): MainstemError {
  return new MainstemError('draining', 'the server is stopping')
}

/** The refusal of a suspended session. Only another node can continue it; without one, it is over for its callers. */
export function suspended(node: string | undefined): MainstemError {
  return node === undefined ? endedConflict() : draining()
}
