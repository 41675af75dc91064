import { gemini } from '../../agents/gemini/agent.ts'
import type { AdapterOptions } from './fold.ts'
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

/** Translates the output of Gemini CLI with `--output-format stream-json`, and the lines of the protocol document. */
export class GeminiAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    super(gemini, CONFIG, options)
  }
}
