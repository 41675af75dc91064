import type { Entry } from '../model/index.ts'
import { type Dialect, defineDialect } from './dialect.ts'

/** Our own vocabulary: the entries as they are. */
export const mainstem: Dialect = defineDialect({
  id: 'mainstem',
  initial: () => ({ ended: false }),
  project(state: { ended: boolean }, entry: Entry) {
    if (entry.event.type === 'session.ended') state.ended = true
    return [entry]
  },
  finished: (state) => state.ended,
})
