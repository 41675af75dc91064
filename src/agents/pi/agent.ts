import type { Capabilities } from '../../model/index.ts'
import { type Agent, type Launch, recipe, type Start } from '../agent.ts'
import { accounted } from '../kit/accounted.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { toolNames } from '../kit/tool-names.ts'
import { codec } from './codec.ts'
import { GATE } from './gate.ts'
import { dropped } from './ignored-fields.ts'
import { isGated, optionArgs, policyArgs, promptFiles, resumeArgs } from './policy.ts'
import { KEYS, setup } from './setup.ts'
import { TOOLS } from './tools.ts'

const COMMON: Capabilities = {
  ...NO_CAPABILITIES,
  deltas: true,
  thinking: 'raw',
  resume: true,
  usage: 'step',
  cost: true,
  diffs: true,
  marksRetries: true,
}

const LACKS = {
  review: 'it has no such command',
  goal: 'it has no goals',
  rewind: 'it has no checkpoints',
}

export const pi: Agent = {
  id: 'pi',
  name: 'Pi',
  testedVersion: '1.5.0',
  oldestVersion: '0.87.1',
  tools: toolNames(TOOLS),
  setup,
  launches: {
    live: recipe({
      codec: accounted(codec, dropped),
      lacks: LACKS,
      changesInput: true,
      capabilities: {
        ...COMMON,
        verbs: ['fork', 'compact'],
        permissions: true,
        questions: true,
        interrupt: 'protocol',
        steer: 'folded',
        images: true,
        setModel: true,
      },
      launch: (start) => launch(start, 'rpc'),
    }),
    oneshot: recipe({
      codec: accounted(codec, dropped),
      lacks: { ...LACKS, compact: 'only its live launch has the command' },
      capabilities: {
        ...COMMON,
        verbs: ['fork'],
      },
      launch: (start) => launch(start, 'json'),
    }),
  },
}

/** Variables that providers need besides their keys. */
const PROVIDER_SETTINGS = [
  ...['AZURE_OPENAI_*', 'CLOUDFLARE_*', 'XIAOMI_*', 'GOOGLE_CLOUD_*', 'GOOGLE_APPLICATION_CREDENTIALS'],
  ...['AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_REGION'],
]

function launch(start: Start, mode: 'rpc' | 'json'): Launch {
  return {
    kind: 'process',
    argv: [
      'pi',
      '--mode',
      mode,
      ...policyArgs(start.policy, start.launch, start.version),
      ...optionArgs(start.options, start.launch),
      ...resumeArgs(start),
    ],
    env: {},
    passEnv: ['PI_*', ...KEYS, ...PROVIDER_SETTINGS],
    files: [...(isGated(start.policy, start.launch) ? [GATE] : []), ...promptFiles(start.options)],
  }
}
