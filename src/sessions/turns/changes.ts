import type { Actor } from '../../model/access.ts'
import { type Applied, type LaunchKind, MainstemError } from '../../model/index.ts'
import { type Change, changed, type SessionSetup, type Settings } from '../process/setup.ts'
import type { SessionParts } from '../session-parts.ts'

/**
 * Changes model, policy and mode. Sends the change to a running process if the protocol supports it. Otherwise the
 * process is stale: it ends with its turn, and the next prompt starts a new one that resumes the conversation.
 */
export class SettingChanges {
  readonly #parts: SessionParts
  readonly #setup: SessionSetup
  #upcoming: Settings | undefined
  #stale = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#setup = parts.setup
  }

  /** The running process has outdated settings. */
  get stale(): boolean {
    return this.#stale
  }

  /** The settings of the next turn. */
  get settings(): Settings {
    return this.#upcoming ?? this.#setup
  }

  /** Durable with the next commit. Throws and changes nothing if the agent cannot apply it. */
  change(command: Change, actor?: Actor): Applied {
    const { conversation, log } = this.#parts
    this.#checkDefaultModel(command)
    const applies = this.#send(command)
    const settings = changed(this.settings, command)
    conversation.change(settings, command)
    log.reconfigure(settings.options, conversation.mode)
    this.#parts.note(...changeFact(command, settings, actor))
    // The open turn ends under the settings that its process has.
    if (applies !== 'now' && conversation.turn !== undefined) {
      this.#upcoming = settings
      return 'next_turn'
    }
    Object.assign(this.#setup, changed(this.#setup, command))
    if (this.#upcoming) this.#upcoming = settings
    return 'now'
  }

  /** Replaces the variables of the caller. A process with other ones is stale, unless its conversation would be lost. */
  async replaceKeys(keys: SessionSetup['keys']): Promise<void> {
    if (!keys || sorted(keys) === sorted(this.#setup.keys)) return
    this.#setup.keys = keys
    const { agent, place } = this.#parts
    if (!agent.running || !this.#keepsConversation) return
    this.#stale = true
    if (place.idle) await place.closeIdle()
  }

  /** Call when a turn begins or a process starts: all changes take effect. */
  apply(): void {
    Object.assign(this.#setup, this.#upcoming)
    this.#upcoming = undefined
  }

  /** The images of a session belong to its first prompt. Kept, they would be written with every change of the record. */
  dropImages(): void {
    const { images, ...options } = this.#setup.options
    if (!images) return
    Object.assign(this.#setup, { options })
    const { log, conversation } = this.#parts
    log.reconfigure(options, conversation.mode)
  }

  /** Call when a new process starts: it has the current settings. */
  restarted(): void {
    this.apply()
    this.#stale = false
  }

  /** Continues a process of an earlier owner: its settings, and whether it has to be replaced. */
  attach({ policy }: Settings, isStale: boolean): void {
    this.#stale = isStale
    const next = { policy: this.#setup.policy, options: this.#setup.options }
    // The open turn ends under the policy that its process has.
    if (JSON.stringify(policy) === JSON.stringify(next.policy)) return
    this.#upcoming = next
    Object.assign(this.#setup, { policy })
  }

  #send(command: Change): 'now' | 'next_turn' | 'next_process' {
    const { agent, conversation } = this.#parts
    const hasProcess = agent.running || conversation.turn !== undefined
    if (this.#setup.launch === 'oneshot' || !hasProcess) return 'next_turn'
    const { writes, refused, applies = 'now' } = conversation.command(command)
    if (refused) throw new MainstemError(refused.code, refused.message)
    if (applies === 'next_process') this.#markStale()
    agent.write({ command, writes })
    return applies
  }

  /** Refused for agents that cannot resume: a new process would lose the conversation. */
  #markStale(): void {
    const { agent, launch } = this.#setup
    if (!this.#keepsConversation) {
      throw cannot(
        agent.id,
        launch,
        'this change needs another process, and it cannot resume its conversation',
      )
    }
    this.#stale = true
  }

  /** Another process can continue the conversation, or there is none yet. */
  get #keepsConversation(): boolean {
    const { recipe } = this.#setup
    return recipe.capabilities.resume || recipe.stateless === true || this.#parts.state.turns === 0
  }

  #checkDefaultModel(command: Change): void {
    const { agent, launch, recipe, options } = this.#setup
    if (command.type !== 'set_model' || command.model !== null || options.model === undefined) return
    if (!recipe.keepsModel || this.#parts.state.turns === 0) return
    throw cannot(
      agent.id,
      launch,
      'it keeps the last model of a conversation; name the model to continue with',
    )
  }
}

function sorted(keys: SessionSetup['keys'] = {}): string {
  return JSON.stringify(Object.entries(keys).sort())
}

function cannot(agent: string, launch: LaunchKind, why: string): MainstemError {
  return new MainstemError('unsupported_option', `not supported by a ${launch} ${agent}: ${why}`)
}

function changeFact(
  command: Change,
  { policy }: Settings,
  actor: Actor | undefined,
): Parameters<SessionParts['note']> {
  if (command.type === 'set_model') return ['model.changed', actor, { model: command.model ?? 'default' }]
  const { approval, sandbox } = policy
  return [
    'policy.changed',
    actor,
    command.mode === undefined ? { approval, sandbox } : { mode: command.mode },
  ]
}
