import { type Limit, OPTIONS_ONLY, PARTIAL_USAGE, refused } from './limit.ts'

const RECORDED = 'src/agents/codex/fixtures/codex'

/** Limits of both columns of Codex. */
const CODEX = ['codex', 'codex-default']

export const CODEX_LIMITS: readonly Limit[] = [
  { ...PARTIAL_USAGE, programs: CODEX, launch: 'oneshot' },
  ...OPTIONS_ONLY.map((limit) => ({
    ...limit,
    programs: CODEX,
    launch: 'live' as const,
    evidence: `${RECORDED}/as_approval_decline`,
  })),
  {
    scenarios: ['deltas'],
    programs: CODEX,
    launch: 'oneshot',
    reason: 'It prints each text once, when it is complete.',
    seen: /^the text came in no deltas$/,
    evidence: `${RECORDED}/plain`,
  },
  {
    scenarios: ['diffs'],
    programs: CODEX,
    launch: 'oneshot',
    reason: 'It names the changed files and omits the diff.',
    seen: /^the change is modified without a diff$/,
    evidence: `${RECORDED}/file`,
  },
  {
    scenarios: ['cost', 'budget', 'budget-per-turn'],
    programs: [...CODEX, 'codex-acp'],
    reason: 'It reports tokens and no price.',
    seen: /^no cost in \{"input":\d+,/,
    evidence: `${RECORDED}/plain`,
  },
  {
    scenarios: ['subagent-events'],
    programs: CODEX,
    launch: 'oneshot',
    reason: 'Its output names a sub-agent and its result, and omits the events in between.',
    seen: /^no event inside the sub-agent was reported$/,
  },
  {
    scenarios: ['steps'],
    programs: CODEX,
    launch: 'oneshot',
    reason: 'It has no such limit and does not report single model calls; refused before it starts.',
    seen: refused('maxSteps'),
  },
  {
    scenarios: ['set-mode'],
    programs: CODEX,
    launch: 'oneshot',
    reason: 'Only its live launch has modes; refused before it starts.',
    seen: refused('setMode'),
  },
  {
    scenarios: ['proposal'],
    programs: CODEX,
    launch: 'live',
    reason: 'A plan is its final answer: the turn ends without a request for approval.',
    seen: /^no plan was proposed; the answer is "1\. Do A/,
    evidence: `${RECORDED}/as_proposal`,
  },
  {
    scenarios: ['plan'],
    programs: ['codex-default'],
    reason: 'Its to-do list is disabled by default.',
    seen: /^the list is \[\]$/,
  },
  {
    scenarios: ['subagent'],
    programs: ['codex-default'],
    launch: 'oneshot',
    reason: 'Its output omits sub-agents of the default model.',
    seen: /^0 sub-agents were reported$/,
  },
  {
    scenarios: ['question'],
    programs: ['codex-default'],
    launch: 'live',
    reason: 'Questions outside of plan mode are disabled by default.',
    seen: /^no request was opened; the outcome is completed/,
  },
]
