import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ProcessInfo, type ProcessTable, processTable } from '../../../src/drivers/tree/process-table.ts'
import { ProcessTree } from '../../../src/drivers/tree/process-tree.ts'
import { sweep } from '../../../src/drivers/tree/sweep.ts'
import { isAlive, QUICK, zombiesOf } from '../fake-run.ts'

const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
      await once(child, 'exit')
  }
})

function sleeper(runId?: string, program = 'sleep'): ChildProcess {
  const env = { PATH: process.env.PATH, ...(runId !== undefined && { MAINSTEM_RUN: runId }) }
  return keep(spawn(program, ['600'], { detached: true, stdio: 'ignore', env }))
}

/** Ended after the test. */
function keep(child: ChildProcess): ChildProcess {
  children.push(child)
  return child
}

/** A machine on paper. */
function tableOf(processes: ProcessInfo[], marked: number[] = []): ProcessTable {
  return {
    async scan() {
      return { processes, marks: new Map(marked.map((pid) => [pid, ['MAINSTEM_RUN=run']])) }
    },
    now: () => 0,
    startOf: (pid) => processes.find((process) => process.pid === pid)?.started,
    isAlive: ({ pid, started }) => processes.some((one) => one.pid === pid && one.started === started),
    marksOf: () => undefined,
    hasOpen: () => true,
  }
}

const info = (pid: number, parent: number, session = pid, started = `t${pid}`): ProcessInfo => ({
  pid,
  parent,
  group: session,
  session,
  started,
})

const pids = async (tree: ProcessTree) => (await tree.look()).map(({ pid }) => pid).sort((a, b) => a - b)

describe('the tree of a run', () => {
  it('is its session, what is marked, and their descendants', async () => {
    const machine = [
      info(10, 1),
      info(11, 10, 10),
      info(12, 1, 10),
      info(13, 11),
      info(20, 1),
      info(21, 20),
      info(30, 1),
    ]
    expect(await pids(new ProcessTree(tableOf(machine, [20]), ['run'], 10))).toEqual([10, 11, 12, 13, 20, 21])
  })

  it('keeps a known process that lost its parent and its session', async () => {
    const machine = [info(10, 1), info(11, 10)]
    const tree = new ProcessTree(tableOf(machine), ['run'], 10)
    expect(await pids(tree)).toEqual([10, 11])
    machine.splice(0, 2, info(11, 1))
    expect(await pids(tree)).toEqual([11])
  })

  it('drops a pid that was reused', async () => {
    const machine = [info(10, 1), info(11, 10)]
    const tree = new ProcessTree(tableOf(machine), ['run'], 10)
    await tree.look()
    machine.splice(0, 2, info(10, 1, 10, 'later'), info(11, 1, 11, 'later'), info(12, 10, 10))
    expect(await pids(tree)).toEqual([])
  })

  it('never contains this process', async () => {
    const machine = [info(10, 1), info(process.pid, 10)]
    expect(await pids(new ProcessTree(tableOf(machine, [process.pid]), ['run'], 10))).toEqual([10])
  })

  it('does not signal a process whose start time differs', async () => {
    const innocent = sleeper()
    const table = processTable('linux')
    const tree = new ProcessTree(table, [])
    const stale = { ...info(innocent.pid ?? 0, 1), started: '1' }
    tree.signal([stale], 'SIGKILL')
    expect(isAlive(innocent.pid)).toBe(true)
    tree.signal([{ ...stale, started: table.startOf(stale.pid) ?? '' }], 'SIGKILL')
    expect(await once(innocent, 'exit')).toEqual([null, 'SIGKILL'])
  })

  it('may be signalled when it is already gone', async () => {
    const machine = [info(2 ** 22 + 1, 1)]
    const tree = new ProcessTree(tableOf(machine), ['run'])
    expect(() => tree.signal(machine, 'SIGKILL')).not.toThrow()
  })
})

