import type { SessionFacts, SessionRecord } from 'mainstem/client'
import { Store } from '../app/store.ts'

/** The session on screen, for commands that act on it from elsewhere. */
export const currentSession = new Store<{ record: SessionRecord; facts: SessionFacts } | undefined>(undefined)
