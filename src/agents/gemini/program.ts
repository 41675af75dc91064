import type { ProcessLaunch } from '../agent.ts'
import { filePath } from '../option.ts'

const SYSTEM_PROMPT = 'system.md'

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
