import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import type { ProcessLaunch } from '../../src/agents/agent.ts'
import type { Run, RunContext } from '../../src/drivers/driver.ts'
import { type ProcessDriverOptions, processDriver } from '../../src/drivers/process.ts'
import type { Frame } from '../../src/framing/frame.ts'
import type { ValueSink } from '../../src/model/text/large-value.ts'
import { valueSink } from '../../src/sessions/machine/value-sink.ts'

const AGENT = fileURLToPath(new URL('../fake-agents/agent.mjs', import.meta.url))

/** Long enough for a program to hear a signal, short enough to run the whole ladder in a test. */
export const QUICK = { SIGINT: 150, SIGTERM: 150, SIGKILL: 5_000 }

/** For programs that end at the first signal, which a busy machine may bring them late. */
export const PATIENT = { SIGINT: 10_000, SIGTERM: 10_000, SIGKILL: 10_000 }

const started: string[] = []

export function fakeAgent(mode: string, argument = ''): ProcessLaunch {
  return { kind: 'process', argv: [process.execPath, AGENT, mode, argument], env: {}, passEnv: [] }
}

export function contextOf(more: Partial<RunContext> = {}): RunContext {
  const runId = randomUUID()
  started.push(runId)
  return { runId, cwd: tmpdir(), env: {}, values: memoryBlobs().sink, ...more }
}

export function startFake(mode: string, argument = '', options: ProcessDriverOptions = {}): Run {
  return processDriver({ graces: QUICK, ...options }).start(fakeAgent(mode, argument), contextOf())
}

/** Everything a run says, until it ends. */
export async function readAll(run: Run): Promise<Frame[]> {
  const frames: Frame[] = []
  for await (const batch of run.frames) frames.push(...batch)
  return frames.map(plain)
}

/** A frame as bare data, so that it can be compared; without a value when its text is not JSON. */
export function plain({ stream, text, value, large, blob }: Frame): Frame {
  return {
    stream,
    text,
    ...(value !== undefined && { value }),
    ...(large && { large }),
    ...(blob && { blob }),
  }
}

/** Reads until the agent has said something with this field, and gives its value. */
export async function readField(run: Run, field: string): Promise<unknown> {
  for await (const batch of run.frames) {
    for (const { value } of batch) {
      if (typeof value === 'object' && value !== null && field in value) return Reflect.get(value, field)
    }
  }
  throw new Error(`the agent ended without ${field}`)
}

/** Blobs in memory, with their lengths at hand. */
export function memoryBlobs(): { sink: ValueSink; lengths: number[] } {
  const lengths: number[] = []
  const open = () => {
    let bytes = 0
    return {
      write(chunk: Uint8Array) {
        bytes += chunk.length
      },
      async close() {
        lengths.push(bytes)
        return { id: `blob-${lengths.length}`, bytes }
      },
      discard: () => undefined,
    }
  }
  return { sink: valueSink({ blobs: { open }, newHash: () => createHash('sha256') }), lengths }
}

interface Seen {
  pid: number
  parent: number
  state: string
  runId: string | undefined
}

/** A look at the machine that shares no code with what is tested. */
function processes(): Seen[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const environment = state === 'Z' ? '' : readFileSync(`/proc/${name}/environ`, 'utf8')
      const runId = /(?:^|\0)MAINSTEM_RUN=([^\0]*)/.exec(environment)?.[1]
      return [{ pid: Number(name), parent: Number(parent), state, runId }]
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown) return []
      throw thrown
    }
  })
}

/** R running, S waiting, T stopped, Z zombie; nothing when there is no such process. */
export function stateOf(pid: unknown): string | undefined {
  return processes().find((seen) => seen.pid === pid)?.state
}

/** When a process started, in hundredths of a second since the system started. */
export function startOf(pid: unknown): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19])
}

export function isAlive(pid: unknown): boolean {
  return !['Z', undefined].includes(stateOf(pid))
}

/** Kills processes that may end by themselves in the same moment. */
export function killLeft(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
    }
  }
}

export function childrenOf(parent: number): number[] {
  return processes().flatMap((seen) => (seen.parent === parent ? [seen.pid] : []))
}

export function zombiesOf(parent: number | undefined): number[] {
  return processes().flatMap((seen) => (seen.state === 'Z' && seen.parent === parent ? [seen.pid] : []))
}

/** What a process has written so far, to pipes and elsewhere. */
export function bytesWritten(pid: number | undefined): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
}

/** Waits until a process that writes as fast as it can has to wait for its reader; what it got rid of till then. */
export async function untilBlocked(pid: number | undefined): Promise<number> {
  let before = 0
  await vi.waitFor(() => {
    const now = bytesWritten(pid)
    const waits = now === before && stateOf(pid) === 'S'
    before = now
    expect(waits && now > 10_000).toBe(true)
  }, 10_000)
  return before
}

/** Run after every test, at once and without waiting: what has ended has left nothing. */
export function expectNothingLeft(): void {
  const runIds = started.splice(0)
  const seen = processes()
  const left = seen.filter(({ runId }) => runId !== undefined && runIds.includes(runId))
  // A test that failed must not fail those after it.
  killLeft(left.map(({ pid }) => pid))
  expect(runIds.length).toBeGreaterThan(0)
  expect(seen.some(({ pid }) => pid === process.pid)).toBe(true)
  expect(left).toEqual([])
  expect(zombiesOf(process.pid)).toEqual([])
}
