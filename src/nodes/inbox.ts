import { MainstemError, toMainstemError } from '../model/index.ts'
import { parseField } from '../model/text/parse.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { until } from '../sessions/with-timeout.ts'
import type { NodeCommand } from '../stores/nodes.ts'
import type { NodeDeps } from './deps.ts'
import type { Executor } from './executor.ts'
import { withDirectories } from './placement.ts'
import { NodeCommandBody, type NodeOutcome } from './wire.ts'

/** The interval of polls for commands, in case a notification is lost. */
const POLL_MS = 1_000

/** Applies commands of other nodes: in order for each session, except interrupts, which are applied at once. */
export class Inbox {
  readonly #deps: NodeDeps
  readonly #local: Sessions
  readonly #executor: Executor
  readonly #running = new Set<string>()
  /** The last command of each session. */
  readonly #last = new Map<string, Promise<void>>()

  constructor(deps: NodeDeps, local: Sessions, executor: Executor) {
    this.#deps = deps
    this.#local = local
    this.#executor = executor
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, terms, background, report } = this.#deps
    while (!signal.aborted) {
      // Armed before reading: a command that arrives during the read must wake us.
      const arrived = until(background, POLL_MS, signal, (either) => store.nodes.arrived(terms.owner, either))
      arrived.catch(() => undefined)
      try {
        for (const command of await store.nodes.pending(terms.owner, [...this.#running])) this.#start(command)
        await arrived
      } catch (thrown) {
        report(thrown)
        await background.sleep(POLL_MS, signal)
      }
    }
  }

  #start(command: NodeCommand): void {
    const { id, urgent } = command
    this.#running.add(id)
    const body = bodyOf(command)
    const key = body instanceof MainstemError || body.kind === 'create' ? id : body.session
    const before = urgent ? undefined : this.#last.get(key)
    const done = (before ?? Promise.resolve())
      .then(() => this.#settle(command, body))
      // If its outcome cannot be stored, the command stays pending, and its key prevents a second effect.
      .catch((thrown) => this.#deps.report(thrown))
      .finally(() => {
        this.#running.delete(id)
        if (this.#last.get(key) === done) this.#last.delete(key)
      })
    if (!urgent) this.#last.set(key, done)
  }

  async #settle({ id, node }: NodeCommand, body: NodeCommandBody | MainstemError): Promise<void> {
    const outcome = await this.#outcome(id, body)
    await this.#deps.store.nodes.settle(id, node, JSON.stringify(outcome))
  }

  async #outcome(id: string, body: NodeCommandBody | MainstemError): Promise<NodeOutcome> {
    try {
      if (body instanceof MainstemError) throw body
      return { result: (await this.#do(id, body)) ?? null }
    } catch (thrown) {
      const { code, message, details } = toMainstemError(thrown)
      if (code === 'fenced' || code === 'draining') return { retry: true }
      return { error: { code, message, ...(details && { details }) } }
    }
  }

  async #do(id: string, body: NodeCommandBody): Promise<unknown> {
    const isDraining = this.#deps.info().draining
    if (body.kind === 'session') {
      const { session, command, claims, actor } = body
      // A session that still runs here takes commands until it is handed over, and leaves new prompts in its queue.
      if (isDraining && !this.#local.get(session)) throw stopping()
      return this.#executor.applyForeign(id, session, command, { claims, actor })
    }
    if (isDraining) throw stopping()
    const { once, request, prompt, actor, forkOf } = body
    const here = await withDirectories(request, this.#deps.directory)
    const limited = async () => this.#local.limited(here)
    const created = await this.#local.createOnce(once, limited, prompt, { actor, forkOf })
    const { session } = created
    if (session && prompt !== undefined) {
      const ended = session.ended(1).catch(() => undefined)
      // The node that sent it ends it too, in case this one is lost; either of them may be.
      this.#deps.track(request.single ? ended.then(() => this.#local.finish(created.id)) : ended)
    }
    return { id: created.id, created: session !== undefined }
  }
}

function bodyOf({ body }: NodeCommand): NodeCommandBody | MainstemError {
  try {
    return parseField(NodeCommandBody, JSON.parse(body), 'command')
  } catch (thrown) {
    const { message } = toMainstemError(thrown)
    return new MainstemError('unsupported_option', `this node does not know the command: ${message}`)
  }
}

function stopping(): MainstemError {
  return new MainstemError('draining', 'the node is stopping')
}
