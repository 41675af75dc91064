import { resolve } from 'node:path'
import { codexPrograms } from './codex-programs.ts'
import { isOffered, type ModelCall } from './model-call.ts'
import type { Action, Actions, NativeCall, ScriptedPlanItem } from './scenario.ts'

type Naming<Do extends keyof Actions> = (action: Actions[Do], call: ModelCall) => readonly NativeCall[]

/** The names and arguments of the tools of one program. */
export interface Toolbox {
  readonly names: { readonly [Do in keyof Actions]?: Naming<Do> }
  /** Tools that the program does not list but runs when they are called. */
  readonly hidden?: { readonly behind: readonly string[]; readonly actions: readonly (keyof Actions)[] }
}

const call = (name: string, input: object | string): readonly NativeCall[] => [{ name, input }]

/** Options with descriptions, which programs that show a choice require. */
const explained = (options: readonly string[]) =>
  options.map((label) => ({ label, description: `Choose ${label}` }))

const CWD = /\bCWD:(\S+)/
const DESCRIPTION = 'Run a command'
const JOB = 'A job of its own'

const claude: Toolbox = {
  names: {
    shell: ({ command }) => call('Bash', { command, description: DESCRIPTION }),
    write: ({ path, content }) => call('Write', { file_path: path, content }),
    edit: ({ path, from, to }) => call('Edit', { file_path: path, old_string: from, new_string: to }),
    read: ({ path }) => call('Read', { file_path: path }),
    plan: ({ items }) => tasks(items),
    delegate: ({ task }) => {
      const input = { description: JOB, prompt: task, subagent_type: 'general-purpose' }
      return call('Agent', { ...input, run_in_background: false })
    },
    ask: ({ question, options }) =>
      call('AskUserQuestion', {
        questions: [{ question, header: 'Choice', multiSelect: false, options: explained(options) }],
      }),
    propose: ({ plan }, { tools }) => {
      // Some versions read the plan from a file; the call then has no arguments.
      const offered = tools.find(({ name }) => name === 'ExitPlanMode')
      return call('ExitPlanMode', offered?.parameters?.includes('plan') === false ? {} : { plan })
    },
    mcp: ({ server, tool, input }) => call(`mcp__${server}__${tool}`, input),
  },
  hidden: { behind: ['ToolSearch'], actions: ['ask', 'mcp', 'plan', 'propose'] },
}

/** Claude Code has tasks instead of a list: the first plan creates them, later plans update them. */
function tasks(items: readonly ScriptedPlanItem[]): NativeCall[] {
  if (items.every(({ status }) => status === 'pending')) {
    return items.map(({ text }) => ({
      name: 'TaskCreate',
      input: { subject: text, description: text, activeForm: text },
    }))
  }
  return items.map(({ status }, index) => ({
    name: 'TaskUpdate',
    input: { taskId: String(index + 1), status },
  }))
}

const codex: Toolbox = {
  names: {
    shell: ({ command, escalate }) =>
      call('exec_command', {
        cmd: command,
        ...(escalate && { sandbox_permissions: 'require_escalated', justification: 'May I run this?' }),
      }),
    write: ({ path, content }) => call('apply_patch', patch(`Add File: ${path}`, marked('+', content))),
    edit: ({ path, from, to }) =>
      call('apply_patch', patch(`Update File: ${path}`, ['@@', ...marked('-', from), ...marked('+', to)])),
    read: ({ path }) => call('exec_command', { cmd: `cat ${path}` }),
    plan: ({ items }) =>
      call('update_plan', { plan: items.map(({ text, status }) => ({ step: text, status })) }),
    delegate: ({ task }) => collaborate('spawn_agent', { message: task }),
    join: (_action, { messages }) => {
      const result = messages.findLast(({ role }) => role === 'tool')?.text ?? ''
      const id = /"agent_id"\s*:\s*"([^"]+)"/.exec(result)?.[1]
      return collaborate('wait_agent', { targets: id === undefined ? [] : [id] })
    },
    ask: ({ question, options }) =>
      call('request_user_input', {
        questions: [{ id: 'choice', header: 'Choice', question, options: explained(options) }],
      }),
    mcp: ({ server, tool, input }) => [{ name: tool, namespace: `mcp__${server}`, input }],
  },
  hidden: { behind: ['exec_command', 'tool_search'], actions: ['delegate', 'join', 'mcp'] },
}

const collaborate = (name: string, input: object): readonly NativeCall[] => [
  { name, input, namespace: 'multi_agent_v1' },
]

function patch(head: string, lines: readonly string[]): string {
  return ['*** Begin Patch', `*** ${head}`, ...lines, '*** End Patch'].join('\n')
}

function marked(mark: string, text: string): string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => mark + line)
}

