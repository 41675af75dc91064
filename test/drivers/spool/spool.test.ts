import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { OutputPosition, Run } from '../../../src/drivers/driver.ts'
import { SpoolFolder } from '../../../src/drivers/spool/spool-folder.ts'
import type { SpoolDriver } from '../../../src/drivers/spool.ts'
import {
  bytesWritten,
  childrenOf,
  contextOf,
  expectNothingLeft,
  fakeAgent,
  isAlive,
  readAll,
  readField,
  stateOf,
} from '../fake-run.ts'
import { spooled, startSpooled, startSpooledFake } from './spooled.ts'

afterEach(expectNothingLeft)

/** A run that was left by its first owner, after it had read a field. */
async function left(mode: string, field: string, argument = '') {
  const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
  const context = contextOf()
  const run = startSpooled(spooled({ spool: root }), fakeAgent(mode, argument), 'open', context)
  const value = await readField(run, field)
  const position: OutputPosition = { stdout: 0, stderr: 0, ...run.lasting?.position }
  await run.lasting?.leave()
  const { runId } = context
  return {
    next: spooled({ spool: root }),
    run,
    value,
    position,
    context,
    runId,
    folder: SpoolFolder.of(root, runId),
  }
}

async function end(driver: SpoolDriver, runId: string, run?: Run): Promise<void> {
  await run?.stop()
  await driver.terminate(runId)
  await driver.remove(runId)
}

describe('a run that outlives its owner', () => {
  it('is continued after the output that the owner had', async () => {
    const { next, position, context, runId } = await left('tools', 'ready')
    const again = next.attach(runId, position, context)
    await again.write({ kind: 'text', text: 'here\n' })
    expect(isAlive(await readField(again, 'here'))).toBe(true)
    await end(next, runId, again)
  })

  it('delivers what the agent wrote meanwhile, and the exit code that nobody waited for', async () => {
    const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
    const context = contextOf()
    const first = startSpooled(spooled({ spool: root }), fakeAgent('flood', '3000'), 'open', context)
    const seen: string[] = []
    let position: OutputPosition = { stdout: 0, stderr: 0 }
    for await (const batch of first.frames) {
      seen.push(...batch.map(({ text }) => text))
      position = { ...position, ...first.lasting?.position }
      break
    }
    await first.lasting?.leave()
    const folder = SpoolFolder.of(root, context.runId)
    await vi.waitFor(() => expect(folder.exit).toEqual({ code: 0 }), 10_000)
    const next = spooled({ spool: root })
    const again = next.attach(context.runId, position, context)
    seen.push(...(await readAll(again)).map(({ text }) => text))
    expect(seen.map((text) => JSON.parse(text).n)).toEqual(Array.from({ length: 3000 }, (_, n) => n))
    expect(await again.exit).toEqual({ code: 0 })
    await next.remove(context.runId)
    expect(existsSync(folder.path)).toBe(false)
  })

  it('is reported as unseen if it was killed with its launcher meanwhile', async () => {
    const { next, run, position, context, runId } = await left('hang', 'ready')
    process.kill(-(run.pid ?? 0), 'SIGKILL')
    const again = next.attach(runId, position, context)
    expect(await again.exit).toEqual({ unseen: true })
    await end(next, runId)
  })

  it('can be stopped by its next owner', async () => {
    const { next, position, context, runId } = await left('polite', 'ready')
    const again = next.attach(runId, position, context)
    await again.stop()
    expect((await readAll(again)).map(({ text }) => text)).toEqual(['{"heard":"SIGINT"}'])
    expect(await again.exit).toEqual({ code: 7 })
    await end(next, runId)
  })

  it('is listed, and one that was prepared only is not started', async () => {
    const { next, runId, folder } = await left('hang', 'ready')
    next.prepare('other.1', 7)
    const times = (run: string) => {
      const at = (name: string) => statSync(SpoolFolder.of(dirname(folder.path), run).file(name)).mtimeMs
      return { startedAt: at('run.json'), outputAt: at('out') }
    }
    expect([...(await next.left()).values()]).toEqual([
      { runId, frame: 1, isStarted: true, ...times(runId) },
      { runId: 'other.1', frame: 7, isStarted: false, ...times('other.1') },
    ])
    await end(next, 'other.1')
    expect(await next.terminate(runId)).toEqual([])
    await next.remove(runId)
    expect(await next.left()).toEqual(new Map())
  })

  it('keeps the texts that a journal hides, without a line that was cut off', async () => {
    const { next, runId, folder } = await left('hang', 'ready')
    next.keep(runId, 1, 'one\n')
    next.keep(runId, 2, 'two')
    truncateSync(folder.file('kept'), statSync(folder.file('kept')).size - 3)
    expect([...next.kept(runId, 2)]).toEqual([[1, 'one\n']])
    next.keep(runId, 2, 'again')
    expect([...next.kept(runId, 2)]).toEqual([
      [1, 'one\n'],
      [2, 'again'],
    ])
    await end(next, runId)
  })

  it('forgets texts of frames that two owners died before committing', async () => {
    const { next, runId } = await left('hang', 'ready')
    next.keep(runId, 1, 'one')
    next.keep(runId, 2, 'of the first')
    expect([...next.kept(runId, 1)]).toEqual([[1, 'one']])
    next.keep(runId, 3, 'of the second')
    // Frame 2 was committed by the second owner, and hides nothing.
    expect([...next.kept(runId, 2)]).toEqual([[1, 'one']])
    // Frames 2 and 3 are committed by the third one.
    expect([...next.kept(runId, 3)]).toEqual([[1, 'one']])
    await end(next, runId)
  })

  it('fails if the disk was full when its agent ended, also since the last look', async () => {
    const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
    const context = contextOf()
    const { path } = SpoolFolder.of(root, context.runId)
    const freeBytes = () => (existsSync(join(path, 'exit')) ? 0 : Number.POSITIVE_INFINITY)
    const run = startSpooled(spooled({ spool: root, freeBytes }), fakeAgent('cut'), 'open', context)
    expect((await readAll(run)).map(({ text }) => text)).toEqual(['{"whole":true}', '{"half":'])
    expect(await run.exit).toMatchObject({ code: 3, error: { code: 'storage_failed' } })
  })

  it('ends if its output is not read any more', async () => {
    const run = startSpooledFake('burst', '20000', { queueBytes: 64 * 1024 })
    await run.stop()
    await run.lasting?.leave()
    await run.exit
    expect(isAlive(run.pid)).toBe(false)
  })
})

