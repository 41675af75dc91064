import type { Policy, SessionOptions } from '../../model/index.ts'
import { type Agent, type Launch, type LaunchFile, recipe, type Start } from '../agent.ts'
import { accounted } from '../kit/accounted.ts'
import { imageFiles } from '../kit/image-files.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { filePath, flagValue, refuseSet, unsupported } from '../kit/option.ts'
import { type PolicyModes, policyMode } from '../kit/policy-mode.ts'
import { toolNames } from '../kit/tool-names.ts'
import { codec } from './codec.ts'
import { dropped } from './ignored-fields.ts'
import { live } from './live.ts'
import { KEEPS_OUTPUT, LACKS, program } from './program.ts'
import { setup } from './setup.ts'
import { toolRules } from './tool-rules.ts'
import { TOOLS } from './tools.ts'

export const gemini: Agent = {
  id: 'gemini',
  name: 'Gemini CLI',
  testedVersion: '0.61.0',
  tools: toolNames(TOOLS),
  setup,
  launches: {
    live,
    oneshot: recipe({
      codec: accounted(codec, dropped),
      steps: { reported: 'after_tools' },
      stopCode: 0,
      lacks: LACKS,
      capabilities: {
        ...NO_CAPABILITIES,
        verbs: [],
        deltas: true,
        resume: true,
        images: true,
        setModel: true,
        setMode: true,
        usage: 'turn',
        plans: true,
        subagents: true,
        // Only the servers of its own settings.
        mcp: false,
        // Gemini retries a stream that ends without a reason, and its text is repeated.
        marksRetries: false,
      },
      modes: {
        default: { approval: 'ask', sandbox: 'none' },
        autoEdit: { approval: 'auto-edit', sandbox: 'none' },
        plan: { approval: 'ask', sandbox: 'read-only' },
      },
      launch: launchOneshot,
    }),
  },
}

function launchOneshot(start: Start): Launch {
  const { policy, options, resume } = start
  refuseLimits(policy)
  refuseSettings(options)
  const around = program(options.systemPrompt?.replace)
  const pictures = imageFiles('gemini', start)
  const rules = toolRules(start)
  return {
    kind: 'process',
    argv: [
      'gemini',
      '--output-format=stream-json',
      `--approval-mode=${approvalMode(policy)}`,
      ...rules.args,
      ...(options.model === undefined ? [] : [flagValue('gemini', '--model', options.model)]),
      ...(options.extraDirectories ?? []).map(includeDirectory),
      ...(resume === undefined ? [] : [`--resume=${resume}`]),
      ...promptArgs(pictures, start.prompt?.text),
    ],
    ...around,
    env: { ...around.env, ...KEEPS_OUTPUT },
    files: [...(around.files ?? []), ...rules.files, ...pictures],
  }
}

/**
 * Gemini appends the value of this flag to the prompt and shows files named there to the model; it reads them only from
 * its workspace folders.
 */
function promptArgs(pictures: readonly LaunchFile[], prompt = ''): string[] {
  if (pictures.length === 0) return []
  if (prompt.startsWith('/'))
    throw unsupported('gemini', 'images', 'a prompt that starts with "/" is a command, which accepts none')
  const named = pictures.map(({ name }) => `@${filePath(name)}`)
  return [`--include-directories=${filePath('.')}`, `--prompt=${named.join(' ')}`]
}

type GeminiMode = 'default' | 'auto_edit' | 'yolo' | 'plan'

const MODES: PolicyModes<GeminiMode> = {
  agent: 'gemini',
  noWorkspaceWrite: 'its sandbox needs a container image',
  byApproval: { ask: 'default', 'ask-dangerous': 'default', 'auto-edit': 'auto_edit', 'auto-all': 'yolo' },
  readOnly: 'plan',
}

/**
 * Maps approval × sandbox to Gemini's modes. Where it cannot request approval, it removes the tools that would need it.
 */
export function approvalMode(policy: Policy): GeminiMode {
  return policyMode(policy, MODES)
}

const IN_FILES = 'it reads this from a settings file only'

/** The session counts steps: the end of a tool implies the end of a model call. */
function refuseLimits({ network, writableRoots, maxBudgetUsd }: Policy): void {
  if (network !== undefined) throw unsupported('gemini', 'network', 'it has no sandbox to enforce it')
  if (writableRoots) throw unsupported('gemini', 'writableRoots', 'it has no sandbox to enforce them')
  if (maxBudgetUsd !== undefined) throw unsupported('gemini', 'maxBudgetUsd', 'it reports no cost')
}

function refuseSettings(options: SessionOptions): void {
  const { effort, systemPrompt, mcpServers, isolation, outputSchema } = options
  if (effort !== undefined) throw unsupported('gemini', 'effort', 'it has no such setting')
  if (systemPrompt?.append !== undefined)
    throw unsupported('gemini', 'systemPrompt.append', 'it can replace the prompt, but not append to it')
  // Gemini silently skips a settings file of ours: it reads settings only from folders that no other user can write to.
  if (mcpServers) throw unsupported('gemini', 'mcpServers', IN_FILES)
  if (isolation !== undefined && isolation !== 'user')
    throw unsupported('gemini', `isolation ${isolation}`, 'it cannot ignore settings')
  if (outputSchema) throw unsupported('gemini', 'outputSchema', 'it has no structured output')
  refuseSet('gemini', options, {
    checkpointing: IN_FILES,
    fallbackModel: 'it has no such setting',
    subagents: IN_FILES,
    skills: 'it reads them from its own folders only',
  })
}

/** The flag takes a list: a comma would split one directory in two. */
function includeDirectory(directory: string): string {
  if (directory.includes(','))
    throw unsupported('gemini', 'extraDirectories', `${directory} contains a comma`)
  return flagValue('gemini', '--include-directories', directory)
}
