import { join } from 'node:path'
import { inspectStore, type StoreDamage, type StoreReport } from '../stores/sqlite/inspect.ts'
import { loadConfig } from './config.ts'

export type { StoreDamage, StoreReport }

export interface DoctorFlags {
  data?: string
  config?: string
}

/** Checks the store of a server, which may be running. */
export async function examine(flags: DoctorFlags): Promise<StoreReport> {
  const { data } = await loadConfig({ flags, environment: process.env, cwd: process.cwd() })
  return inspectStore(join(data, 'log'))
}
