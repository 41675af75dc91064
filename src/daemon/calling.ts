import { systemTimers } from '../compose/clock.ts'
import type { AccessControl } from '../gateway/access/access-control.ts'
import type { Store } from '../stores/store.ts'
import { AddressGuard } from '../webhooks/address-guard.ts'
import type { CallDeps } from '../webhooks/attempt.ts'
import { Dispatcher } from '../webhooks/dispatcher.ts'
import { KEPT, Webhooks } from '../webhooks/webhooks.ts'
import type { Config } from './config.ts'

const HOUR_MS = 3_600_000

interface CallingParts {
  config: Config
  store: Store
  accessControl: AccessControl
  /** Where the server listens. */
  url(): string
  signal: AbortSignal
  report(thrown: unknown): void
}

/** What calls the webhooks. */
export interface RunningCalls {
  /** Settles when no webhook is called any more. */
  done: Promise<unknown>
  /** Whether calls wait for their time. */
  areDue(): Promise<boolean>
}

/** The webhooks of a server, and what calls them until the signal aborts. */
export function callingOf({ config, store, accessControl, url, signal, report }: CallingParts): {
  webhooks: Webhooks
  start(): RunningCalls
} {
  const { private: ranges, url: pageUrl = config.node.url, contact } = config.webhooks
  const deps: CallDeps = { guard: new AddressGuard(ranges), pageUrl: () => pageUrl ?? url(), contact }
  const dispatcher = new Dispatcher({
    ...deps,
    store,
    timers: systemTimers,
    now: () => store.access.now(),
    report,
    async mayRead(principal, owner) {
      if (!config.auth) return principal === owner
      const known = await accessControl.tokens()
      const isKnown = known.some((token) => token.principal === principal)
      return isKnown && (await accessControl.readableBy(principal)).has(owner)
    },
  })
  const forget = async () => {
    while (!signal.aborted) {
      const before = (await store.access.now()) - KEPT.ms
      await store.calls.forget({ before, kept: KEPT.each }).catch(report)
      await systemTimers.sleep(HOUR_MS, signal)
    }
  }
  return {
    webhooks: new Webhooks(store, deps),
    start: () => ({
      done: Promise.all([dispatcher.run(signal), forget()]).catch(report),
      areDue: async () => (await store.calls.due()).size > 0,
    }),
  }
}
