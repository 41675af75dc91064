import { MainstemError } from '../model/index.ts'

export function draining(): MainstemError {
  return new MainstemError('draining', 'the server is stopping')
}
