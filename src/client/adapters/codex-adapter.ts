import { codex } from '../../agents/codex/agent.ts'
import type { AdapterOptions } from './fold.ts'
import type { NativeConfig } from './native-config.ts'
import { ProgramAdapter } from './program-adapter.ts'

const APPROVALS: NativeConfig['modes'][string] = {
  untrusted: { approvalMode: 'ask' },
  'on-request': { approvalMode: 'askDangerous' },
  // Codex asks only after its sandbox blocked a command.
  'on-failure': { approvalMode: 'askDangerous' },
  never: { approvalMode: 'autoAll' },
}

const SANDBOXES: NativeConfig['modes'][string] = {
  'read-only': { sandboxMode: 'readOnly' },
  'workspace-write': { sandboxMode: 'workspaceWrite' },
  'danger-full-access': { sandboxMode: 'fullAccess' },
}

/** The protocol document has a table `[core]`; Codex itself reads these settings at the top level. */
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

/** Translates the output of `codex exec --json`, and the lines of the protocol document. */
export class CodexAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    super(codex, CONFIG, options)
  }
}
