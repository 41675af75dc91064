import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SpoolFolder } from '../../../src/drivers/spool/spool-folder.ts'
import { guardedRuns } from '../../../src/drivers/tree/orphan-guard.ts'
import { childrenOf, isAlive, memoryBlobs } from '../fake-run.ts'
import { spooled } from '../spool/spooled.ts'

const SPOOL = join(import.meta.dirname, '../../../src/drivers/spool.ts')
const GUARD = join(import.meta.dirname, '../../../src/drivers/tree/orphan-guard.ts')

const onLinux = test.runIf(process.platform === 'linux')

let home = ''
let owner: ChildProcess | undefined
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'guard-')))
})
afterEach(() => {
  owner?.kill('SIGKILL')
  rmSync(home, { recursive: true, maxRetries: 3 })
})

/** A process with a guard. It runs each line of its input as code, and prints a line after each. */
async function startOwner(): Promise<(code: string) => Promise<void>> {
  const script = `
    import { createInterface } from 'node:readline'
    import { OrphanGuard } from ${JSON.stringify(GUARD)}
    let guard = new OrphanGuard()
    for await (const line of createInterface(process.stdin)) {
      await eval(line)
      console.log('done')
    }`
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH, NODE_COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  owner = child
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  return async (code) => {
    child.stdin.write(`${code}\n`)
    await answers.next()
  }
}

/** Pids of the children of the owner: its guard is the only one. */
function guards(): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    const stat = /^\d+$/.test(pid) && existsSync(`/proc/${pid}/stat`) ? readStat(pid) : []
    return stat[1] === String(owner?.pid) && stat[0] !== 'Z' ? [Number(pid)] : []
  })
}

function readStat(pid: string): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
}