const gemini: Toolbox = {
  names: {
    shell: ({ command }) => call('run_shell_command', { command, description: DESCRIPTION }),
    write: ({ path, content }) => call('write_file', { file_path: path, content }),
    edit: ({ path, from, to }) => {
      const input = { file_path: path, old_string: from, new_string: to }
      return call('replace', { ...input, instruction: `Replace ${from} by ${to}` })
    },
    read: ({ path }) => call('read_file', { file_path: path }),
    plan: ({ items }) =>
      call('write_todos', { todos: items.map(({ text, status }) => ({ description: text, status })) }),
    delegate: ({ task }) => call('invoke_agent', { agent_name: 'generalist', prompt: task }),
    propose: ({ plan }, { system = '' }) => {
      // A plan is a file in a folder that the system prompt of plan mode names.
      const folder = /ONLY within: `([^`]+)`/.exec(system)?.[1] ?? ''
      const path = `${folder.replace(/\/?$/, '/')}plan.md`
      return [
        { name: 'write_file', input: { file_path: path, content: plan } },
        { name: 'exit_plan_mode', input: { plan_filename: 'plan.md' } },
      ]
    },
    mcp: ({ server, tool, input }) => call(`mcp_${server}_${tool}`, input),
  },
}

const opencode: Toolbox = {
  names: {
    shell: ({ command }) => call('bash', { command }),
    write: ({ path, content }) => call('write', { filePath: path, content }),
    edit: ({ path, from, to }) => call('edit', { filePath: path, oldString: from, newString: to }),
    read: ({ path }) => call('read', { filePath: path }),
    plan: ({ items }) =>
      call('todowrite', {
        todos: items.map(({ text, status }) => ({ content: text, status, priority: 'medium' })),
      }),
    delegate: ({ task }) => call('task', { description: JOB, prompt: task, subagent_type: 'general' }),
    ask: ({ question, options }) =>
      call('question', { questions: [{ question, header: 'Choice', options: explained(options) }] }),
    mcp: ({ server, tool, input }) => call(`${server}_${tool}`, input),
  },
}

/** Qwen Code is a fork of Gemini CLI; tools that are not listed have the same names. */
const qwen: Toolbox = {
  names: {
    edit: ({ path, from, to }) => call('edit', { file_path: path, old_string: from, new_string: to }),
    plan: ({ items }) =>
      call('todo_write', {
        todos: items.map(({ text, status }, index) => ({ id: String(index + 1), content: text, status })),
      }),
    delegate: ({ task }) =>
      call('agent', { description: JOB, prompt: task, subagent_type: 'general-purpose' }),
    ask: ({ question, options }) =>
      call('ask_user_question', {
        questions: [{ question, header: 'Choice', multiSelect: false, options: explained(options) }],
      }),
    propose: ({ plan }) => call('exit_plan_mode', { plan }),
    mcp: ({ server, tool, input }) => call(`mcp__${server}__${tool}`, input),
  },
  hidden: { behind: ['run_shell_command', 'tool_search'], actions: ['mcp', 'plan'] },
}

/** Runs commands with the same call as OpenCode. */
const copilot: Toolbox = {
  names: {
    write: ({ path, content }) => call('create', { path, file_text: content }),
    edit: ({ path, from, to }) => call('edit', { path, old_str: from, new_str: to }),
    read: ({ path }) => call('view', { path }),
    delegate: ({ task }) => {
      const input = { name: 'job', description: JOB, prompt: task, agent_type: 'general-purpose' }
      return call('task', { ...input, mode: 'sync' })
    },
    ask: ({ question, options }) => call('ask_user', { question, choices: options }),
    mcp: ({ server, tool, input }) => call(`${server}-${tool}`, input),
  },
}

/** Runs commands with the same call as OpenCode. */
const pi: Toolbox = {
  names: {
    write: ({ path, content }) => call('write', { path, content }),
    edit: ({ path, from, to }) => call('edit', { path, edits: [{ oldText: from, newText: to }] }),
    read: ({ path }) => call('read', { path }),
  },
}

// If two programs have a tool of the same name, the first whose arguments match wins.
const TOOLBOXES: readonly Toolbox[] = [claude, codex, codexPrograms, gemini, qwen, opencode, copilot, pi]

/** The tool calls of the program for an action; undefined if it has no tool for it. */
export function callsFor(action: Action, request: ModelCall): readonly NativeCall[] | undefined {
  for (const toolbox of TOOLBOXES) {
    const calls = named(toolbox, located(action, request), request)
    if (calls?.every((one) => isOffered(request, one) || isHidden(toolbox, action, request))) return calls
  }
  return undefined
}

/** The text for an action, for programs that read it from the text instead of a call. */
export function wordsFor(action: Action, { tools }: ModelCall): string | undefined {
  const isCodex = tools.some(({ name }) => name === 'exec_command' || name === 'exec')
  return isCodex && action.do === 'propose' ? `<proposed_plan>\n${action.plan}\n</proposed_plan>` : undefined
}

/** Makes paths absolute, as models do, if the prompt contains the working directory: `CWD:/path`. */
function located(action: Action, { messages }: ModelCall): Action {
  if (!('path' in action)) return action
  const emitted = messages.findLast(({ role, text }) => role === 'user' && CWD.test(text))?.text ?? ''
  const directory = CWD.exec(emitted)?.[1]
  return directory === undefined ? action : { ...action, path: resolve(directory, action.path) }
}

function isHidden({ hidden }: Toolbox, action: Action, { tools }: ModelCall): boolean {
  if (!hidden?.actions.includes(action.do)) return false
  return hidden.behind.every((wanted) => tools.some(({ name }) => name === wanted))
}

function named<Do extends keyof Actions>(
  { names }: Toolbox,
  action: { readonly do: Do } & Actions[Do],
  request: ModelCall,
): readonly NativeCall[] | undefined {
  const naming: Naming<Do> | undefined = names[action.do]
  return naming?.(action, request)
}
