import type { NativeCall } from './scenario.ts'
import type { Toolbox } from './toolboxes.ts'

/** One program that calls a tool and shows the model what it returned. */
function program(tool: string, input: object | string): readonly NativeCall[] {
  return [
    { name: 'exec', namespace: 'functions', input: `text(await tools.${tool}(${JSON.stringify(input)}))` },
  ]
}

const patch = (lines: readonly string[]) =>
  program('apply_patch', ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'))

const marked = (mark: string, text: string) =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => mark + line)

/** The tools of Codex with its default model, which writes JavaScript programs that call most of them. */
export const codexPrograms: Toolbox = {
  names: {
    shell: ({ command, escalate }) =>
      program('exec_command', {
        cmd: command,
        ...(escalate && { sandbox_permissions: 'require_escalated', justification: 'May I run this?' }),
      }),
    write: ({ path, content }) => patch([`*** Add File: ${path}`, ...marked('+', content)]),
    edit: ({ path, from, to }) =>
      patch([`*** Update File: ${path}`, '@@', ...marked('-', from), ...marked('+', to)]),
    read: ({ path }) => program('exec_command', { cmd: `cat ${path}` }),
    plan: ({ items }) =>
      program('update_plan', { plan: items.map(({ text, status }) => ({ step: text, status })) }),
    delegate: ({ task }) => [
      {
        name: 'spawn_agent',
        namespace: 'collaboration',
        input: { message: task, task_name: 'job', fork_turns: 'none' },
      },
    ],
    join: () => [{ name: 'wait_agent', namespace: 'collaboration', input: { timeout_ms: 60_000 } }],
    ask: ({ question, options }) => [
      {
        name: 'request_user_input',
        namespace: 'functions',
        input: {
          questions: [
            {
              id: 'choice',
              header: 'Choice',
              question,
              options: options.map((label) => ({ label, description: `Choose ${label}` })),
            },
          ],
        },
      },
    ],
    mcp: ({ server, tool, input }) => program(`mcp__${server}__${tool}`, input),
  },
}
