import type { CellResult } from './results.ts'

/** A setting that differs from the defaults of a program, and the scenarios that fail without it. */
interface Setting {
  readonly programs: readonly string[]
  readonly scenarios: readonly string[]
  readonly setting: string
  readonly why: string
}

const CLAUDE = ['claude', 'claude-old', 'claude-agent-acp']

/** Beyond keys, addresses, and switches that turn off updates and telemetry. */
export const SETTINGS: readonly Setting[] = [
  {
    programs: CLAUDE,
    scenarios: ['plan'],
    setting: '`CLAUDE_CODE_ENABLE_TODO_TOOLS=1`',
    why: 'the model gets no tools for to-do lists otherwise',
  },
  {
    programs: CLAUDE,
    scenarios: ['retry'],
    setting: '`CLAUDE_CODE_MAX_RETRIES=2`',
    why: 'ten retries with growing delays are the default',
  },
  {
    programs: ['codex', 'codex-acp'],
    scenarios: ['plan'],
    setting: '`tools.update_plan.enabled = true`',
    why: 'the to-do list is disabled by default',
  },
  {
    programs: ['codex', 'codex-acp'],
    scenarios: ['question'],
    setting: '`features.default_mode_request_user_input = true`',
    why: 'questions outside of plan mode are disabled by default',
  },
  {
    programs: ['codex'],
    scenarios: ['subagent', 'subagent-events', 'subagent-usage'],
    setting: '`model = "gpt-5.5"`',
    why: 'the one-shot launch reports no sub-agents of the default model; the column “default model” shows the difference',
  },
  {
    programs: ['qwen'],
    scenarios: ['plan'],
    setting: '`tools.todoWrite.enabled = true`',
    why: 'the to-do list is disabled by default',
  },
  {
    programs: ['opencode'],
    scenarios: ['images', 'thinking', 'cost'],
    setting: 'the model’s `attachment`, `reasoning` and `cost`',
    why: 'OpenCode knows nothing else about a model of a custom provider',
  },
]

/** The numbers of the settings that a cell needs, counted from 1. */
export function settingsOf({ program, scenario }: Pick<CellResult, 'program' | 'scenario'>): number[] {
  return SETTINGS.flatMap(({ programs, scenarios }, index) =>
    programs.includes(program) && scenarios.includes(scenario) ? [index + 1] : [],
  )
}
