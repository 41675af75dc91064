import { type Limit, refused } from './limit.ts'

const RECORDED = 'src/agents/pi/fixtures/pi'

/** Features that the program has only with extensions. */
const NO_TOOL = 'It has no such tool without an extension.'

const LIMITS: readonly Omit<Limit, 'programs'>[] = [
  {
    scenarios: ['structured'],
    reason: 'It has no structured output; refused before it starts.',
    seen: refused('outputSchema'),
  },
  {
    scenarios: ['mcp', 'mcp-killed'],
    reason: 'It reads servers from a file only; refused before it starts.',
    seen: refused('mcpServers'),
  },
  {
    scenarios: ['write'],
    reason: 'It does not report whether a file existed: a new file is `modified`, marked as not reported.',
    seen: /^the changes are \[\["\/work\/hello\.txt","modified"\]\]$/,
    evidence: `${RECORDED}/overwrite`,
  },
  { scenarios: ['plan'], reason: NO_TOOL, seen: /\[no tool to plan among / },
  {
    scenarios: ['subagent', 'subagent-events', 'subagent-usage'],
    reason: NO_TOOL,
    seen: /\[no tool to delegate among /,
  },
  { scenarios: ['question'], launch: 'live', reason: NO_TOOL, seen: /\[no tool to ask among / },
  { scenarios: ['proposal'], launch: 'live', reason: 'It has no plan mode.', seen: /^it has no plan mode$/ },
  { scenarios: ['set-mode'], reason: 'It has no modes.', seen: /^it has no other mode$/ },
  {
    scenarios: ['crash-memory'],
    reason: 'It stores a first prompt with its answer; a notice (context_lost) reports the loss.',
    seen: /^the model was not sent SCENARIO:long; notices: (?:\w+,)*context_lost/,
  },
  {
    scenarios: ['interrupt-memory'],
    launch: 'oneshot',
    reason: 'It stores a first prompt with its answer; a notice (context_lost) reports the loss.',
    seen: /^the model was not sent SCENARIO:long; notices: (?:\w+,)*context_lost/,
  },
  {
    scenarios: ['images'],
    launch: 'oneshot',
    reason: 'Only its live launch accepts images; refused before it starts.',
    seen: refused('images'),
  },
  {
    scenarios: ['set-model'],
    launch: 'oneshot',
    reason: 'Its one-shot launch keeps the model of a conversation; refused before it starts.',
    seen: refused('setModel'),
    ours: true,
  },
]

export const PI_LIMITS: readonly Limit[] = LIMITS.map((limit) => ({ ...limit, programs: ['pi'] }))
