import * as z from 'zod'
import { OUTSIDE_ID } from '../../model/index.ts'

/** Product names, in lower case without punctuation, and the agent ids they map to. */
const PRODUCTS: ReadonlyMap<string, string> = new Map([
  ['claudecode', 'claude'],
  ['claudecli', 'claude'],
  ['codexcli', 'codex'],
  ['openaicodex', 'codex'],
  ['geminicli', 'gemini'],
  ['opencode', 'opencode'],
  ['opencodecli', 'opencode'],
])

/** Accepts an agent id or a product name in any spelling: `claude-code`, `claudeCode`. */
export const AgentName = z
  .string()
  .regex(OUTSIDE_ID, 'not an agent id')
  .transform((name) => PRODUCTS.get(name.toLowerCase().replaceAll(/[._-]/g, '')) ?? name)
