import { MainstemError } from '../model/index.ts'

/** What followed this cursor is not kept any more; silence would hide the gap. */
export function cursorGone(what: 'entries' | 'frames', earliest: number): MainstemError {
  return new MainstemError('cursor_gone', `${what} before ${earliest} are no longer kept`, { earliest })
}
