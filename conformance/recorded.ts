/** A feature of a program that cannot be installed here, and the recordings that show it. */
interface RecordedFeature {
  readonly feature: string
  readonly mark: 'recorded' | 'no'
  /** Recordings of the program, or why it lacks the feature. */
  readonly shown: readonly string[] | string
}

/** OpenCode 2. Its recordings are decoded by tests; a fake server made from them is driven through every interface. */
export const OPENCODE_2: readonly RecordedFeature[] = [
  { feature: 'Streamed text', mark: 'recorded', shown: ['text'] },
  { feature: 'Thinking', mark: 'recorded', shown: ['thinking', 'think_tool'] },
  { feature: 'Structured output', mark: 'no', shown: 'it has no structured output' },
  { feature: 'Parallel tool calls', mark: 'recorded', shown: ['perm_two_tools', 'two_subs'] },
  { feature: 'File diffs', mark: 'recorded', shown: ['perm_write_once'] },
  { feature: 'To-do lists', mark: 'no', shown: 'it has no tool for them' },
  { feature: 'MCP servers', mark: 'recorded', shown: ['mcp_exec_cold'] },
  { feature: 'Sub-agents', mark: 'recorded', shown: ['subagent', 'subagent_background'] },
  { feature: 'Exact token usage', mark: 'recorded', shown: ['text_notitle'] },
  { feature: 'Cost', mark: 'recorded', shown: ['text'] },
  { feature: 'Permission requests', mark: 'recorded', shown: ['perm_bash_once', 'perm_subagent'] },
  { feature: 'Questions to the user', mark: 'recorded', shown: ['question_answer', 'question_cancel'] },
  { feature: 'Interrupt and continue', mark: 'recorded', shown: ['interrupt_then_prompt'] },
  { feature: 'Mid-turn steering', mark: 'recorded', shown: ['queue_promote'] },
  { feature: 'Resume in a new process', mark: 'recorded', shown: ['kill9_mid_text'] },
  { feature: 'Switch models mid-session', mark: 'recorded', shown: ['model_switch'] },
  { feature: 'Retry after a broken stream', mark: 'recorded', shown: ['drop_once', 'err429_once'] },
  { feature: 'Context kept after a crash', mark: 'recorded', shown: ['kill9_mid_tool'] },
]

export const OPENCODE_2_FOLDER = 'src/agents/opencode/fixtures/opencode2'
