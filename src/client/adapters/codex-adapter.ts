import { codex } from '../../agents/codex/agent.ts'
import type { AdapterOptions } from './fold.ts'
import { ProgramAdapter } from './program-adapter.ts'

/** Codex CLI as it is run with `codex exec --json`. */
export class CodexAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    const config = {
      modes: {
        approval_policy: {
          untrusted: { approvalMode: 'ask' },
          'on-request': { approvalMode: 'askDangerous' },
          // It asks when its sandbox stopped something, which is less than it might be asked.
          'on-failure': { approvalMode: 'askDangerous' },
          never: { approvalMode: 'autoAll' },
        },
        sandbox_mode: {
          'read-only': { sandboxMode: 'readOnly' },
          'workspace-write': { sandboxMode: 'workspaceWrite' },
          'danger-full-access': { sandboxMode: 'fullAccess' },
        },
      },
      texts: { model: 'model', cwd: 'workingDirectory' },
      lists: {},
      maxTurns: [],
    } as const
    super(codex, config, options)
  }
}
