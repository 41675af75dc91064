import type { ErrorInfo } from '../../model/index.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emitAll } from '../kit/decoded.ts'
import { type Fields, flag, text, texts } from '../kit/fields.ts'
import { type ClaudeState, closeTurn, openTurn } from './state.ts'

/** A turn that restores files. The files are listed by a trial run first: the response to the real one names none. */
export interface Rewind {
  /** The prompt before which the files are restored. */
  readonly target: string
  /** The files, once the trial run has named them. */
  files: readonly string[] | undefined
}

export function rewindRequest(target: string, isTrial: boolean): Fields {
  return { subtype: 'rewind_files', user_message_id: target, ...(isTrial && { dry_run: true }) }
}

/** Opens the turn when its trial run is requested. */
export function noteRewind(state: ClaudeState, request: Fields, promptId?: string): boolean {
  if (!flag(request, 'dry_run') || state.turn.open) return false
  openTurn(state, 'begun', promptId)
  state.turn.rewind = { target: text(request, 'user_message_id') ?? '', files: undefined }
  return true
}

/** Decodes the response to a rewind. Returns the prompt to restore the files of, after a trial run that succeeded. */
export function decodeRewind(
  state: ClaudeState,
  response: Fields,
  answer: Fields,
): { next: string } | { ended: Decoded } {
  const { rewind } = state.turn
  const failure =
    text(response, 'error') ?? (flag(answer, 'canRewind') ? undefined : (text(answer, 'error') ?? 'refused'))
  if (failure !== undefined || !rewind)
    return { ended: emitAll(endRewind(state, undefined, failureOf(failure))) }
  if (rewind.files) return { ended: emitAll(endRewind(state, rewind.files)) }
  rewind.files = texts(answer, 'filesChanged') ?? []
  return { next: rewind.target }
}

function failureOf(message = 'There is no rewind to answer.'): ErrorInfo {
  return { code: 'conflict', message }
}

function endRewind(state: ClaudeState, files: readonly string[] | undefined, error?: ErrorInfo): Emitted[] {
  closeTurn(state)
  const verdict = { type: 'turn.verdict', denials: 0, personDenials: 0 } as const
  if (error || !files) return [{ ...verdict, evidence: 'error', ...(error && { error }) }]
  const changes = files.map(
    (path): Emitted => ({ type: 'file.changed', path, change: 'modified', changeReported: false }),
  )
  return [...changes, { ...verdict, evidence: 'success', result: resultOf(files) }]
}

function resultOf(files: readonly string[]): string {
  if (files.length === 0) return 'No file has changed since.'
  return `Restored ${files.length === 1 ? '1 file' : `${files.length} files`}:\n${files.join('\n')}`
}
