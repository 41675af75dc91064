import type { Agent, Launch, LaunchRecipe, Start } from '../agents/agent.ts'
import type { RunContext } from '../drivers/driver.ts'
import {
  type Command,
  type ErrorInfo,
  Image,
  type LaunchKind,
  MainstemError,
  ModelName,
  ModeName,
  type Policy,
  type SessionOptions,
  toMainstemError,
} from '../model/index.ts'
import type { SessionState } from '../stores/store.ts'
import type { Circumstances } from './approval.ts'
import type { AgentSettings, SessionDeps } from './deps.ts'
import { parse } from './parse.ts'

/** What a session is made of, once it was found to be possible. */
export interface SessionSetup {
  id: string
  agent: Agent
  /** Of the agent's program, where it is known. */
  version: string | undefined
  recipe: LaunchRecipe
  launch: LaunchKind
  cwd: string
  project: string | undefined
  name: string | undefined
  policy: Policy
  /** The one that the session was in before this owner, by the agent's own name for it. */
  mode: string | undefined
  options: SessionOptions
  resume: string | undefined
  attended: boolean
}

/** A prompt that was accepted. */
export interface Prompt {
  turn: number
  text: string
  images: readonly Image[]
}

export type PromptCommand = Extract<Command, { type: 'prompt' }>

/** What the agent is told, under an id by which it can name it. Images of the session come with its first prompt. */
export function promptCommand({ options }: SessionSetup, prompt: Prompt, promptId: string): PromptCommand {
  const { turn, text } = prompt
  const images = turn === 1 ? [...(options.images ?? []), ...prompt.images] : [...prompt.images]
  return { type: 'prompt', text, promptId, ...(images.length > 0 && { images }) }
}

/** What every process of it is started with. */
export function startOf(setup: SessionSetup): Omit<Start, 'epoch'> {
  const { launch, cwd, policy, mode, options, resume, version } = setup
  return {
    launch,
    cwd,
    policy,
    options,
    ...(version !== undefined && { version }),
    ...(mode !== undefined && { mode }),
    ...(resume !== undefined && { resume }),
  }
}

const EVERYTHING: Policy = { approval: 'auto-all', sandbox: 'full-access' }

/** Nobody knows what a mode of the agent's own allows: it is kept only where everything is allowed. */
export function keptMode(state: SessionState, limit: SessionDeps['limit']): string | undefined {
  const { approval, sandbox } = limit?.(EVERYTHING) ?? EVERYTHING
  if (approval !== EVERYTHING.approval || sandbox !== EVERYTHING.sandbox) delete state.mode
  return state.mode
}

/** What the policy decides by, besides the request. */
export function circumstances(
  { agent, policy, attended, cwd, options }: SessionSetup,
  { isInside, mayWorkIn }: SessionDeps,
): Circumstances {
  const hooked = options.hooks?.beforeToolCall !== undefined
  // A workspace that was replaced by a link has no inside.
  const isPlace = () => mayWorkIn?.(cwd) ?? true
  return {
    policy,
    hooked,
    attended,
    means: agent.tools?.means,
    isInside: (path) => isPlace() && isInside(path, cwd),
  }
}

/** Throws `forbidden` when a directory of the session is no longer one that its processes may work in. */
export function checkPlaces(
  { cwd, options }: Pick<SessionSetup, 'cwd' | 'options'>,
  { mayWorkIn }: Pick<SessionDeps, 'mayWorkIn'>,
): void {
  const { extraDirectories = [] } = options
  const lost = [cwd, ...extraDirectories].find((directory) => mayWorkIn?.(directory) === false)
  if (lost === undefined) return
  const field = lost === cwd ? 'cwd' : 'options.extraDirectories'
  throw new MainstemError('forbidden', `${field}: not a directory below the configured roots`, {
    field,
    advice: 'Use an existing directory below a root, or have the operator add it to `roots`.',
  })
}

export type Change = Extract<Command, { type: 'set_model' | 'set_policy' }>

/** What a change can change. */
export type Settings = Pick<SessionSetup, 'policy' | 'options'>

export function changed({ policy, options }: Settings, command: Change): Settings {
  if (command.type === 'set_policy') return { policy: command.policy ?? policy, options }
  const { model: _, ...others } = options
  return { policy, options: command.model === null ? others : { ...others, model: command.model } }
}

/** Refuses a change that no process could be started with. A mode of a one-shot process becomes its policy. */
export function nextStart(setup: SessionSetup, settings: Settings, command: Change): Change {
  const change = byPolicy(setup, settings, command)
  const mode = change.type === 'set_policy' ? change.mode : undefined
  const next = { ...setup, ...changed(settings, change), mode, resume: undefined }
  setup.recipe.launch({ ...startOf(next), epoch: 1 })
  return change
}

