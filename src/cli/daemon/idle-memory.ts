import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const CHECKED_MS = 5_000
/** A process that used no more processor time between two checks had nothing to do. */
const IDLE_CPU_MS = 50
/** A collection takes as long as its heap is large, so the heap must have grown by this much since the last one. */
const GROWTH = 1.5

interface Process {
  cpuMs(): number
  heapBytes(): number
  collect(): void
}

/** Returns a function to call at intervals: it collects garbage when the process is idle and its heap has grown. */
export function idleMemory({ cpuMs, heapBytes, collect }: Process): () => void {
  let used = cpuMs()
  let kept = 0
  return () => {
    const before = used
    used = cpuMs()
    if (used - before > IDLE_CPU_MS || heapBytes() < kept * GROWTH) return
    collect()
    used = cpuMs()
    kept = heapBytes()
  }
}

/**
 * Returns memory to the system whenever this process is idle. V8 collects garbage only when memory is asked for, so an
 * idle server would keep the memory of its start, and later that of its busiest minute.
 */
export function returnIdleMemory(): void {
  setFlagsFromString('--expose-gc')
  const gc: (options: object) => void = runInNewContext('gc')
  const check = idleMemory({
    cpuMs: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    // Only this kind of collection also makes the young generation small again.
    collect: () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  })
  setInterval(check, CHECKED_MS).unref()
}
