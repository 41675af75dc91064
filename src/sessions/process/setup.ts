import type { Agent, Launch, LaunchRecipe, Start } from '../../agents/agent.ts'
import type { RunContext } from '../../drivers/driver.ts'
import { uuidOfDigest } from '../../model/ids.ts'
import {
  type Command,
  type ErrorInfo,
  type Image,
  type LaunchKind,
  MainstemError,
  type Policy,
  type SessionOptions,
  toMainstemError,
} from '../../model/index.ts'
import type { Author } from '../../model/request/request.ts'
import { rewindTurn, verbIn } from '../../model/request/verb.ts'
import type { Verb } from '../../model/session/capability.types.ts'
import { optionDirectories } from '../../model/session/option-directories.ts'
import type { SessionState } from '../../stores/store.ts'
import type { AgentSettings, SessionDeps } from '../deps.ts'
import type { BeforeStart } from '../machine/conversation-deps.ts'
import type { ApprovalContext } from '../turns/approval.ts'
import { launchable } from './launchable.ts'
import type { Chosen } from './recipes.ts'

/** The validated settings of a session. */
export interface SessionSetup {
  id: string
  agent: Agent
  /** The version of the agent program, if known. */
  version: string | undefined
  recipe: LaunchRecipe
  launch: LaunchKind
  cwd: string
  project: string | undefined
  name: string | undefined
  policy: Policy
  /** The native name of the mode that the session had before this owner. */
  mode: string | undefined
  options: SessionOptions
  resume: string | undefined
  /** Continues a copy of the conversation to resume. */
  fork?: boolean
  attended: boolean
  /** What the agent is told of the session before its first prompt, because another agent began it. */
  recap?: string | undefined
  /** Variables of the caller, in place of those of the server; lost with this object. */
  keys?: Readonly<Record<string, string>> | undefined
  /** The state before the start of a process that an earlier owner left, and this one continues. */
  before?: BeforeStart | undefined
}

/** An accepted prompt. */
export interface Prompt {
  turn: number
  author: Partial<Author>
  text: string
  images: readonly Image[]
}

export type PromptCommand = Extract<Command, { type: 'prompt' }>

/** The id of a prompt. It follows from the turn, so that a later command can name the prompt of an earlier turn. */
function promptIdOf({ id }: Pick<SessionSetup, 'id'>, turn: number, newHash: SessionDeps['newHash']): string {
  const hash = newHash()
  hash.update(new TextEncoder().encode(`${id} ${turn}`))
  return uuidOfDigest(hash.digest('hex'))
}

/** Builds the prompt command. The first prompt includes the images of the session. */
export function promptCommand(
  setup: SessionSetup,
  prompt: Prompt,
  newHash: SessionDeps['newHash'],
): PromptCommand {
  const { options } = setup
  const { turn, text } = prompt
  const promptId = promptIdOf(setup, turn, newHash)
  const verb = verbIn(text)
  const rewindTo = verb?.verb === 'rewind' && promptIdOf(setup, rewindTurn(verb), newHash)
  const images = turn === 1 ? [...(options.images ?? []), ...prompt.images] : [...prompt.images]
  return {
    type: 'prompt',
    text,
    promptId,
    ...(images.length > 0 && { images }),
    ...(rewindTo && { rewindTo }),
  }
}

/** The start settings of every process of a session. */
export function startOf(setup: SessionSetup): Omit<Start, 'epoch'> {
  const { launch, cwd, policy, mode, options, resume, fork, version } = setup
  return {
    launch,
    cwd,
    policy,
    options,
    ...(version !== undefined && { version }),
    ...(mode !== undefined && { mode }),
    ...(resume !== undefined && { resume }),
    ...(resume !== undefined && fork && { fork }),
  }
}

const EVERYTHING: Policy = { approval: 'auto-all', sandbox: 'full-access' }

/** What a native mode allows is unknown, so it is kept only if the configuration allows everything. */
export function allowedMode(state: SessionState, limit: SessionDeps['limit']): string | undefined {
  const { approval, sandbox } = limit?.(EVERYTHING) ?? EVERYTHING
  if (approval !== EVERYTHING.approval || sandbox !== EVERYTHING.sandbox) delete state.mode
  return state.mode
}

