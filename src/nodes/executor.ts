import { MainstemError, toMainstemError } from '../model/index.ts'
import type { Claim } from '../sessions/claim.ts'
import type { CommandContext } from '../sessions/command-context.ts'
import type { Flight } from '../sessions/in-flight.ts'
import type { Session } from '../sessions/session.ts'
import type { SessionHandle } from '../sessions/session-handle.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Store } from '../stores/store.ts'
import type { SessionCommand } from './wire.ts'

/** The scope of the keys of commands between nodes. No client can name it. */
export const NODE_SCOPE = 'node command'

/** The key that makes a command between nodes take effect once, even after a crash. */
export function commandKey(id: string): Claim {
  return { scope: NODE_SCOPE, key: id, fingerprint: '', answer: 'result' }
}

/** Applies commands to the sessions of this server. */
export class Executor {
  readonly #local: Sessions
  readonly #store: Pick<Store, 'receipt'>
  readonly #track: (work: Promise<unknown>) => void

  /** `track` receives the turns that the server waits for when it stops. */
  constructor(local: Sessions, store: Pick<Store, 'receipt'>, track: (work: Promise<unknown>) => void) {
    this.#local = local
    this.#store = store
    this.#track = track
  }

  /** Applies a command of this or another node. A repeated id has no second effect. */
  async applyOnce(
    id: string,
    session: string,
    command: SessionCommand,
    context: CommandContext,
  ): Promise<unknown> {
    const key = commandKey(id)
    const before = await this.#store.receipt(key.scope, key.key)
    if (before) return before.answer
    return this.apply(session, command, { ...context, claims: [key, ...(context.claims ?? [])] })
  }

  /** Like `applyOnce`, for a command of another node: also checks the idempotency keys of its client. */
  async applyForeign(
    id: string,
    session: string,
    command: SessionCommand,
    context: CommandContext,
  ): Promise<unknown> {
    const entered: Flight[] = []
    try {
      for (const claim of context.claims ?? []) {
        entered.push(await this.#local.receipts.inFlight.enter(claim))
        const used = await this.#store.receipt(claim.scope, claim.key)
        if (used && used.fingerprint !== claim.fingerprint) {
          throw new MainstemError(
            'idempotency_conflict',
            `key "${claim.key}" was used for a different request`,
          )
        }
        // The command was applied before, or the same request was applied for another node.
        if (used && !(await this.#isApplied(id))) throw repeated(claim)
      }
      return await this.applyOnce(id, session, command, context)
    } finally {
      for (const flight of entered) flight.leave()
    }
  }

  async #isApplied(id: string): Promise<boolean> {
    return (await this.#store.receipt(NODE_SCOPE, id)) !== undefined
  }

  /** Has the server wait for the turn when it stops. A queued turn stays in the queue for the next owner. */
  trackTurn(session: SessionHandle, turn: number): void {
    const unlessDraining = (thrown: unknown) => {
      if (toMainstemError(thrown).code !== 'draining') throw thrown
    }
    this.#track(session.ended(turn).catch(unlessDraining))
  }

  async apply(id: string, command: SessionCommand, context: CommandContext): Promise<unknown> {
    const local = this.#local
    switch (command.type) {
      case 'prompt': {
        const session = await local.open(id)
        const turn = await session.prompt(command.text, command.images, context)
        this.trackTurn(session, turn)
        return turn
      }
      case 'steer':
        return (await local.open(id)).steer(command.text, context)
      case 'change':
        return (await local.open(id)).change(command.change, context)
      case 'rename':
        return (await local.open(id)).rename(command.name, context)
      case 'answer':
        return (await local.open(id)).answer(command.answer, context)
      case 'interrupt':
        return (await this.#stoppable(id))?.interrupt(command.turn, context)
      case 'interrupt_all':
        return (await (await this.#stoppable(id))?.interruptAll(context, command.through)) ?? false
      case 'adopt':
        return (await local.open(id)).adopt(command.nativeSessionId, context)
      case 'deliver':
        return (await local.open(id)).delivered(command.reads)
      case 'hand_over':
        return local.continueWith(id, command, context)
      case 'describe':
        return (await local.open(id)).describe()
      case 'end':
        await local.open(id)
        return local.end(id, context)
      case 'finish':
        return local.finish(id)
      case 'delete':
        return local.delete(id, context)
      case 'remember':
        return local.remember(id, context)
      default:
        return command satisfies never
    }
  }

  /** Opens a session that does not run here, which ends a turn that its last owner left open. */
  async #stoppable(id: string): Promise<Session | undefined> {
    const running = this.#local.get(id)
    if (running) return running
    const record = await this.#local.record(id)
    return record === undefined || record.status === 'ended' ? undefined : this.#local.open(id)
  }
}

function repeated({ key }: Claim): MainstemError {
  return new MainstemError('conflict', `the request with key "${key}" was just applied; send it again`)
}
