import { readFileSync } from 'node:fs'

/** Linux names each start of the system here. */
const BOOT = '/proc/sys/kernel/random/boot_id'

/** Identifies the current start of the system. Pids and start times of processes compare only within one. */
export function bootId(): string | undefined {
  try {
    return readFileSync(BOOT, 'utf8').trim()
  } catch {
    return undefined
  }
}
