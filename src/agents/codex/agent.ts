import { type Capabilities, MainstemError, OUTSIDE_ID } from '../../model/index.ts'
import { type Agent, type ProcessLaunch, recipe, type Start } from '../agent.ts'
import { accounted } from '../kit/accounted.ts'
import { imageArgs, imageFiles } from '../kit/image-files.ts'
import { NO_CAPABILITIES } from '../kit/no-capabilities.ts'
import { toolNames } from '../kit/tool-names.ts'
import { appServerCodec } from './app-server/codec.ts'
import { threadParams } from './app-server/thread.ts'
import { execCodec } from './exec/codec.ts'
import { dropped } from './ignored-fields.ts'
import { execFiles, execOptionArgs } from './options.ts'
import { execPolicyArgs } from './policy.ts'
import { PROVIDER_KEYS, setup } from './setup.ts'
import { TOOLS } from './tool-lists.ts'

const COMMON: Capabilities = {
  ...NO_CAPABILITIES,
  thinking: 'summary',
  resume: true,
  images: true,
  setModel: true,
  plans: true,
  subagents: true,
  mcp: true,
  marksRetries: true,
}

const ONLY_LIVE = {
  compact: 'only its live launch has the command',
  review: 'its command `codex exec review` begins a conversation of its own; use its live launch',
  goal: 'only its live launch has goals',
  rewind: 'it has no checkpoints of files',
}

export const codex: Agent = {
  id: 'codex',
  name: 'Codex CLI',
  testedVersion: '0.169.0',
  oldestVersion: '0.166.0',
  tools: { ...toolNames(TOOLS), asksForUnlisted: true },
  setup,
  launches: {
    live: recipe({
      codec: accounted(appServerCodec, dropped),
      leavesTools: true,
      stopCode: 0,
      lacks: { rewind: 'it has no checkpoints of files' },
      capabilities: {
        ...COMMON,
        deltas: true,
        permissions: true,
        questions: true,
        interrupt: 'protocol',
        steer: 'restarted',
        structuredOutput: true,
        setMode: true,
        usage: 'step',
        diffs: true,
        verbs: ['fork', 'compact', 'review', 'goal'],
      },
      launch(start) {
        // Validates the thread parameters before anything starts.
        threadParams(start)
        return program('app-server')
      },
    }),
    oneshot: recipe({
      codec: accounted(execCodec, dropped),
      lacks: ONLY_LIVE,
      capabilities: {
        ...COMMON,
        verbs: ['fork'],
        structuredOutput: true,
        usage: 'turn',
      },
      launch: (start) => ({
        ...program(
          'exec',
          '--json',
          // Works outside of git repositories, like the app-server, which has no such check.
          '--skip-git-repo-check',
          ...execPolicyArgs(start.policy),
          ...execOptionArgs(start),
          ...imageArgs('codex', '--image', start),
          ...resumeArgs(start),
          // The prompt is read from stdin.
          '-',
        ),
        files: [...execFiles(start.options), ...imageFiles('codex', start)],
      }),
    }),
  },
}

function program(...args: string[]): ProcessLaunch {
  return {
    kind: 'process',
    argv: ['codex', ...args],
    env: {},
    passEnv: ['CODEX_*', 'OPENAI_*'],
    passNamedIn: PROVIDER_KEYS,
  }
}

/** The id is a positional argument of a subcommand, so it must not look like a flag. */
function resumeArgs({ resume, fork }: Start): string[] {
  if (resume === undefined) return []
  if (!OUTSIDE_ID.test(resume)) throw new MainstemError('invalid_request', 'resume: not a session id')
  return [fork ? 'fork' : 'resume', resume]
}
