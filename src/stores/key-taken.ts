import { MainstemError } from '../model/index.ts'
import type { Receipt } from './store.ts'

export function keyTaken({ key }: Receipt): MainstemError {
  return new MainstemError('conflict', `key "${key}" was used before`)
}
