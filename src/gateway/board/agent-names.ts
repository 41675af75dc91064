import { z } from 'zod'
import { OUTSIDE_ID } from '../../model/index.ts'

/** Names of products, without capitals and signs between words, that clients use for our shorter ones. */
const PRODUCTS: ReadonlyMap<string, string> = new Map([
  ['claudecode', 'claude'],
  ['claudecli', 'claude'],
  ['codexcli', 'codex'],
  ['openaicodex', 'codex'],
  ['geminicli', 'gemini'],
  ['opencode', 'opencode'],
  ['opencodecli', 'opencode'],
])

/** An agent by our id, or by the name of its product however it is written: `claude-code`, `claudeCode`. */
export const AgentName = z
  .string()
  .regex(OUTSIDE_ID, 'not the id of an agent')
  .transform((name) => PRODUCTS.get(name.toLowerCase().replaceAll(/[._-]/g, '')) ?? name)
