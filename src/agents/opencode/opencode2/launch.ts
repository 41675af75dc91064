import type { SessionOptions } from '../../../model/index.ts'
import { type AgentVariant, recipe, type ServerLaunch, type Start } from '../../agent.ts'
import { accounted } from '../../kit/accounted.ts'
import { jsonVariable, refuseSet, unsupported } from '../../kit/option.ts'
import { toolNames } from '../../kit/tool-names.ts'
import { commonSettings, LACKS, PASSED, refuseCommon, refuseLimits } from '../options.ts'
import { CAPABILITIES } from './capabilities.ts'
import { codec } from './codec.ts'
import { dropped } from './ignored-fields.ts'
import { rulesOf } from './rules.ts'
import { TOOLS } from './tools.ts'

const UNVERIFIED = 'it is not verified with OpenCode 2'

const common = {
  codec: accounted(codec, dropped),
  steps: { reported: 'after_tools' },
  keepsModel: true,
  lacks: { ...LACKS, fork: UNVERIFIED },
  stream: 'sse',
  leavesTools: true,
  stopCode: 130,
  capabilities: CAPABILITIES,
  launch,
} as const

/**
 * OpenCode 2. Both launches start its server: `run --format json` omits lines, so a one-shot run is a live turn whose
 * process ends with it.
 */
export const OPENCODE_2: AgentVariant = {
  name: 'OpenCode 2',
  launches: { live: recipe(common), oneshot: recipe(common) },
  tools: toolNames(TOOLS),
  unverified: 'verified by recordings of its preview only, not by runs of the released program',
}

/** A private server: a shared one would continue interrupted sessions by itself, and serve other clients. */
function launch(start: Start): ServerLaunch {
  refuseLimits(start.policy)
  refuseOptions(start.options)
  return {
    kind: 'server',
    argv: ['opencode', 'serve', '--stdio'],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: 'true',
      // Always set: an inherited value would override the request.
      OPENCODE_CONFIG_CONTENT: jsonVariable('opencode', 'OPENCODE_CONFIG_CONTENT', configOf(start)),
      ...(start.options.isolation === 'no-project' && {
        OPENCODE_DISABLE_PROJECT_CONFIG: 'true',
        OPENCODE_CONFIG_PROJECT_DISABLE: 'true',
      }),
    },
    passEnv: PASSED,
    joinedEnv: ['OPENCODE_CONFIG_CONTENT'],
    listening: /"url"\s*:\s*"http:\/\/(?:127\.0\.0\.1|localhost):(\d+)/,
    events: '/api/event',
    absent: 'this is not the server of OpenCode 2. Install opencode 2, or opencode-ai 1.18',
    endsWithInput: true,
    reopens: true,
    login: {
      user: 'opencode',
      userVariable: 'OPENCODE_SERVER_USERNAME',
      // Both names are read, and an inherited one would lock this process out.
      passwordVariables: ['OPENCODE_PASSWORD', 'OPENCODE_SERVER_PASSWORD'],
    },
  }
}

function refuseOptions(options: SessionOptions): void {
  refuseCommon(options)
  refuseSet('opencode', options, {
    subagents: 'no recording of OpenCode 2 shows them',
    skills: 'no recording of OpenCode 2 shows them',
  })
  if (options.outputSchema)
    throw unsupported('opencode', 'outputSchema', 'OpenCode 2 has no structured output')
  if (options.effort !== undefined && options.model === undefined)
    throw unsupported('opencode', 'effort', 'OpenCode 2 accepts it only together with a model')
}

/** Version 2 ignores the variable with permission rules: only the configuration can contain them. */
function configOf(start: Start): object {
  const agents = agentsOf(start)
  return {
    autoupdate: false,
    share: 'disabled',
    permissions: rulesOf(start),
    ...(Object.keys(agents).length > 0 && { agents }),
    ...commonSettings(start.options),
  }
}

/** Settings of its agents. An entry under the key of version 1, `agent`, is dropped where `agents` has the name too. */
function agentsOf({ policy, options }: Start): Record<string, object> {
  const steps = policy.maxSteps
  const system = options.systemPrompt?.replace
  // The last allowed call gets no tools, so no other one follows it.
  const limit = steps === undefined ? {} : { steps }
  const build = { ...limit, ...(system !== undefined && { system }) }
  return {
    ...(Object.keys(build).length > 0 && { build }),
    ...(steps !== undefined && { plan: limit }),
  }
}
