import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpTransport, SseTransport, selectTransport, WebSocketTransport } from '../../src/client/index.ts'
import { StdioTransport } from '../../src/client/stdio/index.ts'
import { tokenIn } from '../../src/daemon/token.ts'
import { Host } from '../crash/host.ts'
import { randomFrom } from '../random.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { entriesReader, rpcReader } from './own-readers.ts'
import type { Log, Reader, Way } from './reader.ts'
import { unifiedReader } from './unified-reader.ts'

const optionsOf = ({ url, token }: Way) => ({ baseUrl: url, token })

/** Every transport of the client, `MainstemClient`, and JSON-RPC. */
export const READERS: Readonly<Record<string, (way: Way) => Reader>> = {
  websocket: (way) => unifiedReader(new WebSocketTransport(optionsOf(way)), way.random),
  sse: (way) => unifiedReader(new SseTransport(optionsOf(way)), way.random),
  polling: (way) => unifiedReader(new HttpTransport({ ...optionsOf(way), intervalMs: 20 }), way.random),
  fallback: (way) => unifiedReader(selectTransport(optionsOf(way)), way.random),
  stdio({ url, data, token, random }) {
    // The proxy has another address than the server of the data directory, so its token has to be named.
    const env = { ...process.env, MAINSTEM_TOKEN: token }
    return unifiedReader(new StdioTransport({ args: ['stdio', '--url', url, '--data', data], env }), random)
  },
  entries: entriesReader,
  rpc: rpcReader,
}

/** Turns of a session: the first begins it, each other one is a resume. */
const TURNS = 5
const AGENTS = ['claude', 'codex', 'opencode'] as const
/** The fake agents write twelve pieces of text for each `say`. */
const SAYS = 6
const PIECES = 12

export interface Resumed {
  transport: string
  resumes: number
  /** Messages that the readers received. */
  messages: number
  connections: number
  cuts: number
  /** One line for each resume whose log was not whole. */
  broken: string[]
}

/** Resumes sessions of a real server this many times over each transport, through a proxy that cuts connections. */
export async function resumes(
  count: number,
  seed: number,
  report: (resumed: Resumed) => void,
  transports: readonly string[] = Object.keys(READERS),
): Promise<void> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'mainstem-resumes-')))
  const host = await Host.create(home, { program: 'serve', drainMs: 1_000 })
  try {
    if (!(await host.start())) throw new Error(`the server did not start: ${host.errors.join('')}`)
    const way = {
      url: await host.url,
      token: (await tokenIn(home)).token,
      data: home,
      random: randomFrom(seed),
    }
    for (const transport of transports) report(await resumeOver(transport, way, count, seed))
  } finally {
    host.signal('SIGTERM')
    await host.exited()
    rmSync(home, { recursive: true, force: true })
  }
}

async function resumeOver(transport: string, direct: Way, count: number, seed: number): Promise<Resumed> {
  const readerOf = READERS[transport]
  if (!readerOf) throw new RangeError(`there is no transport ${transport}; use ${Object.keys(READERS)}`)
  await using proxy = await CuttingProxy.start(direct.url, seed)
  await using cut = readerOf({ ...direct, url: proxy.url })
  await using whole = readerOf({ ...direct, random: () => 1 })
  const resumed = { transport, resumes: 0, messages: 0, broken: [] as string[] }
  for (let session = 0; resumed.resumes < count; session++) {
    const agent = AGENTS[session % AGENTS.length] ?? AGENTS[0]
    const id = await cut.begin(agent, promptOf(1))
    for (let turn = 2; turn <= TURNS && resumed.resumes < count; turn++) {
      const log = await cut.resume(id, promptOf(turn), turn)
      resumed.resumes++
      resumed.messages += log.ids.length
      const faults = faultsOf(log, await whole.read(id, turn), turn)
      if (faults.length > 0) resumed.broken.push(`${agent} ${id} turn ${turn}: ${faults.join(', ')}`)
    }
  }
  return { ...resumed, connections: proxy.connections, cuts: proxy.cuts }
}

const promptOf = (turn: number) => `p${turn} ${Array(SAYS).fill('say').join(' ')}`

/** The output of the fake agents in these turns. */
function textOf(turns: number): string {
  const pieces = Array.from({ length: SAYS * PIECES }, (_, index) => index)
  return Array.from({ length: turns }, (_, turn) =>
    pieces.map((piece) => `p${turn + 1}.${piece} `).join(''),
  ).join('')
}

function faultsOf(log: Log, whole: Log, turns: number): string[] {
  const faults: string[] = []
  if (new Set(log.ids).size !== log.ids.length) faults.push('a message came twice')
  if (log.ids.join('\n') !== whole.ids.join('\n'))
    faults.push(`${log.ids.length} messages instead of the ${whole.ids.length} of the log`)
  if (log.text !== textOf(turns)) faults.push('the text differs from what the agent wrote')
  if (log.ends !== turns) faults.push(`${log.ends} ends of ${turns} turns`)
  return faults
}