/** Builds the context of approval decisions. */
export function approvalContext(
  { agent, policy, attended, cwd, options }: SessionSetup,
  { isInside, mayWorkIn }: SessionDeps,
): ApprovalContext {
  const hooked = options.hooks?.beforeToolCall !== undefined
  // A workspace that was replaced by a link contains no file.
  const isAllowed = () => mayWorkIn?.(cwd) ?? true
  return {
    policy,
    hooked,
    attended,
    means: agent.tools?.means,
    deniesUnlisted: agent.tools?.asksForUnlisted,
    isInside: (path) => isAllowed() && isInside(path, cwd),
  }
}

/** Throws `forbidden` if processes may no longer work in a directory of the session. */
export function checkDirectories(
  { cwd, options }: Pick<SessionSetup, 'cwd' | 'options'>,
  { mayWorkIn }: Pick<SessionDeps, 'mayWorkIn'>,
): void {
  const named = [{ directory: cwd, field: 'cwd' }, ...optionDirectories(options)]
  const lost = named.find(({ directory }) => mayWorkIn?.(directory) === false)
  if (lost === undefined) return
  const { field } = lost
  throw new MainstemError('forbidden', `${field}: not a directory below the configured roots`, {
    field,
    advice: 'Use an existing directory below a root, or have the operator add it to `roots`.',
  })
}

export type Change = Extract<Command, { type: 'set_model' | 'set_policy' }>

/** The settings that a command can change. */
export type Settings = Pick<SessionSetup, 'policy' | 'options'>

export function changed({ policy, options }: Settings, command: Change): Settings {
  if (command.type === 'set_policy') return { policy: command.policy ?? policy, options }
  const { model: _, ...others } = options
  return { policy, options: command.model === null ? others : { ...others, model: command.model } }
}

/** Refuses a change that no process could be started with. Converts a mode to a policy for one-shot launches. */
export function checkedChange(setup: SessionSetup, settings: Settings, command: Change): Change {
  const change = modeAsPolicy(setup, settings, command)
  const mode = change.type === 'set_policy' ? change.mode : undefined
  const next = { ...setup, ...changed(settings, change), mode, resume: undefined }
  launchable(setup.recipe, { ...startOf(next), epoch: 1 })
  return change
}

function modeAsPolicy(
  { agent, launch, recipe }: SessionSetup,
  { policy }: Settings,
  command: Change,
): Change {
  if (launch !== 'oneshot' || command.type !== 'set_policy' || command.mode === undefined) return command
  const { mode } = command
  const meant = recipe.modes && Object.hasOwn(recipe.modes, mode) ? recipe.modes[mode] : undefined
  if (!meant) {
    throw new MainstemError('unsupported_option', `mode ${mode} is not supported by a ${launch} ${agent.id}`)
  }
  return { type: 'set_policy', policy: { ...policy, ...command.policy, ...meant } }
}

/** Refuses a hook that would never be called. */
export function checkHook(
  setup: Pick<SessionSetup, 'agent' | 'launch' | 'recipe' | 'policy' | 'options'>,
): void {
  const { agent, launch, recipe, policy, options } = setup
  if (options.hooks?.beforeToolCall === undefined) return
  const refuse = (why: string) =>
    new MainstemError('unsupported_option', `hooks.beforeToolCall is not supported ${why}`)
  if (!recipe.capabilities.permissions) throw refuse(`by a ${launch} ${agent.id}: it never asks`)
  if (policy.approval === 'auto-all')
    throw refuse('with auto-all, which makes agents skip their requests; use ask')
}

/** Refuses to continue a native conversation that this launch cannot continue. */
export function checkResume(setup: SessionSetup, resume: string): void {
  requireCapability(setup, 'resume')
  setup.recipe.launch({ ...startOf({ ...setup, mode: undefined, resume }), epoch: 1 })
}

