import { CHANGED_INPUT, type Limit, PARTIAL_USAGE, refused } from './limit.ts'

const RECORDED = 'src/agents/opencode/fixtures/opencode'

export const OPENCODE_LIMITS: readonly Limit[] = [
  { ...PARTIAL_USAGE, programs: ['opencode'], launch: 'oneshot' },
  { ...CHANGED_INPUT, programs: ['opencode'], launch: 'live' },
  {
    scenarios: ['deltas'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'It prints each text once, when it is complete.',
    seen: /^the text came in no deltas$/,
    evidence: `${RECORDED}/text`,
  },
  {
    scenarios: ['structured'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Only its server accepts a schema; refused before it starts.',
    seen: refused('outputSchema'),
  },
  {
    scenarios: ['subagent-events'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Its output contains the call that starts a sub-agent, and omits the events inside it.',
    seen: /^no event inside the sub-agent was reported$/,
  },
  {
    scenarios: ['interrupt-memory', 'crash-memory'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'It forgets a first prompt whose process is stopped; a notice (context_lost) reports the loss.',
    seen: /^the model was not sent SCENARIO:long; notices: (?:\w+,)*context_lost/,
  },
  {
    scenarios: ['proposal'],
    programs: ['opencode'],
    launch: 'live',
    reason: 'Its plan mode has no tool that proposes a plan; an experimental one works in its terminal only.',
    seen: /^no plan was proposed; the answer is "\[no tool to propose among /,
  },
]
