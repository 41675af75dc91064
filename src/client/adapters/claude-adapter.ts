import { claude } from '../../agents/claude/agent.ts'
import type { AdapterOptions } from './fold.ts'
import { ProgramAdapter } from './program-adapter.ts'

/** Claude Code as it is run with `--output-format stream-json`. */
export class ClaudeAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    const config = {
      modes: {
        permissionMode: {
          default: { approvalMode: 'ask' },
          acceptEdits: { approvalMode: 'autoEdit' },
          plan: { approvalMode: 'ask', sandboxMode: 'readOnly' },
          bypassPermissions: { approvalMode: 'autoAll' },
        },
        dangerouslySkipPermissions: { true: { approvalMode: 'autoAll' }, false: {} },
      },
      texts: { model: 'model', cwd: 'workingDirectory' },
      lists: { allowedTools: 'allowedTools', disallowedTools: 'blockedTools' },
      maxTurns: ['maxTurns'],
    } as const
    super(claude, config, options)
  }
}
