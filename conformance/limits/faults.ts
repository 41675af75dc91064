import type { Limit } from './limit.ts'

/** Known faults of Mainstem. A fault that is fixed turns its cell red until its entry is removed. */
export const KNOWN_FAULTS: readonly Limit[] = [
  {
    scenarios: ['subagent-usage'],
    programs: ['claude', 'codex', 'codex-default', 'opencode'],
    reason: 'The usage of a turn does not include its sub-agents yet.',
    seen: /^usage is \{"input":\d+,.* and the model reported /,
    ours: true,
  },
  {
    scenarios: ['subagent-usage'],
    programs: ['gemini'],
    launch: 'live',
    reason: 'The usage of a turn does not include its sub-agents yet.',
    seen: /^usage is \{"input":\d+,.* and the model reported /,
    ours: true,
  },
]
