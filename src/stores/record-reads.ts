import type { AcceptedPrompt } from '../model/queue-preview.ts'
import { READ_BYTES } from './read-bytes.ts'
import type { DailyUsage, JournalFrame, Store } from './store.ts'

type Reads = 'queuedPrompt' | 'counts' | 'nativeOwners' | 'dailyUsage'

/** A reader of records; one that waits for nothing may answer at once. */
export type RecordSource = {
  [Name in Reads]: (
    ...args: Parameters<Store[Name]>
  ) => ReturnType<Store[Name]> | Awaited<ReturnType<Store[Name]>>
}

export interface JournalSource {
  readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes: number,
  ): Promise<readonly JournalFrame[]> | readonly JournalFrame[]
}

/** The reads of a store that do not depend on commits under way: the readers of its database answer them. */
export abstract class RecordReads {
  readonly #records: RecordSource
  readonly #journal: JournalSource

  constructor(records: RecordSource, journal: JournalSource) {
    this.#records = records
    this.#journal = journal
  }

  async queuedPrompt(session: string, turn: number): Promise<AcceptedPrompt | undefined> {
    return this.#records.queuedPrompt(session, turn)
  }

  async counts(): ReturnType<Store['counts']> {
    return this.#records.counts()
  }

  async nativeOwners(native: string): Promise<readonly string[]> {
    return this.#records.nativeOwners(native)
  }

  async dailyUsage(principal?: string): Promise<readonly DailyUsage[]> {
    return this.#records.dailyUsage(principal)
  }

  async readJournal(
    session: string,
    after: number,
    limit: number,
    maxBytes = READ_BYTES,
  ): Promise<readonly JournalFrame[]> {
    return this.#journal.readJournal(session, after, limit, maxBytes)
  }
}