describe('the files of a run', () => {
  it('are private', async () => {
    const { next, runId, folder } = await left('hang', 'ready')
    const modes = ['', 'out', 'err', 'in', 'run.json', 'written'].map(
      (name) => statSync(folder.file(name)).mode & 0o777,
    )
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o600, 0o600])
    await end(next, runId)
  })

  it('are refused if an output was cut short, also if it has grown again', async () => {
    const { next, runId, folder, position, context } = await left('hang', 'ready')
    truncateSync(folder.file('out'), 1)
    expect(() => next.attach(runId, position, context)).toThrow(/has 1 bytes, and \d+ were read before/)
    appendFileSync(folder.file('out'), 'x'.repeat(1000))
    expect(() => next.attach(runId, position, context)).toThrow(/has no line that ends at byte \d+/)
    await end(next, runId)
  })

  it('are refused if an output was replaced, also by a link', async () => {
    const { next, runId, folder, position, context } = await left('hang', 'ready')
    renameSync(folder.file('out'), folder.file('moved'))
    symlinkSync(folder.file('moved'), folder.file('out'))
    expect(() => next.attach(runId, position, context)).toThrow('cannot be read')
    rmSync(folder.file('out'))
    writeFileSync(folder.file('out'), 'x'.repeat(1000))
    expect(() => next.attach(runId, position, context)).toThrow('was replaced')
    await end(next, runId)
  })

  it('end the run if an output is cut short while it is read', async () => {
    const run = startSpooledFake('hang')
    await readField(run, 'ready')
    const { path } = folderOf(run)
    truncateSync(join(path, 'out'), 0)
    expect((await run.exit).error).toMatchObject({ code: 'storage_failed' })
  })

  it('are bounded: an agent that is far ahead of its reader is stopped until it has caught up', async () => {
    const run = startSpooledFake('endless', '', { queueBytes: 64 * 1024, aheadBytes: 4 * 1024 * 1024 })
    await vi.waitFor(() => expect(stateOf(run.pid)).toBe('T'), 10_000)
    const before = bytesWritten(run.pid)
    expect(bytesWritten(run.pid)).toBe(before)
    await run.stop()
    await readAll(run)
    expect(isAlive(run.pid)).toBe(false)
  })
})

describe('a run that writes more than its owner has read', () => {
  const LINES = 150_000
  const small = { queueBytes: 64 * 1024, aheadBytes: 4 * 1024 * 1024 }

  it('goes on when the owner has caught up', async () => {
    const run = startSpooledFake('surge', String(LINES), small)
    // Its agent works in the group of its launcher.
    await vi.waitFor(() => expect(stateOf(run.pid)).toBe('T'), 10_000)
    await run.write({ kind: 'text', text: 'end\n' })
    const frames = await readAll(run)
    expect(frames).toHaveLength(LINES)
    expect(await run.exit).toEqual({ code: 0 })
  })

  it('gives back the space of what is committed', async () => {
    const root = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
    const context = contextOf()
    const run = startSpooled(spooled({ spool: root }), fakeAgent('flood', String(LINES)), 'open', context)
    for await (const _ of run.frames) if (run.lasting) run.lasting.release(run.lasting.position)
    await run.exit
    const out = SpoolFolder.of(root, context.runId).file('out')
    const { size } = statSync(out)
    expect(size).toBeGreaterThan(30_000_000)
    // What is left is less than the smallest piece that is given back.
    await vi.waitFor(() => expect(statSync(out).blocks * 512).toBeLessThan(9_000_000), 10_000)
    const gives = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'fallocate\n'
    await vi.waitFor(() => expect(childrenOf(process.pid).filter(gives)).toEqual([]), 10_000)
  })
})

/** The folder of a run, by what its launcher was started with. */
function folderOf(run: Run): { path: string } {
  const path = readFileSync(`/proc/${run.pid}/cmdline`, 'utf8')
    .split('\0')
    .find((word) => word.includes('/spool/'))
  return { path: path ?? '' }
}
