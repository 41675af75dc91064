import type { Emitted, Start } from '../agent.ts'
import { compact, type Fields, fields, isFields, text, texts } from '../kit/fields.ts'
import type { ClaudeState } from './state.ts'

/**
 * Associates output with the prompt that caused it. Newer versions name the prompts on `init`, on messages and on
 * results. Older versions name none: there, output counts only after a sign that the agent has started the turn.
 */
export interface Binding {
  /** The prompts that the open turn answers. */
  readonly promptIds: Set<string>
  /** The progress of the open turn: prompt sent, turn started, or model output received. */
  progress: 'sent' | 'begun' | 'output'
  /** The strongest sign of a turn's start in this process. Some versions print `init` once, some print only results. */
  sign: 'none' | 'message' | 'init'
  /** The number of results; before the first one no output can be late. */
  results: number
  /** The id of the last result line. */
  lastResult: string | undefined
}

export function newBinding({ launch }: Start): Binding {
  const progress = launch === 'oneshot' ? 'begun' : 'sent'
  return { promptIds: new Set(), progress, sign: 'none', results: 0, lastResult: undefined }
}

/** Opens a turn for a prompt that was just sent, or because the agent has started one. */
export function bind({ binding }: ClaudeState, progress: 'sent' | 'begun', promptId?: string): void {
  binding.promptIds.clear()
  binding.progress = progress
  if (promptId !== undefined) binding.promptIds.add(promptId)
}

/** Adds a prompt that joined the open turn. */
export function bindSteer({ binding }: ClaudeState, promptId: string | undefined): void {
  if (promptId !== undefined) binding.promptIds.add(promptId)
}

/** Records that the agent has started our prompt, identified by its id or by the `init` before each turn. */
export function noteBegun(state: ClaudeState, native: Fields): void {
  const { binding } = state
  if (binding.progress !== 'sent' || namesOthers(state, native)) return
  binding.progress = 'begun'
  // Every version prints one at the start; only a later one shows that it comes with each turn.
  if (binding.results > 0) binding.sign = 'init'
  else if (binding.sign === 'none') binding.sign = 'message'
}

/** Returns whether a message of the main thread belongs to the open turn. */
export function ownsMessage(state: ClaudeState, native: Fields, messageId: string): boolean {
  const { binding } = state
  const { stream } = state.turn
  if (state.start.launch === 'oneshot') return true
  if (!state.turn.open || namesOthers(state, native)) return false
  if (stream.late && stream.messageId === messageId) return false
  if (binding.progress === 'sent') {
    const announced = binding.sign === 'init' || namesPrompts(state)
    if (announced && binding.results > 0 && promptsOf(native).length === 0) return false
    if (binding.sign === 'none') binding.sign = 'message'
  }
  binding.progress = 'output'
  return true
}

/** Returns whether a result belongs to the open turn. Counts each result, so call it once per result. */
export function ownsResult(state: ClaudeState, native: Fields): boolean {
  const { binding } = state
  const owned = state.turn.open && explains(state, native)
  binding.results++
  binding.lastResult = text(native, 'uuid')
  if (owned) binding.progress = 'begun'
  return owned
}

function explains(state: ClaudeState, native: Fields): boolean {
  const { binding } = state
  if (isOwnWork(state, native)) return true
  if (namesOthers(state, native)) return false
  const repeated = binding.lastResult !== undefined && binding.lastResult === text(native, 'uuid')
  if (repeated && binding.progress !== 'output') return false
  if (promptsOf(native).length > 0 || binding.results === 0) return true
  // Our interrupt arrived before the turn started.
  if (state.turn.interrupting && isAborted(native)) return true
  if (namesPrompts(state)) return false
  return binding.progress !== 'sent' || binding.sign === 'none'
}

/** Background work ended just as our prompt was sent, and the agent continued with that first. */
export function isOwnWork({ turn: { waiting } }: ClaudeState, native: Fields): boolean {
  return waiting !== undefined && text(fields(native, 'origin'), 'kind') === 'task-notification'
}

/** The agent will name our prompt when it starts it, and has not done so yet. */
function namesPrompts({ lifecycle, turn: { waiting } }: ClaudeState): boolean {
  return lifecycle && waiting?.promptId !== undefined
}

/** The agent cancelled the turn before its end. */
export function isAborted(native: Fields): boolean {
  return text(native, 'terminal_reason')?.startsWith('aborted_') ?? false
}

function promptsOf(native: Fields): string[] {
  const named = texts(native, 'user_message_uuids')
  if (named && named.length > 0) return named
  const one = text(native, 'user_message_uuid')
  return one === undefined ? [] : [one]
}

function namesOthers({ binding: { promptIds } }: ClaudeState, native: Fields): boolean {
  if (promptIds.size === 0) return false
  const named = promptsOf(native)
  return named.length > 0 && !named.some((id) => promptIds.has(id))
}

/** A result without an open prompt ends no turn; a notice preserves its text. */
export function strayResult(native: Fields): Emitted {
  const reason = text(native, 'terminal_reason') ?? text(native, 'subtype')
  return {
    type: 'notice.raised',
    level: 'warning',
    code: 'late_frame',
    message: 'Ignored a result without an open prompt.',
    data: compact({ result: text(native, 'result'), reason }),
  }
}

/** Output that belongs to no open turn. */
export function strayBlocks(content: readonly unknown[]): Emitted[] {
  return content.filter(isFields).map((block) => {
    const kind = text(block, 'type') ?? '?'
    const message = text(block, 'text') ?? text(block, 'thinking') ?? text(block, 'name') ?? kind
    const data = compact({ kind, toolId: text(block, 'id'), input: block.input })
    return { type: 'notice.raised', level: 'info', code: 'late_frame', message, data }
  })
}
