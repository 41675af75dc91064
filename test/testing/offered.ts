import type { Tool } from './clients/client.ts'

/** Tools as the real programs offer them: their names, and those of their arguments. */
function offered(tools: Record<string, readonly string[]>): Tool[] {
  return Object.entries(tools).map(([name, parameters]) => ({ name, parameters }))
}

/** Claude Code 2.1.325 with somebody to answer; what comes from MCP servers hides behind its search. */
export const CLAUDE = offered({
  Agent: ['description', 'prompt', 'subagent_type', 'model', 'effort', 'run_in_background', 'isolation'],
  AskUserQuestion: ['questions', 'answers', 'annotations', 'metadata'],
  Bash: ['command', 'timeout', 'description', 'run_in_background', 'dangerouslyDisableSandbox'],
  Edit: ['file_path', 'old_string', 'new_string', 'replace_all'],
  Read: ['file_path', 'offset', 'limit', 'pages', 'allow_large'],
  Skill: ['skill', 'args'],
  ToolSearch: ['query', 'max_results'],
  Write: ['file_path', 'content'],
})

/** Codex 0.166.0; sub-agents and MCP servers hide behind its search. */
export const CODEX = offered({
  exec_command: ['cmd', 'justification', 'login', 'sandbox_permissions', 'shell', 'tty', 'workdir'],
  write_stdin: ['chars', 'max_output_tokens', 'session_id', 'yield_time_ms'],
  update_plan: ['explanation', 'plan'],
  request_user_input: ['questions'],
  apply_patch: [],
  view_image: ['detail', 'path'],
  tool_search: ['limit', 'query'],
})

/** Gemini CLI 0.61.0 in its mode yolo, with a server named demo. */
export const GEMINI = offered({
  list_directory: ['dir_path', 'ignore', 'file_filtering_options'],
  read_file: ['file_path', 'start_line', 'end_line'],
  replace: ['file_path', 'instruction', 'old_string', 'new_string', 'allow_multiple'],
  write_file: ['file_path', 'content'],
  run_shell_command: ['command', 'description', 'dir_path', 'is_background', 'delay_ms'],
  write_todos: ['todos'],
  invoke_agent: ['agent_name', 'prompt', 'wait_for_previous'],
  mcp_demo_echo: ['text'],
})

/** OpenCode 1.18.33 as a server, with a server named demo. */
export const OPENCODE = offered({
  bash: ['command', 'timeout', 'workdir'],
  edit: ['filePath', 'oldString', 'newString', 'replaceAll'],
  question: ['questions'],
  read: ['filePath', 'offset', 'limit'],
  task: ['description', 'prompt', 'subagent_type', 'task_id', 'command'],
  todowrite: ['todos'],
  write: ['content', 'filePath'],
  demo_echo: ['text'],
})
