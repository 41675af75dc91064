import { MainstemError } from '../model/index.ts'

/** The entries after this cursor were trimmed. Refusing shows the gap. */
export function cursorGone(what: 'entries' | 'frames', earliest: number): MainstemError {
  return new MainstemError('cursor_gone', `${what} before ${earliest} are no longer kept`, { earliest })
}
