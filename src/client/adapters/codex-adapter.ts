import { codex } from '../../agents/codex/agent.ts'
import type { ApprovalMode } from '../config.ts'
import { fieldOf } from '../rest.ts'
import type { AdapterOptions, Boundaries } from './fold.ts'
import type { NativeConfig } from './native-config.ts'
import { ProgramAdapter, type ProgramFormat } from './program-adapter.ts'

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

/** `codex exec` runs without approvals today; the setting states what was requested, and applies where it is read. */
const POLICIES: Readonly<Record<ApprovalMode, string>> = {
  ask: 'untrusted',
  askDangerous: 'on-request',
  autoEdit: 'on-request',
  autoAll: 'never',
}

const BOUNDARIES: Boundaries = {
  ends: (_line, isFinished) => isFinished,
  // A late error fails the session and starts no turn.
  starts: (line) => fieldOf(line, 'type') !== 'error',
  // A resumed thread counts the usage of its earlier turns again.
  continues: (line) => (fieldOf(line, 'type') === 'thread.started' ? fieldOf(line, 'thread_id') : undefined),
}

const FORMAT: ProgramFormat = {
  config: CONFIG,
  boundaries: () => BOUNDARIES,
  approvalArgs: (mode) => [`--config=approval_policy="${POLICIES[mode]}"`],
}

/** Translates the output of `codex exec --json`, and the lines of the protocol document. */
export class CodexAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    super(codex, FORMAT, options)
  }
}