describe.each(['linux', 'darwin'] as const)('the list of processes on %s', (platform) => {
  const table = processTable(platform)

  it('shows a process with its parent, its group and its start', async () => {
    const child = sleeper()
    const list = (await table.scan(0)).processes
    const { pid = 0 } = child
    const started = table.startOf(pid)
    expect(list).toContainEqual({ pid, parent: process.pid, group: pid, session: pid, started })
  })

  it('reads names with spaces and brackets', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drivers-'))
    const program = join(folder, 'a) S 1 (b')
    copyFileSync('/bin/sleep', program)
    const child = sleeper(undefined, program)
    const list = (await table.scan(0)).processes
    rmSync(folder, { recursive: true })
    expect(list.find(({ pid }) => pid === child.pid)).toMatchObject({ parent: process.pid, group: child.pid })
  })

  it('leaves zombies out', async () => {
    // What takes the place of this shell does not know of its child and never asks for it.
    const parent = keep(spawn('sh', ['-c', 'true & exec sleep 600'], { detached: true, stdio: 'ignore' }))
    await vi.waitFor(() => expect(zombiesOf(parent.pid)).toHaveLength(1), 5_000)
    const list = (await table.scan(0)).processes
    const inSession = list.filter(({ session }) => session === parent.pid)
    expect(inSession.map(({ pid }) => pid)).toEqual([parent.pid])
  })

  it('has no start for a process that is gone', async () => {
    const child = sleeper()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(table.startOf(child.pid ?? 0)).toBeUndefined()
  })
})

describe('the marker', () => {
  it('is found whole, and only whole', async () => {
    const runId = randomUUID()
    const child = sleeper(runId)
    const found = async (marker: string) =>
      (await new ProcessTree(processTable('linux'), [marker]).look()).map(({ pid }) => pid)
    expect(await found(runId)).toEqual([child.pid])
    expect(await found(runId.slice(0, -1))).toEqual([])
    expect(await found(runId.slice(1))).toEqual([])
  })
})

describe('the sweep after a crash', () => {
  it('ends processes of every run of an owner, and none of another owner', async () => {
    const [owner, other] = [randomUUID(), randomUUID()]
    const left = [sleeper(`${owner}.a.1`), sleeper(`${owner}.a.2`), sleeper(`${owner}.b.hook`)]
    const stays = [sleeper(`${other}.a.1`), sleeper(`a.1.${owner}.`), sleeper(owner)]
    expect(await sweep([], { owner, graces: QUICK })).toEqual([])
    expect(left.map(({ pid }) => isAlive(pid))).toEqual([false, false, false])
    expect(stays.map(({ pid }) => isAlive(pid))).toEqual([true, true, true])
  })

  it('ends processes of earlier runs, and none of other runs', async () => {
    const [first, second, other] = [randomUUID(), randomUUID(), randomUUID()]
    const left = [sleeper(first), sleeper(first), sleeper(second)]
    const stays = [sleeper(other), sleeper()]
    expect(await sweep([first, second], { graces: QUICK })).toEqual([])
    expect(left.map(({ pid }) => isAlive(pid))).toEqual([false, false, false])
    expect(stays.map(({ pid }) => isAlive(pid))).toEqual([true, true])
  })

  it('can be repeated', async () => {
    const runId = randomUUID()
    sleeper(runId)
    expect(await sweep([runId], { graces: QUICK })).toEqual([])
    expect(await sweep([runId], { graces: QUICK })).toEqual([])
  })
})

it("the tools of a turn are processes that started during it outside of the agent's session, with descendants", async () => {
  const agent = info(10, 1, 10, '50')
  const helper = info(11, 10, 10, '120')
  const earlier = info(12, 10, 12, '80')
  const tool = info(13, 10, 13, '120')
  const child = info(14, 13, 14, '300')
  const next = info(15, 10, 15, '201')
  const processes = [agent, helper, earlier, tool, child, next]
  const tools = new ProcessTree(tableOf(processes, [10]), ['run'], 10).tools(100, 200)
  expect(await tools.look()).toEqual([tool, child])
  // Its parent is gone: it stays one of them.
  processes.splice(processes.indexOf(tool), 1)
  processes[processes.indexOf(child)] = { ...child, parent: 1 }
  expect(await tools.look()).toEqual([{ ...child, parent: 1 }])
})
