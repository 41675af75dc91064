import { type Limit, refused } from './limit.ts'

const RECORDED = 'src/agents/codex/fixtures/codex'

export const CODEX_LIMITS: readonly Limit[] = [
  {
    scenarios: ['deltas'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'Its text comes when it is whole.',
    seen: /^the text came in one piece$/,
    evidence: `${RECORDED}/plain`,
  },
  {
    scenarios: ['diffs'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'It names the files that it changed, and not what changed in them.',
    seen: /^it told of a file that is modified: undefined$/,
    evidence: `${RECORDED}/file`,
  },
  {
    scenarios: ['cost'],
    programs: ['codex', 'codex-acp'],
    reason: 'It tells tokens, and no price.',
    seen: /^usage is \{"input":\d+,(?!.*cost)/,
    evidence: `${RECORDED}/plain`,
  },
  {
    scenarios: ['steps'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'It has no such limit, and does not tell its model calls one by one; refused before it starts.',
    seen: refused('maxSteps'),
  },
  {
    scenarios: ['set-mode'],
    programs: ['codex'],
    launch: 'oneshot',
    reason: 'Only its live launch has modes; refused before it is tried.',
    seen: refused('setMode'),
  },
  {
    scenarios: ['proposal'],
    programs: ['codex'],
    launch: 'live',
    reason: 'A plan is its answer, and its turn ends with it: nobody is asked to approve it.',
    seen: /^nobody was asked about a plan; it said "1\. Do A/,
    evidence: `${RECORDED}/as_proposal`,
  },
]
