import { describe, expect, it } from 'vitest'
import type { Timers } from '../../../src/drivers/driver.ts'
import { GRACES, terminate } from '../../../src/drivers/process/terminate.ts'
import type { ProcessInfo } from '../../../src/drivers/tree/process-table.ts'

const NEVER = new AbortController().signal

/** Time that jumps: a short wait passes at once, a grace passes after the short waits that fit into it. */
class JumpingTimers implements Timers {
  now = 0
  readonly #due: { at: number; wake: () => void }[] = []

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 100) {
      return new Promise((resolve) => {
        this.#due.push({ at: this.now + ms, wake: resolve })
        signal.addEventListener('abort', () => resolve())
      })
    }
    this.now += ms
    for (const { at, wake } of this.#due) if (at <= this.now) wake()
    await Promise.resolve()
  }
}

const member = (pid: number): ProcessInfo => ({
  pid,
  parent: 1,
  group: pid,
  session: pid,
  started: `t${pid}`,
})

/** A tree whose processes die of the signals they are said to die of. */
function treeOf(deadly: Record<number, NodeJS.Signals[]>, joining: number[][] = []) {
  const alive = new Set(Object.keys(deadly).map(Number))
  const heard: string[] = []
  return {
    heard,
    async look() {
      for (const pid of joining.shift() ?? []) alive.add(pid)
      return [...alive].map(member)
    },
    signal(members: readonly ProcessInfo[], signal: NodeJS.Signals) {
      for (const { pid } of members) {
        heard.push(`${pid} ${signal}`)
        if (signal === 'SIGKILL' || deadly[pid]?.includes(signal)) alive.delete(pid)
      }
    },
  }
}

describe('the signal sequence', () => {
  it('sends nothing to a tree that has ended', async () => {
    const tree = treeOf({})
    expect(await terminate(tree, GRACES, new JumpingTimers())).toEqual([])
    expect(tree.heard).toEqual([])
  })

  it('stops at the first signal that works', async () => {
    const timers = new JumpingTimers()
    const tree = treeOf({ 1: ['SIGINT'], 2: ['SIGINT'] })
    expect(await terminate(tree, GRACES, timers)).toEqual([])
    expect(tree.heard).toEqual(['1 SIGINT', '2 SIGINT'])
    expect(timers.now).toBeLessThan(100)
  })

  it('sends each signal once per process, and continues a stopped process after SIGTERM', async () => {
    const tree = treeOf({ 1: ['SIGINT'], 2: ['SIGCONT'] })
    expect(await terminate(tree, GRACES, new JumpingTimers())).toEqual([])
    expect(tree.heard).toEqual(['1 SIGINT', '2 SIGINT', '2 SIGTERM', '2 SIGCONT'])
  })

  it('includes processes that join meanwhile', async () => {
    const tree = treeOf({ 1: ['SIGINT'] }, [[], [2], [], [3]])
    expect(await terminate(tree, GRACES, new JumpingTimers())).toEqual([])
    expect(tree.heard.filter((heard) => heard.endsWith('SIGKILL'))).toEqual(['2 SIGKILL', '3 SIGKILL'])
  })

  it('treats a tree as ended only after the second scan', async () => {
    const tree = treeOf({ 1: ['SIGTERM'] }, [[], [], [2]])
    expect(await terminate(tree, GRACES, new JumpingTimers(), 'SIGTERM')).toEqual([])
    expect(tree.heard).toContain('2 SIGKILL')
  })

  it('can start at a later signal', async () => {
    const tree = treeOf({ 1: [] })
    await terminate(tree, GRACES, new JumpingTimers(), 'SIGTERM')
    expect(tree.heard).toEqual(['1 SIGTERM', '1 SIGCONT', '1 SIGKILL'])
  })

  it('sends a signal also when the first look outlasts its grace', async () => {
    const timers = new JumpingTimers()
    const tree = treeOf({ 1: [] })
    const look = async () => {
      timers.now += 20_000
      await timers.sleep(1, NEVER)
      return tree.look()
    }
    const slow = { ...tree, look }
    expect(await terminate(slow, GRACES, timers)).toEqual([])
    expect(tree.heard).toContain('1 SIGKILL')
  })

  it('gives up on time on processes that survive, and reports them', async () => {
    const timers = new JumpingTimers()
    const immortal = { look: async () => [member(7)], signal: () => undefined }
    expect(await terminate(immortal, GRACES, timers)).toEqual([member(7)])
    expect(timers.now).toBeGreaterThanOrEqual(10_000)
    expect(timers.now).toBeLessThan(10_500)
  })
})
