import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getHeapStatistics } from 'node:v8'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agents/agent.ts'
import { agentFacts } from '../compose/agent-facts.ts'
import { systemTimers } from '../compose/clock.ts'
import { type OpenedStore, openStore } from '../compose/open-store.ts'
import { type Wired, wire } from '../compose/wire.ts'
import type { Driver } from '../drivers/driver.ts'
import { spoolProblem } from '../drivers/spool.ts'
import { lowered } from '../gateway/access/ceiling.ts'
import { loweredOptions } from '../gateway/access/option-limits.ts'
import { isStillBelow } from '../gateway/access/roots.ts'
import type { GatewayDeps, Phase } from '../gateway/deps.ts'
import { BackgroundWork } from '../gateway/http/background-work.ts'
import { UploadRoom } from '../gateway/http/body/upload-room.ts'
import { LoopTurns } from '../gateway/http/loop-turns.ts'
import type { RequestScope } from '../gateway/http/request-scope.ts'
import { gateway } from '../gateway/http/server.ts'
import type { AccessLine } from '../gateway/http/server-stats.ts'
import { StorageCheck } from '../gateway/http/storage-check.ts'
import { StreamQuota } from '../gateway/streams/stream-quota.ts'
import { readPageFiles } from '../gateway/web/page-files.ts'
import { SignInCookies } from '../gateway/web/sign-in-cookie.ts'
import { secretsIn } from '../mask/secrets.ts'
import { MainstemError } from '../model/index.ts'
import { codeOf } from '../model/outcome/mainstem-error.ts'
import { ByteBudget } from '../reading/byte-budget.ts'
import type { Retention } from '../sessions/recovery/retention.ts'
import type { Store } from '../stores/store.ts'
import { accessOf } from './access.ts'
import { writeAddress } from './address-file.ts'
import { callingOf } from './calling.ts'
import type { Config } from './config.ts'
import { allowedHosts } from './exposure.ts'
import { importTokens } from './import-tokens.ts'
import { listenOnSocket } from './local-socket.ts'
import { clusterOf, type NodePlan, nodePlan } from './node.ts'
import { observed } from './observed.ts'
import { checkPlace } from './place.ts'
import { pruneHourly } from './pruning.ts'
import { Server, type ServerDeps, urlOf } from './server.ts'
import { type TokenFile, tokenIn } from './token.ts'

export interface ServeDeps {
  config: Config
  /** Logs errors: those that no client gets, and those of the server, with the request that got them. */
  report(thrown: unknown, request?: RequestScope): void
  /** Receives the lines of the access log, if the configuration enables it. */
  access?: (line: AccessLine) => void
  /** The agents to offer; default all. */
  agents?: readonly Agent[]
  /** Wraps the layers below the sessions; used by the test that kills a server at a given point. */
  between?: Between
  /** The directory of the built web page; default in the package. */
  pageDirectory?: string
  /** A unix socket to listen on. Removed when the server stops. */
  socket?: string | undefined
  /** False listens on the socket alone. */
  tcp?: boolean
}

export interface Between {
  store(store: Store): Store
  driver(driver: Driver): Driver
}

const { version } = createRequire(import.meta.url)('../../package.json')

/** The sources and the build are equally deep in the package. */
const PAGE = fileURLToPath(new URL('../../dist/web', import.meta.url))

/** Starts the server; resolves when it is ready. */
export async function serve(deps: ServeDeps): Promise<Server> {
  const { config, report, agents, between, pageDirectory = PAGE, socket, tcp = true } = deps
  const { roots, cwd, projects } = await checkPlace(config)
  const token = config.auth ? await tokenIn(config.data) : undefined
  const opened = await openStore(config)
  const store = between?.store(opened.store) ?? opened.store
  const plan = nodePlan(config, store, roots)
  const wired = wiredBy(config, { opened: { ...opened, store }, plan, roots, token, agents, between, report })
  const runs = new BackgroundWork(report)
  const phase = { now: 'starting' as Phase }
  const stopping = new AbortController()
  const cluster = clusterOf({
    ...{ config, plan, store, wired, roots, version, runs, report },
    owner: opened.owner,
    isDraining: () => phase.now === 'draining',
  })
  const unixSockets = new WeakSet<Socket>()
  const access = accessOf(store, token)
  const calling = callingOf({
    ...{ config, store, report, signal: stopping.signal, accessControl: access.accessControl },
    url: () => urlOf(app),
  })
  const app: FastifyInstance = gateway({
    sessions: wired.sessions,
    imports: wired.imports,
    cluster,
    ...access,
    webhooks: calling.webhooks,
    cookies: new SignInCookies(),
    page: await readPageFiles(pageDirectory),
    ...{ origins: config.origins, trustProxy: config.trustProxy },
    ...agentFacts({ settings: config.agents, signal: stopping.signal }, agents),
    version,
    hosts: allowedHosts(config),
    unixSockets,
    roots,
    cwd,
    projects,
    policy: config.policy,
    ceiling: config.ceiling,
    timing: config.timeouts,
    limits: config.limits,
    runs,
    ...sharedByPrincipals(config),
    ...observed(config, wired, deps.access),
    phase: () => phase.now,
    storage: new StorageCheck({ probe: () => store.probe(), report }),
    report,
  })
  const importing = async () => token && importTokens(store.access, config, report)
  const local = await begin({ app, wired, cluster, config, importing, socket, tcp, unixSockets })
  phase.now = 'ready'
  runs.track(wired.sessions.resumeQueues())
  const calls = calling.start()
  const pruning = { timers: systemTimers, signal: stopping.signal, report }
  runs.track(pruneHourly(wired.sessions, retentionOf(config), pruning))
  return new Server({ app, wired, cluster, runs, phase, stopping, calls, token, config, local })
}

