import { performance } from 'node:perf_hooks'
import type { Clock } from '../sessions/deps.ts'

export { backgroundTimers, systemTimers } from '../drivers/timers.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
