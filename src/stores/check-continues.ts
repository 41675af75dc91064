import { type Entry, MainstemError } from '../model/index.ts'

/** Refuses a gap or a repetition in a log, because it could not be repaired later. */
export function checkContinues(session: string, head: number, entries: readonly Entry[]): void {
  let expected = head
  for (const entry of entries) {
    if (entry.seq !== ++expected) {
      throw new MainstemError(
        'conflict',
        `log ${session} is at ${expected - 1}, entry ${entry.seq} does not follow`,
      )
    }
  }
}
