// Generated from the list of agents by `npm run schemas`; edit src/agents/index.ts, not this file.

import type { AgentId as NativeId } from '../model/agent-id.types.ts'

/** The id of an agent in events. Editors complete the known ids; adapters may have others. */
export type AgentId = Exclude<NativeId, 'claude'> | 'claude-code'