/** True once the shell has run its first line. */
function ignoresSigterm(pid: number): boolean {
  const mask = /^SigIgn:\t(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${mask}`) & (1n << BigInt(constants.signals.SIGTERM - 1))) !== 0n
}

/** How often a process has waited; 0 once it is gone. */
function sleepsOf(pid: number): number {
  if (!isAlive(pid)) return 0
  return Number(/^voluntary_ctxt_switches:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function folder(name: string): string {
  const path = join(home, name)
  mkdirSync(path)
  return path
}

async function killOwner(): Promise<void> {
  owner?.kill('SIGKILL')
  if (owner) await once(owner, 'exit')
}

test('the sweep skips ended runs and terminates open ones when the owner dies', async () => {
  const run = await startOwner()
  const [over, open] = [folder('over, *'), folder("it's open")]
  await run(`globalThis.release = guard.add('one', ${JSON.stringify(over)})`)
  await run(`guard.add('two', ${JSON.stringify(open)}); release()`)
  const [guard] = guards()
  await killOwner()
  await vi.waitFor(() => expect(existsSync(open)).toBe(false), 20_000)
  await vi.waitFor(() => expect(isAlive(guard)).toBe(false), 20_000)
  expect(existsSync(over)).toBe(true)
})

test('the guard is outside of the process group of its owner, and ignores the signals of a service manager', async () => {
  const run = await startOwner()
  await run(`guard.add('one', ${JSON.stringify(folder('one'))})`)
  const [guard] = guards()
  if (guard === undefined) throw new Error('there is a guard')
  expect(readStat(String(guard))[2]).toBe(String(guard))
  await vi.waitFor(() => expect(ignoresSigterm(guard)).toBe(true), 20_000)
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) process.kill(guard, signal)
  await killOwner()
  await vi.waitFor(() => expect(existsSync(join(home, 'one'))).toBe(false), 20_000)
})

test('a guard that was killed is replaced with the next run, and guards the earlier ones as well', async () => {
  const run = await startOwner()
  await run(`guard.add('one', ${JSON.stringify(folder('one'))})`)
  const [first] = guards()
  if (first === undefined) throw new Error('there is a guard')
  process.kill(first, 'SIGKILL')
  await vi.waitFor(async () => {
    await run(`guard.add('two', '/nowhere')`)
    expect(guards().filter((pid) => pid !== first)).toHaveLength(1)
  }, 20_000)
  await killOwner()
  await vi.waitFor(() => expect(existsSync(join(home, 'one'))).toBe(false), 20_000)
})

test('an owner that exits normally is not delayed, and leaves no guard', async () => {
  const run = await startOwner()
  await run(`guard.add('one', '/nowhere')()`)
  const [guard] = guards()
  expect(guard).toBeDefined()
  const exited = owner && once(owner, 'exit')
  owner?.stdin?.end()
  expect(await exited).toEqual([0, null])
  await vi.waitFor(() => expect(isAlive(guard)).toBe(false), 20_000)
})

test('names survive the way through the shell', () => {
  const run = `${encodeURIComponent('a.1')},${encodeURIComponent('/tmp/a b,c')}`
  expect(guardedRuns(['7', run])).toEqual({ runIds: ['a.1'], folders: ['/tmp/a b,c'], spools: [], gone: [] })
})

test('a run that another guard has claimed is spared, and one whose folder is gone is ended', () => {
  const spool = join(home, 'spool')
  const run = ['a.1', '/tmp/a', spool].map(encodeURIComponent).join(',')
  mkdirSync(spool)
  writeFileSync(join(spool, 'guard'), '7')
  expect(guardedRuns(['7', run]).spools).toEqual([{ runId: 'a.1', path: spool }])
  writeFileSync(join(spool, 'guard'), '8')
  expect(guardedRuns(['7', run])).toMatchObject({ runIds: [], folders: [], spools: [] })
  rmSync(spool, { recursive: true })
  expect(guardedRuns(['7', run])).toMatchObject({ runIds: ['a.1'], folders: ['/tmp/a'], spools: [] })
})

onLinux('runs that outlive their owner end after the grace', async () => {
  const tell = await startOwner()
  const spool = join(home, 'spool')
  mkdirSync(spool)
  const path = folder('lasting')
  await tell('guard = new OrphanGuard(400)')
  await tell(`guard.add('lasting.1', ${JSON.stringify(path)}, ${JSON.stringify(spool)})`)
  owner?.kill('SIGKILL')
  expect(existsSync(path)).toBe(true)
  await expect.poll(() => existsSync(path), { timeout: 10_000 }).toBe(false)
  expect(existsSync(join(spool, 'abandoned'))).toBe(true)
})

onLinux('the guard of a dead process ends once other guards have claimed all its runs', async () => {
  const tell = await startOwner()
  const spool = join(home, 'spool')
  mkdirSync(spool)
  await tell('guard = new OrphanGuard(60_000)')
  await tell(`guard.add('lasting.1', ${JSON.stringify(folder('lasting'))}, ${JSON.stringify(spool)})`)
  const guard = Number(readFileSync(join(spool, 'guard'), 'utf8'))
  await killOwner()
  expect(isAlive(guard)).toBe(true)
  writeFileSync(join(spool, 'guard'), '1')
  await expect.poll(() => isAlive(guard), { timeout: 20_000 }).toBe(false)
  expect(existsSync(join(spool, 'abandoned'))).toBe(false)
})

/** Starts an owner with an agent that writes without end and outlives it. */
async function startLasting(spool: string, runId: string): Promise<SpoolFolder> {
  const tell = await startOwner()
  const settings = `{ spool: ${JSON.stringify(spool)}, guard: new OrphanGuard(30_000, ${1024 * 1024}) }`
  const made = `(spool) => { globalThis.driver = new spool.SpoolDriver(${settings}) }`
  await tell(`import(${JSON.stringify(SPOOL)}).then(${made})`)
  const argv = ['/bin/sh', '-c', `while :; do echo ${'a'.repeat(100)}; done`]
  const launch = JSON.stringify({ kind: 'process', argv, env: {}, passEnv: [] })
  const context = JSON.stringify({ runId, cwd: home, env: {}, values: {}, lasting: { input: 'open' } })
  await tell(`driver.prepare('${runId}', 1); driver.start(${launch}, ${context})`)
  return SpoolFolder.of(spool, runId)
}

onLinux(
  'an agent whose folder somebody removed ends soon after its owner, and the guard with it',
  async () => {
    const spool = join(home, 'spool')
    const folder = await startLasting(spool, 'removed.1')
    await vi.waitFor(() => expect(statSync(folder.file('out')).size).toBeGreaterThan(0), 20_000)
    const shell = Number(folder.read('guard'))
    const agent = folder.launcher?.pid ?? 0
    expect(isAlive(agent)).toBe(true)
    rmSync(spool, { recursive: true })
    await killOwner()
    await vi.waitFor(() => expect(isAlive(agent)).toBe(false), 20_000)
    await vi.waitFor(() => expect(isAlive(shell)).toBe(false), 20_000)
  },
)

onLinux(
  'suspends an agent that nobody reads when it has written too much, until a server continues it; then the guard ends',
  async () => {
    const spool = join(home, 'spool')
    const runId = 'endless.1'
    const folder = await startLasting(spool, runId)
    await vi.waitFor(() => expect(statSync(folder.file('out')).size).toBeGreaterThan(0), 20_000)
    await killOwner()
    const shell = Number(folder.read('guard'))
    const agent = folder.launcher?.pid ?? 0
    try {
      await vi.waitFor(() => expect(readStat(String(agent))[0]).toBe('T'), 20_000)
      const { size } = statSync(folder.file('out'))
      // The guard goes on looking for a claim.
      const looks = childrenOf(shell).map((pid) => ({ pid, since: sleepsOf(pid) }))
      await vi.waitFor(
        () => expect(looks.some(({ pid, since }) => sleepsOf(pid) > since + 3)).toBe(true),
        20_000,
      )
      const run = spooled({ spool }).attach(runId, { stdout: 0, stderr: 0 }, { values: memoryBlobs().sink })
      await vi.waitFor(() => expect(isAlive(shell)).toBe(false), 20_000)
      await vi.waitFor(() => expect(statSync(folder.file('out')).size).toBeGreaterThan(size), 20_000)
      await run.stop()
      expect(isAlive(agent)).toBe(false)
    } finally {
      if (isAlive(shell)) process.kill(-shell, 'SIGKILL')
      if (isAlive(agent)) process.kill(-agent, 'SIGKILL')
    }
  },
)

onLinux('ends the runs of a suspended process at its deadline', async () => {
  const tell = await startOwner()
  const path = folder('late')
  await tell(`guard.deadline(60_000); guard.add('suspended.1', ${JSON.stringify(path)})`)
  await tell('guard.deadline(60_000)')
  owner?.kill('SIGSTOP')
  expect(existsSync(path)).toBe(true)
  owner?.kill('SIGCONT')
  await tell('guard.deadline(300)')
  owner?.kill('SIGSTOP')
  await expect.poll(() => existsSync(path)).toBe(false)
  owner?.kill('SIGCONT')
})
