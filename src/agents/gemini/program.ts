import type { ProcessLaunch } from '../agent.ts'
import { filePath } from '../kit/option.ts'

const SYSTEM_PROMPT = 'system.md'

/**
 * Gemini exits before its output is flushed and loses the rest: the end of a megabyte, and its result. Blocking output
 * prevents that. Child processes do not inherit this.
 */
const BLOCKING = 'process.stdout._handle?.setBlocking?.(true); delete process.env.NODE_OPTIONS'
export const KEEPS_OUTPUT = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BLOCKING)}` }

/** Commands of other agents' terminals that no launch of Gemini has outside of its own terminal. */
export const LACKS = {
  fork: 'it has no command to copy a conversation',
  compact: 'only its own terminal has the command',
  review: 'it has no such command',
  goal: 'it has no goals',
  rewind: 'only its own terminal can restore files',
}

/** The environment and files of every Gemini process. */
export function program(systemPrompt: string | undefined): Pick<ProcessLaunch, 'env' | 'passEnv' | 'files'> {
  const replaced = systemPrompt !== undefined
  return {
    env: {
      // Without it the process is a launcher that ignores signals and leaves its worker behind.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      ...(replaced && { GEMINI_SYSTEM_MD: filePath(SYSTEM_PROMPT) }),
    },
    passEnv: ['GEMINI_*', 'GOOGLE_*'],
    files: replaced ? [{ name: SYSTEM_PROMPT, text: systemPrompt }] : [],
  }
}
