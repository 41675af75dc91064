import { statfs } from 'node:fs/promises'
import type { GatewayDeps } from '../gateway/deps.ts'
import { type AccessLine, ServerStats } from '../gateway/http/server-stats.ts'
import type { Config } from './config.ts'
import { existingPart } from './write-failure.ts'

type Observed = Pick<GatewayDeps, 'stats' | 'processes' | 'access' | 'disk'>

/** What the gateway tells an operator about this server. */
export function observed(
  { data, accessLog }: Pick<Config, 'data' | 'accessLog'>,
  { processes }: Pick<Observed, 'processes'>,
  access: ((line: AccessLine) => void) | undefined,
): Observed {
  return {
    stats: new ServerStats(),
    processes,
    access: accessLog ? access : undefined,
    disk: () => diskOf(data),
  }
}

/** The disk of the data directory, or of the part of its path that exists. */
async function diskOf(data: string): Promise<{ free: number; total: number }> {
  const { bavail, blocks, bsize } = await statfs(await existingPart(data))
  return { free: bavail * bsize, total: blocks * bsize }
}
