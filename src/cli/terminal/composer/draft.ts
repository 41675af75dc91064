import { printable } from '../../render/printable.ts'
import { charactersOf } from '../../render/wrap.ts'
import { ENTER, ESCAPE, type Key } from '../key-reader.ts'

/** A prompt that is being written. */
export interface Draft {
  text: string
  /** Where the next character goes, in code units. */
  caret: number
  /** Earlier prompts, oldest first. */
  history: readonly string[]
  /** Which of them is shown; their number for the draft itself. */
  at: number
  /** The draft, while an earlier prompt is shown. */
  kept: string
}

/** What a key asks for, beyond a change of the text. */
export type Intent = 'queue' | 'steer' | 'interrupt' | 'complete' | 'leave'

interface Typed {
  draft: Draft
  intent?: Intent
}

export const NEW_DRAFT: Draft = { text: '', caret: 0, history: [], at: 0, kept: '' }

type Edit = (draft: Draft) => Draft

const CTRL_S = '\x13'
const CTRL_D = '\x04'

const INTENTS: Readonly<Record<string, Intent>> = {
  [CTRL_S]: 'steer',
  [ESCAPE]: 'interrupt',
  '\t': 'complete',
}

/** Ctrl-J; Alt and Enter; Shift and Enter where the terminal tells them apart. */
const NEW_LINE = ['\n', '\x1b\r', '\x1b\n', '\x1b[13;2u', '\x1b[27;2;13~']

const EDITS: ReadonlyMap<string, Edit> = new Map<string, Edit>([
  ...keys(NEW_LINE, (draft) => insert(draft, '\n')),
  ...keys(['\x7f', '\b'], (draft) => remove(draft, before(draft))),
  ...keys(['\x1b[3~'], (draft) => remove(draft, after(draft))),
  ...keys(['\x17', '\x1b\x7f', '\x1b\b'], (draft) => remove(draft, wordBefore(draft))),
  ...keys(['\x15'], (draft) => remove(draft, Math.min(lineStart(draft), Math.max(0, draft.caret - 1)))),
  ...keys(['\x0b'], (draft) => remove(draft, lineEnd(draft))),
  ...keys(['\x1b[D', '\x1bOD', '\x02'], (draft) => move(draft, before(draft))),
  ...keys(['\x1b[C', '\x1bOC', '\x06'], (draft) => move(draft, after(draft))),
  ...keys(['\x1b[1;5D', '\x1bb', '\x1b[1;3D'], (draft) => move(draft, wordBefore(draft))),
  ...keys(['\x1b[1;5C', '\x1bf', '\x1b[1;3C'], (draft) => move(draft, wordAfter(draft))),
  ...keys(['\x1b[H', '\x1bOH', '\x1b[1~', '\x01'], (draft) => move(draft, lineStart(draft))),
  ...keys(['\x1b[F', '\x1bOF', '\x1b[4~', '\x05'], (draft) => move(draft, lineEnd(draft))),
  ...keys(['\x1b[A', '\x1bOA', '\x10'], up),
  ...keys(['\x1b[B', '\x1bOB', '\x0e'], down),
])

function keys(sequences: readonly string[], edit: Edit): [string, Edit][] {
  return sequences.map((sequence) => [sequence, edit])
}

/** The draft after a key. `isLast`: no other key came with it; pasted text that is not marked has line breaks inside. */
export function typed(draft: Draft, key: Key, isLast = true): Typed {
  const { text } = key
  if (key.kind === 'paste') return { draft: insert(draft, text) }
  if (text === ENTER) return isLast ? entered(draft) : { draft: insert(draft, '\n') }
  if (text === CTRL_D) return draft.text === '' ? { draft, intent: 'leave' } : { draft }
  const intent = INTENTS[text]
  if (intent) return { draft, intent }
  const edit = EDITS.get(text)
  if (edit) return { draft: edit(draft) }
  return { draft: /^[\x00-\x1f\x7f]/.test(text) ? draft : insert(draft, text) }
}

/** A backslash at the end of the line continues it. */
function entered(draft: Draft): Typed {
  const { text, caret } = draft
  if (text[caret - 1] === '\\') return { draft: insert(remove(draft, caret - 1), '\n') }
  return text.trim() === '' ? { draft } : { draft, intent: 'queue' }
}

/** The draft after it was sent. */
export function sent({ text, history }: Draft): Draft {
  return { ...NEW_DRAFT, ...remembered(history, text) }
}

/** Adds a prompt that somebody sent to the history of a draft. */
export function remember(draft: Draft, prompt: string): Draft {
  const isPresent = draft.at === draft.history.length
  const { history, at } = remembered(draft.history, prompt)
  return { ...draft, history, at: isPresent ? at : draft.at }
}

function remembered(history: readonly string[], prompt: string): Pick<Draft, 'history' | 'at'> {
  const all = history.at(-1) === prompt ? history : [...history, prompt]
  return { history: all, at: all.length }
}

/** A text instead of the one that was written. */
export function replaced(draft: Draft, text: string): Draft {
  return { ...draft, text, caret: text.length }
}

function insert(draft: Draft, piece: string): Draft {
  const clean = printable(piece.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '  '))
  const { text, caret } = draft
  return { ...draft, text: text.slice(0, caret) + clean + text.slice(caret), caret: caret + clean.length }
}

/** Removes what is between the caret and a place. */
function remove(draft: Draft, place: number): Draft {
  const from = Math.min(place, draft.caret)
  const to = Math.max(place, draft.caret)
  return { ...draft, text: draft.text.slice(0, from) + draft.text.slice(to), caret: from }
}

function move(draft: Draft, caret: number): Draft {
  return { ...draft, caret }
}

function before({ text, caret }: Draft): number {
  const last = [...charactersOf(text.slice(0, caret))].at(-1)
  return last?.index ?? 0
}

function after({ text, caret }: Draft): number {
  const [first] = charactersOf(text.slice(caret))
  return caret + (first?.segment.length ?? 0)
}

function wordBefore({ text, caret }: Draft): number {
  return text.slice(0, caret).replace(/\S+\s*$|\s+$/u, '').length
}

function wordAfter({ text, caret }: Draft): number {
  return caret + (/^\s*\S*/u.exec(text.slice(caret))?.[0].length ?? 0)
}

function lineStart({ text, caret }: Draft): number {
  return text.lastIndexOf('\n', caret - 1) + 1
}

function lineEnd({ text, caret }: Draft): number {
  const end = text.indexOf('\n', caret)
  return end === -1 ? text.length : end
}

/** To the line above; from the first line, to the prompt before. */
function up(draft: Draft): Draft {
  const start = lineStart(draft)
  if (start === 0) return recall(draft, draft.at - 1)
  const above = lineStart({ ...draft, caret: start - 1 })
  return move(draft, Math.min(above + draft.caret - start, start - 1))
}

/** To the line below; from the last line, to the prompt after. */
function down(draft: Draft): Draft {
  const end = lineEnd(draft)
  if (end === draft.text.length) return recall(draft, draft.at + 1)
  const below = lineEnd({ ...draft, caret: end + 1 })
  return move(draft, Math.min(end + 1 + draft.caret - lineStart(draft), below))
}

function recall(draft: Draft, at: number): Draft {
  const { history, text, kept } = draft
  if (at < 0 || at > history.length) return draft
  const own = draft.at === history.length ? text : kept
  return replaced({ ...draft, at, kept: own }, history[at] ?? own)
}
