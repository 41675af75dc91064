import { gemini } from '../../agents/gemini/agent.ts'
import { fieldOf } from '../rest.ts'
import type { AdapterOptions, Boundaries } from './fold.ts'
import type { NativeConfig } from './native-config.ts'
import { ProgramAdapter } from './program-adapter.ts'

const SANDBOXES: NativeConfig['modes'][string] = {
  true: { sandboxMode: 'workspaceWrite' },
  docker: { sandboxMode: 'workspaceWrite' },
  podman: { sandboxMode: 'workspaceWrite' },
  false: {},
}

/** Names of flags, and paths of `settings.json`. */
const CONFIG: NativeConfig = {
  modes: {
    approvalMode: {
      default: { approvalMode: 'ask' },
      auto_edit: { approvalMode: 'autoEdit' },
      plan: { approvalMode: 'ask', sandboxMode: 'readOnly' },
      yolo: { approvalMode: 'autoAll' },
    },
    yolo: { true: { approvalMode: 'autoAll' }, false: {} },
    'tools.sandbox': SANDBOXES,
    sandbox: SANDBOXES,
  },
  texts: { 'model.name': 'model', model: 'model', cwd: 'workingDirectory' },
  lists: {
    'tools.exclude': 'blockedTools',
    allowedTools: 'allowedTools',
    excludeTools: 'blockedTools',
  },
  maxTurns: ['model.maxSessionTurns', 'maxSessionTurns'],
}

const ENDS: ReadonlySet<unknown> = new Set(['result', 'error'])

const BOUNDARIES: Boundaries = {
  // An error with an object is that of the protocol document, where no result follows.
  ends: (line, isFinished) =>
    isFinished || (fieldOf(line, 'type') === 'error' && typeof fieldOf(line, 'error') === 'object'),
  starts: (line) => !ENDS.has(fieldOf(line, 'type')),
  endsSession: true,
}

/** Translates the output of Gemini CLI with `--output-format stream-json`, and the lines of the protocol document. */
export class GeminiAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    super(gemini, { config: CONFIG, boundaries: () => BOUNDARIES }, options)
  }
}
