import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { procTable } from '../../../src/drivers/tree/proc-table.ts'
import { ProcessTree } from '../../../src/drivers/tree/process-tree.ts'

const FLAGS = { user: 0x400000, kernel: 0x200000 }
const MARK = 'MAINSTEM_RUN=a'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'proc-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Writes the files of one process, which leads a session of its own. */
function addProcess(pid: number, started: number, environment = '', flags = FLAGS.user): string {
  const folder = join(root, String(pid))
  mkdirSync(folder)
  const stat = ['S', 1, pid, pid, 0, -1, flags, ...Array.from({ length: 12 }, () => 0), started]
  writeFileSync(join(folder, 'stat'), `${pid} (sleep) ${stat.join(' ')}`)
  writeFileSync(join(folder, 'cmdline'), environment === '' ? '' : 'sleep\x30600\0')
  writeFileSync(join(folder, 'environ'), environment)
  return folder
}

function addMany(count: number, started: number): void {
  for (let pid = 1; pid <= count; pid++) addProcess(pid, started, 'HOME=/\0')
}

/** Calls of `read` that this process makes during some work. */
async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const count = () => Number(/syscr: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
  const before = count()
  await work()
  return count() - before
}

const pidsOf = async (tree: ProcessTree) => (await tree.look()).map(({ pid }) => pid)

it('tells the current time to a hundredth of a second', () => {
  writeFileSync(join(root, 'uptime'), '8.29 16.00\n')
  expect(procTable(root).now()).toBe(829)
})

describe('a scan of the processes', () => {
  it('is shared by all who ask at the same time', async () => {
    addMany(100, 500)
    const table = procTable(root)
    const trees = Array.from({ length: 20 }, (_, run) => new ProcessTree(table, [`run-${run}`]))
    const one = await readsOf(() => new ProcessTree(table, ['a']).look())
    const twenty = await readsOf(() => Promise.all(trees.map((tree) => tree.look())))
    expect(one).toBeGreaterThanOrEqual(200)
    expect(twenty).toBeLessThan(one * 1.5)
  })

  it('does not answer who asked after it began', async () => {
    addMany(100, 500)
    const table = procTable(root)
    const first = pidsOf(new ProcessTree(table, ['a']))
    await setImmediate()
    await setImmediate()
    // The first scan has listed the processes; this one starts afterwards.
    addProcess(1_000, 500, `${MARK}\0`)
    const second = pidsOf(new ProcessTree(table, ['a']))
    expect(await first).toEqual([])
    expect(await second).toEqual([1_000])
  })

  it('may fail, and the next one succeeds', async () => {
    const table = procTable(root)
    rmSync(root, { recursive: true })
    const failed = [table.scan(0), table.scan(0)]
    expect((await Promise.allSettled(failed)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    mkdirSync(root)
    addProcess(10, 500, `${MARK}\0`)
    expect((await table.scan(0)).marks).toEqual(new Map([[10, [MARK]]]))
  })

  it('reads the variables only of processes that are not older than the run', async () => {
    addMany(100, 400)
    addProcess(1_000, 500, `${MARK}\0`)
    const reads = (since: number) => readsOf(() => procTable(root).scan(since))
    expect((await reads(0)) - (await reads(500))).toBeGreaterThanOrEqual(100)
    addProcess(1_001, 499, `${MARK}\0`)
    addProcess(1_002, 500, `${MARK}\0`)
    addProcess(1_003, 501, `${MARK}\0`)
    expect(await pidsOf(new ProcessTree(procTable(root), ['a'], 1_000))).toEqual([1_000, 1_002, 1_003])
  })

  it('reads the variables that the oldest run of all who ask needs', async () => {
    addProcess(10, 500, `${MARK}\0`)
    addProcess(20, 600, 'MAINSTEM_RUN=b\0')
    addProcess(11, 550, `${MARK}\0`)
    const table = procTable(root)
    const trees = [new ProcessTree(table, ['b'], 20), new ProcessTree(table, ['a'], 10)]
    expect(await Promise.all(trees.map(pidsOf))).toEqual([[20], [10, 11]])
  })

  it('finds a mark that is not ASCII', async () => {
    addProcess(10, 500, 'TMPDIR=/tmp/ä\0')
    expect(
      await pidsOf(new ProcessTree(procTable(root), [], undefined, undefined, { folders: ['/tmp/ä'] })),
    ).toEqual([10])
  })
})

describe('a process that replaces its program', () => {
  it('is found by its mark once the new program is loaded', async () => {
    const folder = addProcess(10, 500)
    const scanned = procTable(root).scan(0)
    // The scan has begun, and has found neither arguments nor variables.
    await setImmediate()
    await setImmediate()
    writeFileSync(join(folder, 'cmdline'), 'sleep\x30600\0')
    writeFileSync(join(folder, 'environ'), `${MARK}\0`)
    expect((await scanned).marks).toEqual(new Map([[10, [MARK]]]))
  })

  it('is not waited for when it is a kernel thread', async () => {
    const folder = addProcess(10, 500, '', FLAGS.kernel)
    const scanned = procTable(root).scan(0)
    await setImmediate()
    await setImmediate()
    writeFileSync(join(folder, 'environ'), `${MARK}\0`)
    expect((await scanned).marks).toEqual(new Map([[10, []]]))
  })
})
