import type { Entry } from '../model/index.ts'
import { type Dialect, defineDialect } from './dialect.ts'

interface MainstemState {
  ended: boolean
  showsRaw: boolean
}

/** The native dialect: entries unchanged; with `raw=1` each comes with its native frame. */
export const mainstem: Dialect = defineDialect({
  id: 'mainstem',
  initial: (options): MainstemState => ({ ended: false, showsRaw: options.raw === '1' }),
  project(state: MainstemState, entry: Entry, raw?: string) {
    if (entry.event.type === 'session.ended') state.ended = true
    return [state.showsRaw && raw !== undefined ? { ...entry, raw } : entry]
  },
  finished: (state) => state.ended,
})
