import { type Limit, refused } from './limit.ts'

export const OPENCODE_LIMITS: readonly Limit[] = [
  {
    scenarios: ['deltas'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Its text comes when it is whole.',
    seen: /^the text came in one piece$/,
    evidence: 'src/agents/opencode/fixtures/opencode/text',
  },
  {
    scenarios: ['structured'],
    programs: ['opencode'],
    launch: 'oneshot',
    reason: 'Only its server takes a schema; refused before it starts.',
    seen: refused('outputSchema'),
  },
  {
    scenarios: ['proposal'],
    programs: ['opencode'],
    launch: 'live',
    reason:
      'Its plan mode has no tool to show a plan with; one that is an experiment is for its own terminal.',
    seen: /^nobody was asked about a plan; it said "\[no tool to propose among /,
  },
]
