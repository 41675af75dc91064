import type { OpencodeState } from './state.ts'

/** Marks our prompts in the inbox of a session that was resumed. */
const MARK = 'mainstem'

const TIME_DIGITS = 12
const STEPS_PER_MS = 4096n

/**
 * A new id in OpenCode's format: time in hexadecimal digits, then text. Messages are sorted by their id, so the time is
 * that of the server's last event, and the next number.
 */
export function newPromptId(state: OpencodeState, sessionId: string): string {
  const time = BigInt(state.clock + 1) * STEPS_PER_MS + BigInt(++state.prompts)
  const digits = time.toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS)
  return `msg_${digits}${MARK}${sessionId.slice(-6)}`
}

export function isOwnPrompt(id: string): boolean {
  return id.slice('msg_'.length + TIME_DIGITS).startsWith(MARK)
}
