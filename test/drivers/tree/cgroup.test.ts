import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { processDriver } from '../../../src/drivers/process.ts'
import { type CgroupFacts, cgroupsBelow, delegatedRoot, runGroups } from '../../../src/drivers/tree/cgroup.ts'
import { processTable } from '../../../src/drivers/tree/process-table.ts'
import { ProcessTree } from '../../../src/drivers/tree/process-tree.ts'
import { contextOf, expectNothingLeft, fakeAgent, isAlive, QUICK, readField } from '../fake-run.ts'

const folder = mkdtempSync(join(tmpdir(), 'groups-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('where groups may be made', () => {
  const facts = (more: Partial<CgroupFacts>): CgroupFacts => ({
    mounts: 'proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev 0 0\n',
    own: '0::/user.slice/app.scope\n',
    uid: 1000,
    ownerOf: () => 1000,
    ...more,
  })

  it.each<[string, Partial<CgroupFacts>, string | undefined]>([
    ['a scope that belongs to the user', {}, '/sys/fs/cgroup/user.slice/app.scope'],
    ['a scope that belongs to somebody else', { ownerOf: () => 0 }, undefined],
    ['a scope that is not there', { ownerOf: () => undefined }, undefined],
    ['a group of a service manager, to root', { uid: 0, ownerOf: () => 0 }, undefined],
    ['the top of a container, to its root', { uid: 0, ownerOf: () => 0, own: '0::/\n' }, '/sys/fs/cgroup/'],
    ['beside groups of the first version', { own: '4:memory:/x\n0::/mine\n' }, '/sys/fs/cgroup/mine'],
    ['groups of the first version alone', { own: '4:memory:/x\n' }, undefined],
    ['a tree that cannot be written', { mounts: 'c /sys/fs/cgroup cgroup2 ro 0 0\n' }, undefined],
    ['a system without groups', { mounts: '' }, undefined],
  ])('%s', (_, more, root) => {
    expect(delegatedRoot(facts(more))).toBe(root)
  })
})

describe('the groups of runs', () => {
  it('add processes, list them, and drop exited ones', async () => {
    const groups = cgroupsBelow(folder)
    await groups.enter('a', 7)
    expect(readFileSync(join(folder, 'mainstem-a', 'cgroup.procs'), 'utf8')).toBe('7')
    expect(groups.members(['a', 'b'])).toEqual(new Set([7]))
    rmSync(join(folder, 'mainstem-a', 'cgroup.procs'))
    groups.remove(['a', 'b'])
    expect(existsSync(join(folder, 'mainstem-a'))).toBe(false)
  })

  it('are found by the owner of their runs', async () => {
    const groups = cgroupsBelow(folder)
    for (const run of ['me.a.1', 'me.a.2', 'you.a.1']) await groups.enter(run, 7)
    expect([...groups.runsOf('me')].sort()).toEqual(['me.a.1', 'me.a.2'])
    expect(cgroupsBelow('/no/such/folder').runsOf('me')).toEqual([])
  })

  it('ignore a refusal of the system', async () => {
    const groups = cgroupsBelow('/no/such/folder')
    await groups.enter('a', process.pid)
    expect(groups.members(['a'])).toEqual(new Set())
    groups.remove(['a'])
  })

  it('count as a marker of a process', async () => {
    const groups = { ...cgroupsBelow('/no/such/folder'), members: () => new Set([process.ppid]) }
    const tree = new ProcessTree(processTable('linux'), ['run'], undefined, groups)
    expect((await tree.look()).map(({ pid }) => pid)).toContain(process.ppid)
  })
})

// What only the kernel can show; a machine that gives us no groups has nothing to show.
describe.runIf(runGroups())('a tool without session, environment and parent', () => {
  afterEach(expectNothingLeft)

  it('is found by its group', async () => {
    const entered = Promise.withResolvers<void>()
    const system = runGroups() ?? cgroupsBelow('/no/such/folder')
    const enter = (runId: string, pid: number) => system.enter(runId, pid).then(entered.resolve)
    const driver = processDriver({ graces: QUICK, groups: { ...system, enter } })
    const run = driver.start(fakeAgent('vanished'), contextOf())
    // A process takes a moment to enter its group; a tool that it starts before is outside.
    await entered.promise
    await run.write({ kind: 'text', text: 'start\n' })
    const tool = await readField(run, 'tool')
    expect(await run.exit).toEqual({ code: 0 })
    expect(isAlive(tool)).toBe(false)
  })
})