/** What principals share, each with a fair part of it. */
function sharedByPrincipals({
  limits,
}: Config): Pick<GatewayDeps, 'streams' | 'uploads' | 'turns' | 'pages'> {
  const memory = readMemory()
  return {
    streams: new StreamQuota(limits.streams),
    uploads: new UploadRoom(memory.uploads),
    turns: new LoopTurns(),
    pages: new ByteBudget(memory.pages, systemTimers),
  }
}

/**
 * The number of bytes that clients may hold in memory: log segments and pages while they are read, and request bodies
 * while they arrive. Each byte of text is in memory several times: as stored text, as an entry, as a message and as the
 * text that is sent.
 */
function readMemory(): { pieces: number; pages: number; uploads: number } {
  const heapBytes = getHeapStatistics().heap_size_limit
  return {
    pieces: Math.floor(heapBytes / 6),
    pages: Math.floor(heapBytes / 12),
    uploads: Math.floor(heapBytes / 16),
  }
}

interface Listening {
  socket: string | undefined
  tcp: boolean
  unixSockets: WeakSet<Socket>
}

type Beginning = Listening &
  Pick<ServerDeps, 'app' | 'wired' | 'cluster' | 'config'> & { importing(): Promise<unknown> }

/** Listens, joins the other nodes and recovers; undone if one of them fails. */
async function begin({ app, wired, cluster, config, importing, ...places }: Beginning) {
  let local: AsyncDisposable | undefined
  try {
    await importing()
    local = await listen(app, config, places)
    await cluster.join()
    // Settles turns that the previous process left open. Until then every route except the health checks returns 503.
    await wired.sessions.recover()
    cluster.start()
    if (places.tcp && config.durability !== 'none') await writeAddress(config.data, urlOf(app))
    return local
  } catch (thrown) {
    await local?.[Symbol.asyncDispose]()
    await app.close()
    await cluster.leave()
    await wired[Symbol.asyncDispose]()
    throw thrown
  }
}

interface WiringParts {
  agents: ServeDeps['agents'] | undefined
  between: Between | undefined
  report: ServeDeps['report']
  opened: OpenedStore
  plan: NodePlan | undefined
  roots: readonly string[]
  token: TokenFile | undefined
}

function wiredBy(
  config: Config,
  { opened, plan, roots, token, agents, between, report }: WiringParts,
): Wired {
  const { store, owner, secrets, lock } = opened
  const wired = wire({
    settings: config.agents,
    store,
    node: plan,
    ...(owner !== undefined && { owner }),
    lasting: lastingIn(config, report),
    readBytes: readMemory().pieces,
    maxProcesses: config.limits.processes,
    maxQueue: config.limits.queue,
    agentLimits: config.timeouts,
    limit: (policy) => lowered(policy, config.ceiling),
    limitOptions: (options) => loweredOptions(options, { ceiling: config.ceiling, roots }),
    mayWorkIn: (directory) => isStillBelow(roots, directory),
    secrets: [...(token ? [token.token] : []), ...secrets, ...secretsIn(process.env)],
    ...(agents && { agents }),
    ...(between && { between: between.driver }),
  })
  return {
    ...wired,
    async [Symbol.asyncDispose]() {
      await wired[Symbol.asyncDispose]()
      lock?.[Symbol.dispose]()
    },
  }
}

/** Where the output of agents is kept that outlive the server. Undefined if they end with it. */
function lastingIn({ data, durability, timeouts }: Config, report: ServeDeps['report']) {
  // Without a log there is nothing to continue.
  if (durability === 'none' || process.platform === 'win32') return undefined
  const spool = join(data, 'spool')
  const problem = spoolProblem(spool)
  if (problem === undefined) return { spool, graceMs: timeouts.orphanMs }
  report(new MainstemError('storage_failed', `agents end with this server: ${problem}`))
  return undefined
}

const DAY_MS = 86_400_000

function retentionOf({ retention }: Config): Retention {
  const { sessionDays, entries, journalDays, keyHours, auditDays } = retention
  return {
    sessionsMs: sessionDays === undefined ? undefined : sessionDays * DAY_MS,
    entries,
    journalMs: journalDays === undefined ? undefined : journalDays * DAY_MS,
    receiptsMs: (keyHours / 24) * DAY_MS,
    auditMs: auditDays === undefined ? undefined : auditDays * DAY_MS,
  }
}

/** Listens on the port, the socket or both. Gives what closes the socket. */
async function listen(
  app: FastifyInstance,
  { host, port }: Config,
  { socket, tcp, unixSockets }: Listening,
): Promise<AsyncDisposable | undefined> {
  try {
    await (tcp ? app.listen({ host, port }) : app.ready())
  } catch (cause) {
    throw cannotListen(host, port, cause)
  }
  return socket === undefined ? undefined : listenOnSocket(socket, app.server, unixSockets)
}

function cannotListen(host: string, port: number, cause: unknown): MainstemError {
  if (codeOf(cause) === 'EADDRINUSE') {
    const advice = 'Stop the process that uses it, or pass another --port; 0 takes a free one.'
    return new MainstemError('conflict', `port ${port} of ${host} is in use`, { advice }, { cause })
  }
  const why = cause instanceof Error ? cause.message : String(cause)
  const advice = 'Pass another --host or --port.'
  return new MainstemError('conflict', `cannot listen on ${host}:${port}: ${why}`, { advice }, { cause })
}
