/** Every launch of every agent that a fake stands in for. */
export const AGENTS = [
  ['claude', 'live'],
  ['codex', 'live'],
  ['gemini', 'live'],
  ['opencode', 'live'],
  ['pi', 'live'],
  ['acp', 'live'],
  ['claude', 'oneshot'],
  ['codex', 'oneshot'],
  ['gemini', 'oneshot'],
  ['opencode', 'oneshot'],
  ['pi', 'oneshot'],
] as const

/** What prompts order; `fakes/actor.ts` explains the words. */
export const SCRIPTS = [
  'say',
  'say ask say',
  'ask ask leak',
  'spawn say ask say',
  'slow say ask say',
  'say hang',
  'say hang twice',
  'say hang late',
  'slow say say never',
  'slow say hang never',
  'say double',
  'say ask say double',
  'say stray',
  'slow say say late',
  'say die',
  'say freeze say',
]
