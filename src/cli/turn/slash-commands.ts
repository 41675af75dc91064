import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { SessionFacts } from '../../client/timeline/timeline.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { nearest } from '../../model/text/nearest.ts'
import { APPROVALS, SANDBOXES } from '../commands/choices.ts'

/** What the `/` commands of a session need. */
export interface SlashPlace {
  client: MainstemClient
  session: string
  /** What the session reported about itself. */
  facts(): SessionFacts
  note(text: string): Promise<void>
  interrupt(): void
  detach(): void
  /** Opens the page; undefined without a daemon. */
  openPage: (() => Promise<void>) | undefined
}

interface SlashCommand {
  argument?: string
  description: string
  /** The values that the argument can have. */
  values?(facts: SessionFacts): readonly string[]
  run(place: SlashPlace, argument: string): Promise<void>
}

const POLICIES: readonly string[] = [...APPROVALS, ...SANDBOXES]

const SLASH_COMMANDS: Readonly<Record<string, SlashCommand>> = {
  model: {
    argument: '<name>',
    description: 'switch the model',
    values: ({ models }) => models.map(({ id }) => id),
    async run({ client, session, facts, note }, model) {
      if (model === '') return note(listed('model', facts().model, SLASH_COMMANDS.model?.values?.(facts())))
      const { applied } = await client.setModel(session, model)
      await note(`model ${model}, ${WHEN[applied] ?? applied}`)
    },
  },
  mode: {
    argument: '<name>',
    description: "switch the agent's mode",
    values: ({ modes }) => modes.map(({ id }) => id),
    async run({ client, session, facts, note }, mode) {
      if (mode === '') return note(listed('mode', facts().mode, SLASH_COMMANDS.mode?.values?.(facts())))
      const { applied } = await client.setMode(session, { mode })
      await note(`mode ${mode}, ${WHEN[applied] ?? applied}`)
    },
  },
  policy: {
    argument: '<approval or sandbox>',
    description: 'change what runs without asking',
    values: () => POLICIES,
    run: setPolicy,
  },
  stop: { description: 'interrupt the turn', run: async ({ interrupt }) => interrupt() },
  detach: { description: 'leave; the session continues', run: async ({ detach }) => detach() },
  open: {
    description: 'open the page in the browser',
    async run({ openPage }) {
      if (!openPage)
        throw new MainstemError('invalid_request', '/open needs the daemon', {
          advice: 'Run without --ephemeral.',
        })
      await openPage()
    },
  },
  help: { description: 'list the keys and commands', run: ({ note }) => note(HELP()) },
}

const WHEN: Readonly<Record<string, string>> = { now: 'from now on', next_turn: 'from the next turn on' }

function listed(what: string, current: string | undefined, values: readonly string[] = []): string {
  const now = current === undefined ? `the ${what} is not known` : `${what} ${current}`
  return values.length === 0 ? now : `${now} · one of ${values.join(', ')}`
}

async function setPolicy({ client, session, note }: SlashPlace, value: string): Promise<void> {
  const { policy } = await client.session(session)
  const approval = APPROVALS.find((one) => one === value)
  const sandbox = SANDBOXES.find((one) => one === value)
  if (!approval && !sandbox) {
    if (value === '') return note(`approval ${policy.approval}, sandbox ${policy.sandbox}`)
    throw new MainstemError('invalid_request', `/policy: there is no "${value}"`, {
      advice: `Use an approval (${APPROVALS.join(', ')}) or a sandbox (${SANDBOXES.join(', ')}).`,
    })
  }
  const { applied } = await client.setMode(session, {
    policy: { ...policy, ...(approval ? { approval } : {}), ...(sandbox ? { sandbox } : {}) },
  })
  await note(`policy ${value}, ${WHEN[applied] ?? applied}`)
}

const KEYS = [
  ['Enter', 'queue the prompt: it runs after this turn'],
  ['Ctrl-S', 'steer: send it to the turn that runs, for agents that accept it'],
  ['Esc', 'interrupt the turn; the draft stays'],
  ['Ctrl-J', 'new line; also Alt-Enter, or a backslash before Enter'],
  ['↑ ↓', 'earlier prompts'],
  ['Ctrl-C', 'interrupt; twice, detach'],
] as const

function HELP(): string {
  const commands = Object.entries(SLASH_COMMANDS).map(
    ([name, { argument, description }]) =>
      [`/${name}${argument === undefined ? '' : ` ${argument}`}`, description] as const,
  )
  const rows = [...KEYS, ...commands]
  const width = Math.max(...rows.map(([key]) => key.length))
  return rows.map(([key, does]) => `  ${key.padEnd(width)}  ${does}`).join('\n')
}

/** Runs a `/` command of ours; undefined if the text is a prompt, such as a command of the agent or a path. */
export function runSlashCommand(place: SlashPlace, text: string): Promise<void> | undefined {
  const [, name, argument = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(text.trim()) ?? []
  if (name === undefined) return undefined
  const command = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined
  if (command) return command.run(place, argument.trim())
  const near = nearest(name, Object.keys(SLASH_COMMANDS))
  if (near === undefined) return undefined
  const error = new MainstemError('invalid_request', `there is no command /${name}`, {
    advice: `Did you mean /${near}? /help lists all.`,
  })
  return Promise.reject(error)
}

/** What the beginning of a command can become. */
export function slashCompletions(text: string, facts: SessionFacts): string[] {
  const [, name = '', value] = /^\/([a-z]*)(?:\s+(\S*))?$/.exec(text) ?? []
  if (!text.startsWith('/')) return []
  if (value === undefined)
    return Object.keys(SLASH_COMMANDS)
      .map((one) => `/${one}`)
      .filter((one) => one.startsWith(text))
  const values = Object.hasOwn(SLASH_COMMANDS, name) ? (SLASH_COMMANDS[name]?.values?.(facts) ?? []) : []
  return values.filter((one) => one.startsWith(value)).map((one) => `/${name} ${one}`)
}
