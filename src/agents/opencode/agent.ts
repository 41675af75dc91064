import type { Capabilities, SessionOptions } from '../../model/index.ts'
import { compareVersions } from '../../model/version.ts'
import {
  type Agent,
  type AgentVariant,
  type LaunchFile,
  type ProcessLaunch,
  recipe,
  type Start,
} from '../agent.ts'
import { accounted } from '../kit/accounted.ts'
import { imageArgs, imageFiles } from '../kit/image-files.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { flagValue, jsonVariable, unsupported } from '../kit/option.ts'
import { toolNames } from '../kit/tool-names.ts'
import { OPENCODE_2_FROM } from '../protocols/acp/launch/opencode.ts'
import { callLimit } from './call-limit.ts'
import { dropped } from './ignored-fields.ts'
import { OPENCODE_2 } from './opencode2/launch.ts'
import { inlineSettings, LACKS, PASSED, refuseCommon, refuseLimits } from './options.ts'
import { permissionRules } from './permission.ts'
import { codec as runCodec } from './run/codec.ts'
import { codec as serveCodec } from './serve/codec.ts'
import { setup } from './setup.ts'
import { TOOLS } from './tools.ts'

const COMMON: Capabilities = {
  ...NO_CAPABILITIES,
  thinking: 'raw',
  resume: true,
  images: true,
  usage: 'step',
  cost: true,
  diffs: true,
  plans: true,
  subagents: true,
  mcp: true,
}

const ONLY_LIVE = 'its one-shot launch has no such command'

export const opencode: Agent = {
  id: 'opencode',
  name: 'OpenCode',
  testedVersion: '1.18.33',
  oldestVersion: '1.17.11',
  tools: toolNames(TOOLS),
  setup,
  atVersion,
  launches: {
    live: recipe({
      codec: accounted(serveCodec, dropped),
      steps: { reported: 'after_tools' },
      keepsModel: true,
      lacks: LACKS,
      stream: 'sse',
      leavesTools: true,
      capabilities: {
        ...COMMON,
        deltas: true,
        permissions: true,
        questions: true,
        interrupt: 'protocol',
        steer: 'folded',
        structuredOutput: true,
        setModel: true,
        setMode: true,
        verbs: ['fork', 'compact'],
        marksRetries: true,
      },
      launch: (start) => ({
        ...program(start, ['serve', '--hostname=127.0.0.1', '--port=0']),
        kind: 'server',
        listening: /^opencode server listening on http:\/\/127\.0\.0\.1:(\d+)/,
        events: '/event',
        // Also needed when the version is unknown: a configured command with arguments is never run to get it.
        absent:
          'OpenCode 2 removed this server API. Set agents.opencode.command to the program without arguments, so that its version is found',
        login: {
          user: 'opencode',
          userVariable: 'OPENCODE_SERVER_USERNAME',
          passwordVariables: ['OPENCODE_SERVER_PASSWORD'],
        },
      }),
    }),
    oneshot: recipe({
      codec: accounted(runCodec, dropped),
      steps: { reported: 'after_tools' },
      keepsModel: true,
      lacks: { ...LACKS, fork: ONLY_LIVE, compact: ONLY_LIVE },
      capabilities: {
        ...COMMON,
        verbs: [],
        setModel: true,
        // OpenCode reports only complete parts, so no partial message is ever shown.
        marksRetries: true,
      },
      launch: (start) =>
        program(
          start,
          ['run', '--format=json', '--thinking', ...runArgs(start)],
          imageFiles('opencode', start),
        ),
    }),
  },
}

/**
 * The first version known to have `run --auto`. 1.17.11 has only the old name of the flag, and 1.17.18 still accepts
 * it, so the old name works for every earlier version.
 */
const AUTO_FLAG = '1.17.18'

/** OpenCode 2 removed the routes of the live launch and the events of both launches. */
function atVersion(version: string): AgentVariant | undefined {
  return compareVersions(version, OPENCODE_2_FROM) < 0 ? undefined : OPENCODE_2
}

function program(start: Start, args: readonly string[], images: readonly LaunchFile[] = []): ProcessLaunch {
  refuseLimits(start.policy)
  refuseOptions(start.options, start.launch)
  const rules = permissionRules(start)
  const { maxSteps } = start.policy
  const limit = maxSteps === undefined ? undefined : callLimit(maxSteps)
  const settings = inlineSettings(start.options)
  const config = limit ? { ...settings, ...limit.settings } : settings
  return {
    kind: 'process',
    argv: ['opencode', ...args],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: 'true',
      OPENCODE_DISABLE_SHARE: 'true',
      // Always set: an inherited value would override the request.
      OPENCODE_PERMISSION: jsonVariable('opencode', 'OPENCODE_PERMISSION', rules),
      ...(config && {
        OPENCODE_CONFIG_CONTENT: jsonVariable('opencode', 'OPENCODE_CONFIG_CONTENT', config),
      }),
      ...(start.options.isolation === 'no-project' && { OPENCODE_DISABLE_PROJECT_CONFIG: 'true' }),
    },
    passEnv: PASSED,
    joinedEnv: ['OPENCODE_CONFIG_CONTENT'],
    files: limit ? [...images, limit.file] : images,
  }
}

function runArgs(start: Start): string[] {
  const { policy, options, resume, version = AUTO_FLAG } = start
  const { model, effort } = options
  const auto = compareVersions(version, AUTO_FLAG) < 0 ? '--dangerously-skip-permissions' : '--auto'
  return [
    ...(policy.approval === 'auto-all' && policy.sandbox !== 'read-only' ? [auto] : []),
    ...(model === undefined ? [] : [flagValue('opencode', '--model', model)]),
    ...(effort === undefined ? [] : [flagValue('opencode', '--variant', effort)]),
    ...(resume === undefined ? [] : [`--session=${resume}`]),
    ...imageArgs('opencode', '--file', start),
  ]
}

function refuseOptions(options: SessionOptions, kind: Start['launch']): void {
  const { systemPrompt, outputSchema } = options
  refuseCommon(options)
  if (kind === 'live') return
  if (outputSchema) throw unsupported('opencode', 'outputSchema', 'only its live launch accepts one')
  if (systemPrompt?.append !== undefined)
    throw unsupported('opencode', 'systemPrompt.append', 'only its live launch accepts it')
}
