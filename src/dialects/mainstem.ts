import type { Entry } from '../model/index.ts'
import { type Dialect, defineDialect } from './dialect.ts'

interface MainstemState {
  ended: boolean
  showsRaw: boolean
}

/** Our own vocabulary: the entries as they are, with `raw=1` each beside the frame it came from. */
export const mainstem: Dialect = defineDialect({
  id: 'mainstem',
  initial: (options): MainstemState => ({ ended: false, showsRaw: options.raw === '1' }),
  project(state: MainstemState, entry: Entry, raw?: string) {
    if (entry.event.type === 'session.ended') state.ended = true
    return [state.showsRaw && raw !== undefined ? { ...entry, raw } : entry]
  },
  finished: (state) => state.ended,
})
