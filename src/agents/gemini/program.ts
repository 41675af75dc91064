import type { ProcessLaunch } from '../agent.ts'
import { filePath } from '../option.ts'

const SYSTEM_PROMPT = 'system.md'

/**
 * It ends without waiting until its output is taken, and what is left is lost: the end of a megabyte, and its result.
 * Output that blocks cannot be left. Nothing that it starts inherits this.
 */
const BLOCKING = 'process.stdout._handle?.setBlocking?.(true); delete process.env.NODE_OPTIONS'
export const KEEPS_OUTPUT = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BLOCKING)}` }

/** What every process of it has around its arguments. */
export function program(systemPrompt: string | undefined): Pick<ProcessLaunch, 'env' | 'passEnv' | 'files'> {
  const replaced = systemPrompt !== undefined
  return {
    env: {
      // Without it the process we start is a launcher that swallows signals and leaves its worker behind.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      ...(replaced && { GEMINI_SYSTEM_MD: filePath(SYSTEM_PROMPT) }),
    },
    passEnv: ['GEMINI_*', 'GOOGLE_*'],
    files: replaced ? [{ name: SYSTEM_PROMPT, text: systemPrompt }] : [],
  }
}
