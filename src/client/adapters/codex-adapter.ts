import { codex } from '../../agents/codex/agent.ts'
import type { AdapterOptions } from './fold.ts'
import type { NativeConfig } from './native-config.ts'
import { ProgramAdapter } from './program-adapter.ts'

const APPROVALS: NativeConfig['modes'][string] = {
  untrusted: { approvalMode: 'ask' },
  'on-request': { approvalMode: 'askDangerous' },
  // It asks when its sandbox stopped something, which is less than it might be asked.
  'on-failure': { approvalMode: 'askDangerous' },
  never: { approvalMode: 'autoAll' },
}

const SANDBOXES: NativeConfig['modes'][string] = {
  'read-only': { sandboxMode: 'readOnly' },
  'workspace-write': { sandboxMode: 'workspaceWrite' },
  'danger-full-access': { sandboxMode: 'fullAccess' },
}

/** The document has a table `[core]` where Codex itself reads the top of the file. */
const CONFIG: NativeConfig = {
  modes: {
    'core.approval_policy': APPROVALS,
    'core.sandbox_mode': SANDBOXES,
    approval_policy: APPROVALS,
    sandbox_mode: SANDBOXES,
  },
  texts: { 'core.model': 'model', model: 'model', cwd: 'workingDirectory' },
  lists: {},
  maxTurns: [],
}

/** Codex CLI as it is run with `codex exec --json`, and the lines of the protocol's document. */
export class CodexAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    super(codex, CONFIG, options)
  }
}
