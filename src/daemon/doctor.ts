import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { spoolProblem } from '../drivers/spool.ts'
import type { StoreDamage, StoreReport } from '../stores/inspect.ts'
import { inspectStore } from '../stores/sqlite/inspect.ts'
import type { Config } from './config.ts'

export type { StoreDamage, StoreReport }

/** Compares the store of a server with its checksums; undefined where there is none yet. */
export async function examine({
  data,
  store,
}: Pick<Config, 'data' | 'store'>): Promise<StoreReport | undefined> {
  if (store?.url !== undefined) {
    const { inspectPostgres } = await import('../stores/postgres/inspect.ts')
    return inspectPostgres(store.url)
  }
  const directory = join(data, 'log')
  return existsSync(directory) ? inspectStore(directory) : undefined
}

/**
 * Why agents cannot outlive a server on this data directory; undefined if they can, or if no server has used it yet.
 * Creates nothing that stays.
 */
export function survivalProblem({
  data,
  durability,
}: Pick<Config, 'data' | 'durability'>): string | undefined {
  if (durability === 'none') return 'it keeps no log'
  const spool = join(data, 'spool')
  return existsSync(spool) ? spoolProblem(spool) : undefined
}
