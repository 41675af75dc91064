import { type Entry, MainstemError } from '../model/index.ts'

/** A gap or a repeat in a log can never be mended later, so it is refused now. */
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
