import type { Policy } from '../model/index.ts'
import type { ByteBudget } from '../sessions/byte-budget.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Token } from './http/auth.ts'
import type { BackgroundWork } from './http/background-work.ts'
import type { Tickets } from './http/tickets.ts'
import type { StreamTiming } from './streams/event-stream.ts'
import type { StreamQuota } from './streams/stream-quota.ts'
import type { AgentStatus } from './v1/agents.ts'
import type { PageFiles } from './web/page-files.ts'
import type { SignInCookies } from './web/sign-in-cookie.ts'

export type Phase = 'starting' | 'ready' | 'draining'

export interface GatewayTiming extends StreamTiming {
  /** How often a stream of `/rpc` says that we are still there. */
  pingMs: number
  /** Until all headers are here. */
  headersMs: number
  /** Until the whole request is here. */
  requestMs: number
}

export interface GatewayLimits {
  bodyBytes: number
  jsonDepth: number
  connections: number
}

/** Everything the gateway needs from outside. */
export interface GatewayDeps {
  sessions: Sessions
  /** Absent: nobody is asked for a token. */
  tokens: (() => Promise<readonly Token[]>) | undefined
  tickets: Tickets
  /** Cookies of signed-in browsers. */
  cookies: SignInCookies
  /** The built page; absent where it was not built. */
  page?: PageFiles | undefined
  /** Origins of other pages that may call this server with a token. */
  origins: readonly string[]
  /** Which agents can be used. */
  agents(): Promise<AgentStatus[]>
  version: string
  /** Names by which clients may call this server. */
  hosts: readonly string[]
  /** Real paths below which agents may work, and the one they start in. */
  roots: readonly string[]
  cwd: string
  /** Directories by the names that clients call them. */
  projects: Readonly<Record<string, string>>
  /** What a session runs under when its caller asks for nothing, and the most that anybody may ask for. */
  policy: Policy
  ceiling: Policy
  timing: GatewayTiming
  limits: GatewayLimits
  runs: BackgroundWork
  streams: StreamQuota
  /** The memory that all pages share while they are made and sent. */
  pages: ByteBudget
  phase(): Phase
  /** Fails with `storage_failed` while the store cannot be written. */
  probe(): Promise<void>
  /** Takes an error that no client can be told about. */
  report(thrown: unknown): void
}
