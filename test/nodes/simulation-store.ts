import { MainstemError } from '../../src/model/index.ts'
import { NODE_SCOPE } from '../../src/nodes/executor.ts'
import type { Receipt } from '../../src/stores/store.ts'
import type { SharedStore } from './cluster.ts'

/**
 * Faults that a simulation of several nodes must find. `unfenced-append`: a node that was replaced writes on with the
 * fence and at the place of the new owner. `repeated-command`: a command has no key, and a node applies each twice.
 * `late-fence`: a node ends its agents five seconds late.
 */
export const NODE_PLANTS = ['unfenced-append', 'repeated-command', 'late-fence'] as const
export type NodePlant = (typeof NODE_PLANTS)[number]

export type SeenStore = ReturnType<typeof seenBy>

/** The store as one node sees it. */
export function seenBy(plant: NodePlant | undefined) {
  let isCut = false
  let isCutBySettling = false
  let held: PromiseWithResolvers<void> | undefined
  const guarded = <T extends object>(part: T, own: ReadonlyMap<string | symbol, unknown>): T =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = own.get(name) ?? Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (name === 'settle' && isCutBySettling) isCut = true
          if (isCut) return Promise.reject(new MainstemError('storage_failed', 'no connection'))
          return held ? held.promise.then(() => value.apply(target, args)) : value.apply(target, args)
        }
      },
    })
  return {
    /** Every later call fails. */
    cut() {
      isCut = true
    },
    /** The node cannot tell the outcome of the next command, nor anything after it. */
    cutBySettling() {
      isCutBySettling = true
    },
    /** Later calls wait until the returned function is called, and are made then. */
    hold(): () => void {
      const holding = Promise.withResolvers<void>()
      held = holding
      return () => {
        held = undefined
        holding.resolve()
      }
    },
    store(store: SharedStore): SharedStore {
      const nodes = guarded(store.nodes, new Map())
      const own = new Map<string | symbol, unknown>(Object.entries({ nodes, ...faults(store, plant) }))
      return guarded(store, own)
    },
  }
}

function faults(store: SharedStore, plant: NodePlant | undefined): Partial<SharedStore> {
  const isOfClient = ({ scope }: Receipt) => scope !== NODE_SCOPE
  if (plant === 'repeated-command') {
    return {
      receipt: async (scope, key) => (scope === NODE_SCOPE ? undefined : store.receipt(scope, key)),
      append: async (session, batch, fence) =>
        store.append(session, { ...batch, receipts: (batch.receipts ?? []).filter(isOfClient) }, fence),
    }
  }
  if (plant !== 'unfenced-append') return {}
  return {
    async append(session, batch) {
      const head = await store.head(session)
      const entries = batch.entries.map((entry, index) => ({ ...entry, seq: head + 1 + index }))
      for (let fence = 1; ; fence++) {
        try {
          return await store.append(session, { ...batch, entries }, fence)
        } catch (thrown) {
          if (!(thrown instanceof MainstemError) || thrown.code !== 'fenced' || fence > 1_000) throw thrown
        }
      }
    },
  }
}
