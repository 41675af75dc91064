import { type Limit, refused } from './limit.ts'

const RECORDED = 'src/agents/gemini/fixtures/gemini'
const RECORDED_LIVE = 'src/agents/gemini/fixtures/acp-gemini'

const IN_SETTINGS =
  'It takes this from files of settings only: its own, the project’s, or one that belongs to root, as do all folders above it (any other is skipped); another home would lose the login. Refused before it starts.'

const EVERY_SUCCESS = 'Exit codes are no part of what it tells: every command that ran is a success.'
const ENDS = 'A broken stream ends its turn.'

/** Of `gemini --acp`. */
const LIVE: readonly Limit[] = [
  {
    scenarios: ['output'],
    reason: 'Its protocol tells that a command ended, and not what it wrote.',
    seen: /^the output is undefined$/,
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
    reason: 'Its list is a call of a tool, and what is in it is not told.',
    seen: /^the list is \[\]$/,
    evidence: `${RECORDED_LIVE}/todo`,
  },
  {
    scenarios: ['question'],
    reason: 'It has no tool for questions over its protocol.',
    seen: /^nobody was asked;.* it said "\[no tool to ask among /,
  },
  {
    scenarios: ['steps'],
    reason: `${IN_SETTINGS} It does not tell its model calls either.`,
    seen: refused('maxSteps'),
  },
  {
    scenarios: ['steer'],
    reason: 'A second prompt stops the first; refused before it is tried.',
    seen: refused('steer'),
    evidence: `${RECORDED_LIVE}/concurrent_prompt`,
  },
  {
    scenarios: ['drop'],
    reason: ENDS,
    seen: /^the outcome is failed \(connection_failed/,
    evidence: `${RECORDED_LIVE}/drop`,
  },
]

/** Of `gemini --output-format=stream-json`. */
const ONESHOT: readonly Limit[] = [
  {
    scenarios: ['thinking'],
    reason: 'Thoughts are no part of its stream.',
    seen: /^no thought was told$/,
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
    reason: 'It tells that a file was changed, and not what was changed in it.',
    seen: /^it told of a file that is modified: undefined$/,
    evidence: `${RECORDED}/file_edit`,
  },
  { scenarios: ['mcp'], reason: IN_SETTINGS, seen: refused('mcpServers'), evidence: `${RECORDED}/mcp` },
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
    scenarios: ['cost'],
    programs: ['gemini'],
    reason: 'It tells tokens, and no price.',
    seen: /^usage is \{"input":\d+,(?!.*cost)/,
    evidence: `${RECORDED}/text`,
  },
  {
    scenarios: ['structured'],
    programs: ['gemini'],
    reason: 'It cannot be given a schema; refused before it starts.',
    seen: refused('outputSchema'),
  },
]
