import type { WarmSession } from './warm-pool.ts'

/** The session that owns an engine. */
export interface EngineOwner extends WarmSession {
  /** No turn is open and the queue is empty. */
  becameIdle(): void
  /** The process has outdated settings and no turn is open: end it before the next turn. */
  endStaleProcess(): void
}
