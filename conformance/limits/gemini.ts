import { type Limit, OPTIONS_ONLY, PARTIAL_USAGE, refused } from './limit.ts'

const RECORDED = 'src/agents/gemini/fixtures/gemini'
const RECORDED_LIVE = 'src/agents/gemini/fixtures/acp-gemini'

const IN_SETTINGS =
  'It reads this from settings files only, and another home directory would lose the login; refused before it starts.'

const EVERY_SUCCESS = 'It does not report exit codes: every command that ran is a success.'
const ENDS = 'A broken stream ends its turn with an error.'

const NO_INNER_EVENTS: Limit = {
  scenarios: ['subagent-events'],
  reason: 'It reports that a sub-agent runs and omits the events inside it.',
  seen: /^no event inside the sub-agent was reported$/,
}

/** Of `gemini --acp`. */
const LIVE: readonly Limit[] = [
  PARTIAL_USAGE,
  ...OPTIONS_ONLY.map((limit) => ({ ...limit, evidence: `${RECORDED_LIVE}/tool_bash_reject` })),
  NO_INNER_EVENTS,
  {
    scenarios: ['output', 'unicode-output', 'big-output', 'huge-output'],
    reason: 'Its protocol reports that a command ended and omits the output.',
    seen: /^the output is (?:undefined|empty)$/,
    evidence: `${RECORDED_LIVE}/tool_bash`,
  },
  {
    scenarios: ['shell-fails'],
    reason: EVERY_SUCCESS,
    seen: /^its status is success$/,
    evidence: `${RECORDED_LIVE}/tool_bash_fail`,
  },
  {
    scenarios: ['plan'],
    reason: 'Its list is a tool call whose input is not reported.',
    seen: /^the list is \[\]$/,
    evidence: `${RECORDED_LIVE}/todo`,
  },
  {
    scenarios: ['question'],
    reason: 'It offers no tool for questions in this mode.',
    seen: /^no request was opened;.* the answer is "\[no tool to ask among /,
  },
  {
    scenarios: ['steps'],
    reason: `It does not report single model calls. ${IN_SETTINGS}`,
    seen: refused('maxSteps'),
  },
  {
    scenarios: ['steer'],
    reason: 'A second prompt cancels the first; refused before it starts.',
    seen: refused('steer'),
    evidence: `${RECORDED_LIVE}/concurrent_prompt`,
  },
  {
    scenarios: ['drop'],
    reason: ENDS,
    seen: /^the outcome is failed \(connection_failed/,
    evidence: `${RECORDED_LIVE}/drop`,
  },
  {
    scenarios: ['usage-details'],
    reason: 'It reports prompt tokens including cached ones, and answer tokens without thinking.',
    seen: /^usage is \{"input":674,"output":78,"total":752\} /,
  },
  {
    scenarios: ['interrupt-memory'],
    reason: 'It removes a cancelled prompt from its history; earlier turns stay.',
    seen: /^the model was not sent SCENARIO:long; notices: context_lost$/,
  },
]

/** Of `gemini --output-format=stream-json`. */
const ONESHOT: readonly Limit[] = [
  NO_INNER_EVENTS,
  {
    scenarios: ['thinking'],
    reason: 'Its output omits thinking.',
    seen: /^no thinking was reported$/,
    evidence: `${RECORDED}/thinking`,
  },
  {
    scenarios: ['shell-fails'],
    reason: EVERY_SUCCESS,
    seen: /^its status is success$/,
    evidence: `${RECORDED}/tool_bash_fail`,
  },
  {
    scenarios: ['diffs'],
    reason: 'It names the changed file and omits the diff.',
    seen: /^the change is modified without a diff$/,
    evidence: `${RECORDED}/file_edit`,
  },
  {
    scenarios: ['mcp', 'mcp-killed'],
    reason: IN_SETTINGS,
    seen: refused('mcpServers'),
    evidence: `${RECORDED}/mcp`,
  },
  {
    scenarios: ['drop'],
    reason: ENDS,
    seen: /^the outcome is failed \(connection_failed/,
    evidence: `${RECORDED}/drop_once`,
  },
]

export const GEMINI_LIMITS: readonly Limit[] = [
  ...LIVE.map((limit) => ({ ...limit, programs: ['gemini'], launch: 'live' as const })),
  ...ONESHOT.map((limit) => ({ ...limit, programs: ['gemini'], launch: 'oneshot' as const })),
  {
    scenarios: ['cost', 'budget', 'budget-per-turn'],
    programs: ['gemini'],
    reason: 'It reports tokens and no price.',
    seen: /^no cost in \{"input":\d+,/,
    evidence: `${RECORDED}/text`,
  },
  {
    scenarios: ['structured'],
    programs: ['gemini'],
    reason: 'It accepts no schema; refused before it starts.',
    seen: refused('outputSchema'),
  },
]
