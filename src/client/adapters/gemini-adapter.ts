import { gemini } from '../../agents/gemini/agent.ts'
import type { AdapterOptions } from './fold.ts'
import { ProgramAdapter } from './program-adapter.ts'

/** Gemini CLI as it is run with `--output-format stream-json`. */
export class GeminiAdapter extends ProgramAdapter {
  constructor(options: AdapterOptions = {}) {
    const config = {
      modes: {
        approvalMode: {
          default: { approvalMode: 'ask' },
          auto_edit: { approvalMode: 'autoEdit' },
          plan: { approvalMode: 'ask', sandboxMode: 'readOnly' },
          yolo: { approvalMode: 'autoAll' },
        },
        yolo: { true: { approvalMode: 'autoAll' }, false: {} },
        sandbox: { true: { sandboxMode: 'workspaceWrite' }, false: {} },
      },
      texts: { model: 'model', cwd: 'workingDirectory' },
      lists: { allowedTools: 'allowedTools', excludeTools: 'blockedTools' },
      maxTurns: ['maxSessionTurns'],
    } as const
    super(gemini, config, options)
  }
}