/** Refuses a change that the agent does not support, and one that could bypass the hook. */
export function checkChange(setup: SessionSetup, command: Change): void {
  if (command.type === 'set_model') requireCapability(setup, 'setModel')
  else if (command.mode !== undefined) requireCapability(setup, 'setMode')
  if (command.type !== 'set_policy' || setup.options.hooks?.beforeToolCall === undefined) return
  if (command.policy) checkHook({ ...setup, policy: command.policy })
  if (command.mode !== undefined) {
    const why = 'its requests are unknown, so the hook could be bypassed; change the policy instead'
    throw new MainstemError('unsupported_option', `mode ${command.mode} with hooks.beforeToolCall: ${why}`)
  }
}

/** The run id of hook processes. */
export function hookRunId(session: string): string {
  return `${session}.hook`
}

/** Throws `unsupported_option` if this launch lacks a capability. */
export function requireCapability(
  setup: SessionSetup,
  capability: 'images' | 'resume' | 'steer' | 'setModel' | 'setMode',
): void {
  const { agent, launch, recipe } = setup
  const has = recipe.capabilities[capability]
  if (has !== false && has !== 'none') return
  throw new MainstemError('unsupported_option', `${capability} is not supported by a ${launch} ${agent.id}`)
}

/** Refuses a command that the agent does not have. */
export function requireVerb({ agent, launch, recipe }: Chosen, verb: Verb): void {
  if (recipe.capabilities.verbs?.includes(verb)) return
  const why = recipe.lacks?.[verb]
  throw new MainstemError(
    'unsupported_option',
    `${verb} is not supported by a ${launch} ${agent.id}${why === undefined ? '' : `: ${why}`}`,
  )
}

/**
 * Refuses a prompt that is a command which the agent would take for text. Launches that list no commands, such as most
 * over ACP, check those that the agent names.
 */
export function checkPrompt(setup: SessionSetup, prompt: NonNullable<Start['prompt']>): void {
  if (prompt.images.length > 0) checkImages(setup, prompt)
  const verb = verbIn(prompt.text)
  const { capabilities, lacks } = setup.recipe
  if (verb === undefined || !(capabilities.verbs || lacks?.[verb.verb])) return
  requireVerb(setup, verb.verb)
  if (verb.verb === 'rewind') rewindTurn(verb)
}

/** Refuses images that the agent cannot take with this prompt. */
function checkImages(setup: SessionSetup, prompt: NonNullable<Start['prompt']>): void {
  requireCapability(setup, 'images')
  const { recipe, launch } = setup
  const start = startOf({ ...setup, mode: undefined, resume: undefined })
  if (launch === 'oneshot') recipe.launch({ ...start, epoch: 1, prompt })
}

/** The run context of a process. */
export function runContext(
  { id, cwd, options, keys }: SessionSetup,
  { epoch }: Start,
  { env }: AgentSettings,
  { mayWorkIn }: Pick<SessionDeps, 'mayWorkIn'>,
): Omit<RunContext, 'values'> {
  const context = { runId: `${id}.${epoch}`, cwd, env: { ...env, ...options.env }, ...(keys && { keys }) }
  return mayWorkIn ? { ...context, isRealCwd: true } : context
}

/** Returns what to start, or a refusal: an id to resume can make a launch impossible that was possible before. */
export function prepareLaunch(
  setup: SessionSetup,
  start: Start,
  settings: AgentSettings,
  deps: SessionDeps,
): { launch: Launch } | { refused: ErrorInfo } {
  try {
    checkDirectories(setup, deps)
    return { launch: replaceProgram(setup.recipe.launch(start), settings) }
  } catch (thrown) {
    const { code, message } = toMainstemError(thrown)
    return { refused: { code, message } }
  }
}

/** Applies the configured command of the agent. */
function replaceProgram(launch: Launch, settings: AgentSettings): Launch {
  const [program, ...rest] = settings.command ?? []
  if (program === undefined || !('argv' in launch)) return launch
  return { ...launch, argv: [program, ...rest, ...launch.argv.slice(1)] }
}

/** The agent counts the budget per process, not per turn. */
export function hasProcessBudget({ policy, recipe }: SessionSetup): boolean {
  return policy.maxBudgetUsd !== undefined && recipe.steps?.budget === 'process'
}