function byPolicy({ agent, launch, recipe }: SessionSetup, { policy }: Settings, command: Change): Change {
  if (launch !== 'oneshot' || command.type !== 'set_policy' || command.mode === undefined) return command
  const { mode } = command
  const meant = recipe.modes && Object.hasOwn(recipe.modes, mode) ? recipe.modes[mode] : undefined
  if (!meant) {
    throw new MainstemError('unsupported_option', `mode ${mode} is not supported by a ${launch} ${agent.id}`)
  }
  return { type: 'set_policy', policy: { ...policy, ...command.policy, ...meant } }
}

/** A hook that would never be asked protects nothing, so it is refused. */
export function checkHook(
  setup: Pick<SessionSetup, 'agent' | 'launch' | 'recipe' | 'policy' | 'options'>,
): void {
  const { agent, launch, recipe, policy, options } = setup
  if (options.hooks?.beforeToolCall === undefined) return
  const refuse = (why: string) =>
    new MainstemError('unsupported_option', `hooks.beforeToolCall is not supported ${why}`)
  if (!recipe.capabilities.permissions) throw refuse(`by a ${launch} ${agent.id}: it never asks`)
  if (policy.approval === 'auto-all') throw refuse('with auto-all: agents are told not to ask; choose ask')
}

/** A change that could take the calls of the agent past its hook is refused. */
export function checkChange(setup: SessionSetup, command: Change): void {
  if (command.type === 'set_model') parse(ModelName.nullable(), command.model, 'model')
  else parse(ModeName.optional(), command.mode, 'mode')
  if (command.type !== 'set_policy' || setup.options.hooks?.beforeToolCall === undefined) return
  if (command.policy) checkHook({ ...setup, policy: command.policy })
  if (command.mode !== undefined) {
    const why = 'nobody knows what it asks about; change the policy'
    throw new MainstemError('unsupported_option', `mode ${command.mode} with hooks.beforeToolCall: ${why}`)
  }
}

/** Marks the processes of a session's hook. */
export function hookRunId(session: string): string {
  return `${session}.hook`
}

/** Refuses what this launch of the agent cannot do. */
export function need(setup: SessionSetup, capability: 'images' | 'steer' | 'setModel' | 'setMode'): void {
  const { agent, launch, recipe } = setup
  const has = recipe.capabilities[capability]
  if (has !== false && has !== 'none') return
  throw new MainstemError('unsupported_option', `${capability} is not supported by a ${launch} ${agent.id}`)
}

/** Refuses pictures that the agent cannot be shown with this prompt, before anything starts. */
export function checkImages(setup: SessionSetup, prompt: NonNullable<Start['prompt']>): void {
  need(setup, 'images')
  for (const [index, image] of prompt.images.entries()) {
    const issue = Image.safeParse(image).error?.issues[0]
    if (issue)
      throw new MainstemError(
        'invalid_request',
        `images.${[index, ...issue.path].join('.')}: ${issue.message}`,
      )
  }
  const { recipe, launch } = setup
  const start = startOf({ ...setup, mode: undefined, resume: undefined })
  if (launch === 'oneshot') recipe.launch({ ...start, epoch: 1, prompt })
}

/** What a process of the session is started with, besides its launch. */
export function runContext(
  { id, cwd, options }: SessionSetup,
  { epoch }: Start,
  { env }: AgentSettings,
  { mayWorkIn }: Pick<SessionDeps, 'mayWorkIn'>,
): Omit<RunContext, 'blobs'> {
  const context = { runId: `${id}.${epoch}`, cwd, env: { ...env, ...options.env } }
  return mayWorkIn ? { ...context, isRealCwd: true } : context
}

/** What to start, or why it is refused: an id to resume can make a launch impossible that was possible before. */
export function launchOf(
  setup: SessionSetup,
  start: Start,
  settings: AgentSettings,
  deps: SessionDeps,
): { launch: Launch } | { refused: ErrorInfo } {
  try {
    checkPlaces(setup, deps)
    return { launch: replaceProgram(setup.recipe.launch(start), settings) }
  } catch (thrown) {
    const { code, message } = toMainstemError(thrown)
    return { refused: { code, message } }
  }
}

/** The program that the configuration names instead of the agent's own. */
function replaceProgram(launch: Launch, settings: AgentSettings): Launch {
  const [program, ...rest] = settings.command ?? []
  if (program === undefined || !('argv' in launch)) return launch
  return { ...launch, argv: [program, ...rest, ...launch.argv.slice(1)] }
}

/** The agent counts the budget of a turn for its whole process. */
export function isBudgetOfProcess({ policy, recipe }: SessionSetup): boolean {
  return policy.maxBudgetUsd !== undefined && recipe.steps?.budget === 'process'
}
