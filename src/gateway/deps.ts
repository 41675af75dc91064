import type { Socket } from 'node:net'
import type { SessionImports } from '../imports/imports.ts'
import type { Policy } from '../model/index.ts'
import type { Cluster } from '../nodes/cluster.ts'
import type { ByteBudget } from '../reading/byte-budget.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { AccessControl } from './access/access-control.ts'
import type { Token } from './http/auth.ts'
import type { BackgroundWork } from './http/background-work.ts'
import type { UploadRoom } from './http/body/upload-room.ts'
import type { LoopTurns } from './http/loop-turns.ts'
import type { RequestScope } from './http/request-scope.ts'
import type { AccessLine, ServerStats } from './http/server-stats.ts'
import type { StorageCheck } from './http/storage-check.ts'
import type { Tickets } from './http/tickets.ts'
import type { StreamTiming } from './streams/event-stream.ts'
import type { StreamQuota } from './streams/stream-quota.ts'
import type { AgentStatus } from './v1/agents.ts'
import type { PageFiles } from './web/page-files.ts'
import type { SignInCookies } from './web/sign-in-cookie.ts'

export type Phase = 'starting' | 'ready' | 'draining'

export interface GatewayTiming extends StreamTiming {
  /** Interval of `ping` events on `/rpc` streams. */
  pingMs: number
  /** Timeout until all headers have arrived. */
  headersMs: number
  /** Timeout until the whole request has arrived; for an upload that is streamed, until its next part has. */
  requestMs: number
}

export interface GatewayLimits {
  bodyBytes: number
  /** Of routes whose body can have images. */
  imageBytes: number
  jsonDepth: number
  connections: number
}

/** The dependencies of the gateway. */
export interface GatewayDeps {
  /** Reads sessions, and runs those of this server. */
  sessions: Sessions
  /** Adds exported sessions. */
  imports: SessionImports
  /** Commands to sessions, whichever server runs them. */
  cluster: Cluster
  /** Absent when authentication is disabled. */
  tokens: (() => Promise<readonly Token[]>) | undefined
  /** Tokens, logins and grants. */
  accessControl: AccessControl
  /** Whom to call when a turn ends, or a request is opened or resolved. */
  webhooks: Webhooks
  tickets: Tickets
  /** Cookies of signed-in browsers. */
  cookies: SignInCookies
  /** The built web page; absent when it was not built. */
  page?: PageFiles | undefined
  /** Origins of other pages that may call this server with a token. */
  origins: readonly string[]
  /** Addresses and ranges of the proxies whose `X-Forwarded-For` names the client. */
  trustProxy: readonly string[]
  /** Reports which agents can be used. */
  agents(): Promise<AgentStatus[]>
  /** The variables that each agent gets from the environment of the server. */
  variables(): Record<string, string[]>
  version: string
  /** Host names by which clients may call this server. */
  hosts: readonly string[]
  /** The connections over the server's unix socket, which no browser can open: any Host is accepted there. */
  unixSockets: Pick<WeakSet<Socket>, 'has'>
  /** Real paths below which agents may work, and the default working directory. */
  roots: readonly string[]
  cwd: string
  /** Project directories by name. */
  projects: Readonly<Record<string, string>>
  /** The default policy of a session, and the maximum that a caller may request. */
  policy: Policy
  ceiling: Policy
  timing: GatewayTiming
  limits: GatewayLimits
  runs: BackgroundWork
  streams: StreamQuota
  /** The memory that request bodies share while they arrive. */
  uploads: UploadRoom
  /** The turns of the event loop that principals share. */
  turns: LoopTurns
  /** The memory that all pages share while they are built and sent. */
  pages: ByteBudget
  /** What this server counts for its metrics. */
  stats: ServerStats
  /** Receives a line for each response; absent where there is no access log. */
  access?: ((line: AccessLine) => void) | undefined
  /** The number of agent processes that run. */
  processes(): number
  /** The bytes of the disk of the data directory. */
  disk(): Promise<{ free: number; total: number }>
  phase(): Phase
  /** Whether the store is writable. */
  storage: StorageCheck
  /** Logs an error, with the request that it belongs to. */
  report(thrown: unknown, request?: RequestScope): void
}
