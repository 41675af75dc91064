import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../../src/agents/agent.ts'
import { echo } from '../../src/agents/echo/agent.ts'
import { backgroundTimers, systemClock } from '../../src/compose/clock.ts'
import type { Driver, Timers } from '../../src/drivers/driver.ts'
import { driver } from '../../src/drivers/index.ts'
import { AccessControl } from '../../src/gateway/access/access-control.ts'
import { lowered } from '../../src/gateway/access/ceiling.ts'
import { loweredOptions } from '../../src/gateway/access/option-limits.ts'
import type { GatewayDeps } from '../../src/gateway/deps.ts'
import { tokenOf } from '../../src/gateway/http/auth.ts'
import { BackgroundWork } from '../../src/gateway/http/background-work.ts'
import { UploadRoom } from '../../src/gateway/http/body/upload-room.ts'
import { LoopTurns } from '../../src/gateway/http/loop-turns.ts'
import { gateway } from '../../src/gateway/http/server.ts'
import { ServerStats } from '../../src/gateway/http/server-stats.ts'
import { StorageCheck } from '../../src/gateway/http/storage-check.ts'
import { Tickets } from '../../src/gateway/http/tickets.ts'
import { StreamQuota } from '../../src/gateway/streams/stream-quota.ts'
import { SignInCookies } from '../../src/gateway/web/sign-in-cookie.ts'
import { SessionImports } from '../../src/imports/imports.ts'
import { DEFAULT_POLICY, type Policy } from '../../src/model/index.ts'
import { Cluster } from '../../src/nodes/cluster.ts'
import { ByteBudget } from '../../src/reading/byte-budget.ts'
import type { AgentSettings } from '../../src/sessions/deps.ts'
import { WarmPool } from '../../src/sessions/process/warm-pool.ts'
import { Sessions } from '../../src/sessions/sessions.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { LeaseTerms, Store } from '../../src/stores/store.ts'
import { AddressGuard } from '../../src/webhooks/address-guard.ts'
import { Webhooks } from '../../src/webhooks/webhooks.ts'
import { Gate } from './gate.ts'
import { able, puppet } from './puppet.ts'

export const TOKEN = 'owner-token-owner-token-owner-token-owner-1'
export const GUEST = 'guest-token-guest-token-guest-token-guest-1'

const CEILING: Policy = { approval: 'auto-edit', sandbox: 'none' }

export type Options = Partial<Omit<GatewayDeps, 'sessions' | 'cluster' | 'runs'>> & {
  store?: Store
  /** Besides those that are always there. */
  more?: readonly Agent[]
  /** What the configuration says of agents, by their ids. */
  settings?: Readonly<Record<string, AgentSettings>>
  /** How time passes; at the gate unless told otherwise. */
  timers?: Timers
  /** What runs the agents; the real one unless told otherwise. */
  driver?: Driver
  /** The digest of an input; the input itself unless told otherwise. */
  digest?: (text: string) => string
  maxQueue?: number
  readBytes?: number
  maxProcesses?: number
  /** The leases of the server; those of a single server unless told otherwise. */
  terms?: LeaseTerms
}

/** A gateway on a free port of this machine, with agents that need no process. */
export class TestGateway implements AsyncDisposable {
  readonly gate = new Gate()
  readonly reported: unknown[] = []
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-')))
  readonly sessions: Sessions
  readonly deps: GatewayDeps
  readonly app: FastifyInstance

  constructor(given: Options) {
    const { store = memoryStore(), more = [], settings = {}, timers = this.gate, ...rest } = given
    const { maxQueue = 100, maxProcesses = 64, readBytes, terms, digest = (text) => text, ...more2 } = rest
    const { driver: agents = driver({ timers }), ...options } = more2
    const { ceiling = CEILING, roots = [this.root] } = options
    const newHash = () => createHash('sha256')
    this.sessions = new Sessions({
      agents: new Map([echo, puppet, able, ...more].map((agent) => [agent.id, agent])),
      store,
      driver: agents,
      clock: systemClock,
      background: backgroundTimers,
      timers,
      agentSettings: (id) => settings[id] ?? {},
      journal: true,
      limit: (policy) => lowered(policy, ceiling),
      limitOptions: (asked) => loweredOptions(asked, { ceiling, roots }),
      sweep: async () => undefined,
      newHash,
      pool: new WarmPool(maxProcesses),
      maxQueue,
      ...(readBytes !== undefined && { readBytes }),
      ...(terms && { terms }),
      idleProcessMs: 600_000,
      isInside: (path) => path.startsWith('/workspace/'),
      newId: randomUUID,
      digest,
    })
    const report = options.report ?? ((thrown: unknown) => void this.reported.push(thrown))
    const runs = new BackgroundWork(report)
    const fixed = [tokenOf('owner', TOKEN, ['operator']), tokenOf('guest', GUEST)]
    const accessControl = new AccessControl(store.access, fixed)
    this.deps = {
      accessControl,
      tokens: () => accessControl.tokens(),
      tickets: new Tickets(store.access),
      webhooks: new Webhooks(store, {
        guard: new AddressGuard([]),
        pageUrl: () => this.url,
        contact: undefined,
      }),
      cookies: new SignInCookies(),
      origins: [],
      trustProxy: [],
      agents: async () => [],
      variables: () => ({}),
      version: '0.0.0',
      hosts: ['127.0.0.1', 'localhost', '[::1]'],
      unixSockets: new WeakSet(),
      roots,
      cwd: this.root,
      projects: {},
      policy: DEFAULT_POLICY,
      ceiling,
      timing: { keepaliveMs: 60_000, pingMs: 60_000, stallMs: 60_000, headersMs: 10_000, requestMs: 30_000 },
      limits: { bodyBytes: 1024 * 1024, imageBytes: 16 * 1024 * 1024, jsonDepth: 64, connections: 100 },
      streams: new StreamQuota(100),
      uploads: new UploadRoom(64 * 1024 * 1024),
      turns: new LoopTurns(),
      pages: new ByteBudget(64 * 1024 * 1024, timers),
      stats: new ServerStats(),
      processes: () => 0,
      disk: async () => ({ free: 1_000_000, total: 2_000_000 }),
      phase: () => 'ready',
      storage: new StorageCheck({ probe: () => store.probe(), report }),
      ...options,
      runs,
      sessions: this.sessions,
      imports: new SessionImports({ store, newHash }, this.sessions),
      cluster: new Cluster(this.sessions, store, (work) => runs.track(work)),
      report,
    }
    this.app = gateway(this.deps)
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Posts a task for the echo agent, but for what is said otherwise. */
  execute(body: Record<string, unknown> = {}, init: RequestInit & { path?: string } = {}): Promise<Response> {
    const { path = '/v1/execute', headers, ...rest } = init
    return fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...task(), ...body }),
      ...rest,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sessions.drain()
    await this.deps.runs.done()
    this.app.server.closeAllConnections()
    await this.app.close()
    rmSync(this.root, { recursive: true })
  }
}

export const task = () => ({ idempotency_key: 'k1', task: 'hello', driver: 'echo', auth_token: TOKEN })

export async function startGateway(options: Options = {}): Promise<TestGateway> {
  const server = new TestGateway(options)
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  return server
}
