import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { OutputPosition } from '../../../src/drivers/driver.ts'
import { SpoolFolder } from '../../../src/drivers/spool/spool-folder.ts'
import {
  childrenOf,
  contextOf,
  expectNothingLeft,
  fakeAgent,
  isAlive,
  readField,
  startOf,
  stateOf,
  zombiesOf,
} from '../fake-run.ts'
import { spooled, startSpooled } from './spooled.ts'

const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  expectNothingLeft()
})

function keep(child: ChildProcess): number {
  children.push(child)
  return child.pid ?? 0
}

/** A suspended process that leads a session, as a stranger with a reused pid may. */
async function stranger(env: NodeJS.ProcessEnv = {}): Promise<number> {
  const { PATH } = process.env
  const pid = keep(spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: { PATH, ...env } }))
  process.kill(pid, 'SIGSTOP')
  await vi.waitFor(() => expect(stateOf(pid)).toBe('T'))
  return pid
}

/** A run whose owner and agent were killed. */
async function killed() {
  const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
  const context = contextOf()
  const run = startSpooled(spooled({ spool: root }), fakeAgent('hang'), 'open', context)
  await readField(run, 'ready')
  const position: OutputPosition = { stdout: 0, stderr: 0, ...run.lasting?.position }
  await run.lasting?.leave()
  const folder = SpoolFolder.of(root, context.runId)
  const { launcher } = folder
  process.kill(-(run.pid ?? 0), 'SIGKILL')
  // Its first owner is this process, and ends what is left of it.
  await run.exit
  return { next: spooled({ spool: root }), folder, context, position, launcher, pid: run.pid }
}

describe('the first process of a run', () => {
  it('is stored with its start time', async () => {
    const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
    const context = contextOf()
    const run = startSpooled(spooled({ spool: root }), fakeAgent('hang'), 'open', context)
    await readField(run, 'ready')
    const { launcher } = SpoolFolder.of(root, context.runId)
    expect(launcher).toEqual({ pid: run.pid, started: String(startOf(run.pid)) })
    await run.stop()
  })

  it.each([
    ['started at another time', {}, (pid: number) => `${pid} 1`],
    ['has not the mark of the run', {}, (pid: number) => `${pid} ${startOf(pid)}`],
    ['was started before a restart of the system', { boot: 'an earlier one' }, undefined],
  ])('is not a process with its pid that %s', async (_, facts, identityOf) => {
    const { next, folder, context, position } = await killed()
    const env = identityOf ? {} : { MAINSTEM_RUN: context.runId }
    const pid = await stranger(env)
    writeFileSync(folder.file('pid'), `${identityOf?.(pid) ?? `${pid} ${startOf(pid)}`}\n`)
    const stored = JSON.parse(readFileSync(folder.file('run.json'), 'utf8'))
    writeFileSync(folder.file('run.json'), `${JSON.stringify({ ...stored, ...facts })}\n`)
    expect((await next.left()).get(context.runId)?.isStarted).toBe(true)
    const run = next.attach(context.runId, position, context)
    expect(run.pid).toBeUndefined()
    if (identityOf) {
      expect(await run.exit).toEqual({ unseen: true })
      await next.terminate(context.runId)
      await next.remove(context.runId)
      expect(stateOf(pid)).toBe('T')
    } else {
      // It has the mark, as no stranger has, so this test ends it itself.
      process.kill(pid, 'SIGKILL')
      expect(await run.exit).toEqual({ unseen: true })
      await next.remove(context.runId)
    }
  })

  it('counts as started if the system was restarted before its pid was on the disk', async () => {
    const { next, folder, context } = await killed()
    writeFileSync(folder.file('pid'), '')
    expect((await next.left()).get(context.runId)?.isStarted).toBe(false)
    const stored = JSON.parse(readFileSync(folder.file('run.json'), 'utf8'))
    writeFileSync(folder.file('run.json'), `${JSON.stringify({ ...stored, boot: 'an earlier one' })}\n`)
    expect((await next.left()).get(context.runId)?.isStarted).toBe(true)
    await next.terminate(context.runId)
    await next.remove(context.runId)
  })

  it('leads to the processes of its run where the system reports no marks', async () => {
    const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
    const context = contextOf()
    const run = startSpooled(spooled({ spool: root }), fakeAgent('hang'), 'open', context)
    await readField(run, 'ready')
    await run.lasting?.leave()
    // As the launcher stores it there.
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(run.pid)], { env: { LC_ALL: 'C' } })
    writeFileSync(SpoolFolder.of(root, context.runId).file('pid'), `${run.pid} ${started}`)
    const next = spooled({ spool: root, platform: 'darwin' })
    expect((await next.left()).get(context.runId)?.isStarted).toBe(true)
    expect(await next.terminate(context.runId)).toEqual([])
    expect(isAlive(run.pid)).toBe(false)
  })

  it('is gone if nobody collects its exit code', async () => {
    const { next, folder, context, position } = await killed()
    // A shell that starts a child and then becomes a program that never waits for it.
    const { PATH } = process.env
    const script = `MAINSTEM_RUN=${context.runId} setsid sleep 600 & exec sleep 600`
    const parent = keep(spawn('/bin/sh', ['-c', script], { stdio: 'ignore', env: { PATH } }))
    const child = await vi.waitUntil(() => sleeping(parent), 10_000)
    writeFileSync(folder.file('pid'), `${child} ${startOf(child)}\n`)
    const run = next.attach(context.runId, position, context)
    expect(run.pid).toBe(child)
    process.kill(child, 'SIGKILL')
    await vi.waitFor(() => expect(zombiesOf(parent)).toEqual([child]))

    await run.stop()
    expect(await run.exit).toMatchObject({ unseen: true })
    await next.terminate(context.runId)
    await next.remove(context.runId)
  })
})

/** The child of a process, once both have become `sleep`. */
function sleeping(parent: number): number | undefined {
  const isSleep = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n'
  const [child] = childrenOf(parent)
  return child !== undefined && isSleep(parent) && isSleep(child) ? child : undefined
}
