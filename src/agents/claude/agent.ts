import {
  type Capabilities,
  MainstemError,
  OUTSIDE_ID,
  type Policy,
  type SessionOptions,
} from '../../model/index.ts'
import { compareVersions } from '../../model/version.ts'
import { type Agent, type Launch, recipe, type Start } from '../agent.ts'
import { accounted } from '../kit/accounted.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { flagValue, unsupported } from '../kit/option.ts'
import { toolNames } from '../kit/tool-names.ts'
import { codec } from './codec.ts'
import { dropped } from './ignored-fields.ts'
import { mcpLaunch } from './mcp.ts'
import { BYPASS_MODE, startMode } from './permission-mode.ts'
import { setup } from './setup.ts'
import { toolArgs } from './tool-lists.ts'
import { TOOLS } from './tools.ts'

const COMMON: Capabilities = {
  ...NO_CAPABILITIES,
  deltas: true,
  thinking: 'summary',
  resume: true,
  images: true,
  structuredOutput: true,
  usage: 'step',
  cost: true,
  diffs: true,
  plans: true,
  subagents: true,
  mcp: true,
  verbs: ['fork', 'compact', 'review', 'goal'],
  marksRetries: true,
}

export const claude: Agent = {
  id: 'claude',
  name: 'Claude Code',
  testedVersion: '2.1.326',
  oldestVersion: '2.1.197',
  tools: toolNames(TOOLS),
  setup,
  launches: {
    live: recipe({
      codec: accounted(codec, dropped),
      changesInput: true,
      steps: { limit: 'native', budget: 'process' },
      capabilities: {
        ...COMMON,
        permissions: true,
        questions: true,
        planApproval: true,
        interrupt: 'protocol',
        steer: 'folded',
        setModel: true,
        setMode: true,
        verbs: [...(COMMON.verbs ?? []), 'rewind'],
      },
      launch: (start) => launch(start, ['--input-format=stream-json', '--permission-prompt-tool=stdio']),
    }),
    oneshot: recipe({
      codec: accounted(codec, dropped),
      steps: { limit: 'native' },
      lacks: { rewind: 'only its live launch can restore files' },
      capabilities: {
        ...COMMON,
        setModel: true,
        setMode: true,
      },
      modes: {
        default: { approval: 'ask', sandbox: 'none' },
        acceptEdits: { approval: 'auto-edit', sandbox: 'none' },
        plan: { approval: 'ask', sandbox: 'read-only' },
      },
      // The prompt is plain text, unless it has images.
      launch: (start) => launch(start, start.prompt?.images.length ? ['--input-format=stream-json'] : []),
    }),
  },
}

const OUTPUT = [
  '--print',
  '--output-format=stream-json',
  '--verbose',
  '--include-partial-messages',
  '--include-hook-events',
]

function launch(start: Start, input: string[]): Launch {
  const { policy, options } = start
  const permission = modeArgs(start)
  const mcp = mcpLaunch(start)
  return {
    kind: 'process',
    argv: [
      'claude',
      ...OUTPUT,
      ...input,
      ...permission,
      ...toolArgs(start),
      ...limitArgs(policy),
      ...optionArgs(options),
      ...snapshotArgs(start),
      ...mcp.args,
      ...resumeArgs(start),
    ],
    // Claude Code lets root bypass permissions only if IS_SANDBOX is set.
    env: {
      ...(permission.includes(BYPASS) && { IS_SANDBOX: '1' }),
      ...(hasCheckpoints(start) && { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: '1' }),
    },
    passEnv: ['ANTHROPIC_*', 'CLAUDE_CODE_*', 'CLAUDE_CONFIG_DIR', 'IS_SANDBOX', 'DISABLE_*'],
    files: mcp.files,
  }
}

/** As in its own terminal; only a process that stays open can restore the files. */
function hasCheckpoints({ launch, options }: Start): boolean {
  if (launch === 'oneshot' && options.checkpointing)
    throw unsupported('claude', 'checkpointing', 'only its live launch can restore files')
  return launch === 'live' && options.checkpointing !== false
}

function modeArgs(start: Start): string[] {
  const mode = startMode(start)
  return mode === BYPASS_MODE ? [BYPASS] : [flagValue('claude', '--permission-mode', mode)]
}

function resumeArgs({ resume, fork }: Start): string[] {
  if (resume === undefined) return []
  if (!OUTSIDE_ID.test(resume)) throw new MainstemError('invalid_request', 'resume: not a session id')
  return [`--resume=${resume}`, ...(fork ? ['--fork-session'] : [])]
}

const BYPASS = '--dangerously-skip-permissions'

function limitArgs({ maxSteps, maxBudgetUsd, network, writableRoots }: Policy): string[] {
  if (network !== undefined) throw unsupported('claude', 'network', 'it has no sandbox to enforce it')
  if (writableRoots) throw unsupported('claude', 'writableRoots', 'it has no sandbox to enforce them')
  return [
    ...(maxSteps === undefined ? [] : [`--max-turns=${maxSteps}`]),
    ...(maxBudgetUsd === undefined ? [] : [`--max-budget-usd=${maxBudgetUsd}`]),
  ]
}

/** The first version that is known to have snapshots of the system prompt; earlier ones refuse the flag. */
const SNAPSHOTS = '2.1.284'

/** By default Claude sends a resumed conversation with the system prompt that it began with. */
function snapshotArgs({ resume, options, version = SNAPSHOTS }: Start): string[] {
  const isGiven = resume !== undefined && options.systemPrompt !== undefined
  return isGiven && compareVersions(version, SNAPSHOTS) >= 0 ? ['--system-prompt-snapshot=off'] : []
}

function optionArgs(options: SessionOptions): string[] {
  const { model, fallbackModel, effort, systemPrompt, extraDirectories, isolation, outputSchema } = options
  const value = (flag: string, text: string | undefined) =>
    text === undefined ? [] : [flagValue('claude', flag, text)]
  return [
    ...value('--model', model),
    ...value('--fallback-model', fallbackModel),
    ...value('--effort', effort),
    ...value('--append-system-prompt', systemPrompt?.append),
    ...value('--system-prompt', systemPrompt?.replace),
    ...(extraDirectories ?? []).map((directory) => flagValue('claude', '--add-dir', directory)),
    ...(options.subagents ? [flagValue('claude', '--agents', JSON.stringify(options.subagents))] : []),
    ...skillArgs(options),
    ...(isolation === 'no-project' ? ['--setting-sources=user'] : []),
    ...(isolation === 'bare' ? ['--setting-sources=', '--strict-mcp-config'] : []),
    ...(outputSchema ? [flagValue('claude', '--json-schema', schemaText(outputSchema))] : []),
  ]
}

/** Each directory is a plugin with one skill. */
function skillArgs({ skills = [] }: SessionOptions): string[] {
  return skills.map((directory) => flagValue('claude', '--plugin-dir', directory))
}

/** Removes `$schema`: Claude's validator does not know the draft by that name and would not start. */
function schemaText({ $schema: _draft, ...schema }: Record<string, unknown>): string {
  return JSON.stringify(schema)
}
