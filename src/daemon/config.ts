import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import * as z from 'zod'
import { isInside } from '../compose/is-inside.ts'
import { defaultPaths, type Environment } from '../compose/paths.ts'
import { lowered, underCeiling } from '../gateway/access/ceiling.ts'
import { DEFAULT_POLICY, MainstemError, OUTSIDE_ID, Policy, toMainstemError } from '../model/index.ts'
import { codeOf } from '../model/outcome/mainstem-error.ts'
import { parse } from '../model/text/parse.ts'
import { AGENT_LIMITS } from '../sessions/process/agent-limits.ts'
import { passwordsIn } from '../stores/postgres/address.ts'
import { isAddressRange, WebhookSettings } from './webhook-settings.ts'

/** A longer delay would overflow and fire immediately. */
const milliseconds = z
  .int()
  .positive()
  .max(2 ** 31 - 1)
const path = z.string().min(1)

const AgentSettings = z.strictObject({
  command: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("the command to run instead of the agent's program"),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
})

const Timeouts = z.strictObject({
  keepaliveMs: milliseconds
    .default(15_000)
    .describe('silence on a stream before a keepalive comment is sent'),
  pingMs: milliseconds.default(30_000).describe('interval of pings on /rpc streams'),
  stallMs: milliseconds
    .default(30_000)
    .describe('how long a client may stop reading before it is disconnected'),
  headersMs: milliseconds.default(10_000).describe('timeout for the headers of a request'),
  requestMs: milliseconds
    .default(30_000)
    .describe('timeout for the whole request, or for the next part of an import'),
  drainMs: milliseconds.default(15_000).describe('how long running turns may continue when the server stops'),
  idleExitMs: milliseconds
    .default(30 * 60_000)
    .describe('idle time without requests and turns before a background server exits'),
  startMs: milliseconds
    .default(AGENT_LIMITS.startMs)
    .describe("timeout for an agent's handshake, or for loading a resumed conversation"),
  exitMs: milliseconds
    .default(AGENT_LIMITS.exitMs)
    .describe(
      'timeout without output for a one-shot agent to exit after its result, and for any agent that closed its output',
    ),
  orphanMs: milliseconds
    .default(600_000)
    .describe('how long agents may work while no server runs, before they are ended'),
  silenceMs: milliseconds
    .default(AGENT_LIMITS.silenceMs)
    .describe('time without output in a turn before a notice is raised'),
})

const Limits = z.strictObject({
  bodyBytes: z
    .int()
    .positive()
    .default(1024 * 1024)
    .describe('maximum size of a request body without images'),
  imageBytes: z
    .int()
    .positive()
    .default(16 * 1024 * 1024)
    .describe('maximum size of a request body that can have images, which are in base64'),
  jsonDepth: z.int().positive().max(512).default(64),
  connections: z.int().positive().default(1_024),
  streams: z.int().positive().default(256).describe('maximum number of open streams per token'),
  processes: z.int().positive().default(64).describe('maximum number of agent processes'),
  queue: z.int().positive().default(100).describe('maximum number of queued prompts per session'),
})

const days = z.number().positive().max(36_500)

const RetentionSettings = z.strictObject({
  sessionDays: days.optional().describe('sessions that ended longer ago are deleted'),
  entries: z.int().positive().optional().describe('number of newest entries to keep of an ended session'),
  journalDays: days.optional().describe('raw frames of sessions that ended longer ago are deleted'),
  auditDays: days.optional().describe('rows of the audit trail that are older are deleted'),
  keyHours: z.number().min(24).max(876_000).default(24).describe('how long an idempotency key is remembered'),
})

/** The URL may contain a password, so no message repeats it. */
const postgresUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//i, 'a URL such as postgres://user@host:5432/database')

const StoreSettings = z.strictObject({
  url: postgresUrl.optional().describe('the PostgreSQL database of the logs, instead of a file below `data`'),
  listenUrl: postgresUrl
    .optional()
    .describe('for the one connection that waits for notifications, if `url` leads through a pooler'),
  connections: z
    .int()
    .min(5)
    .max(1000)
    .optional()
    .describe('maximum number of other connections; default 10'),
})

const NodeSettings = z.strictObject({
  name: z
    .string()
    .regex(OUTSIDE_ID, 'letters, digits, dot, dash and underscore')
    .optional()
    .describe('the name of this server among those that share its store; default the host name'),
  url: z.url().optional().describe('where clients reach this server; shown in the list of nodes'),
  labels: z
    .array(z.string().regex(OUTSIDE_ID))
    .default([])
    .describe('sessions can require labels of the node that runs them'),
  leaseMs: milliseconds
    .min(2_000)
    .default(30_000)
    .describe('how long the sessions of a server stay its own after it was last heard of'),
})

const shape = {
  host: z.string().min(1),
  port: z.int().min(0).max(65_535),
  data: path,
  cwd: path,
  auth: z.boolean(),
}

/** The schema of a configuration file. */
export const ConfigFile = z.strictObject({
  ...z.object(shape).partial().shape,
  hosts: z
    .array(z.string().regex(/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)$/, 'a host name without port'))
    .default([])
    .describe('additional host names of this server, besides the loopback ones'),
  trustProxy: z
    .array(z.string().refine(isAddressRange, 'an IP address, or a range such as 10.0.0.0/8'))
    .default([])
    .describe('addresses of proxies whose `X-Forwarded-For` names the client'),
  origins: z
    .array(
      z.string().regex(/^https?:\/\/[^/\s?#@]+$/, 'an origin such as https://example.com, without a path'),
    )
    .default([])
    .describe('other origins whose pages may call this server with a token'),
  roots: z.array(path).min(1).optional().describe('agents may work only below these directories'),
  projects: z
    .record(z.string().min(1).max(200), path)
    .default({})
    .describe('project directories by name, for clients of the board API'),
  policy: Policy.optional().describe(
    'the default policy of a task; `ask` and `none` by default, or less if the ceiling allows less',
  ),
  ceiling: Policy.default({ approval: 'auto-all', sandbox: 'full-access' }).describe(
    'the maximum policy that a caller may request',
  ),
  store: StoreSettings.optional().describe('where the logs are; a file below `data` by default'),
  accessLog: z.boolean().default(false).describe('write a line for each request to standard error'),
  durability: z
    .enum(['power', 'process', 'none'])
    .default('power')
    .describe('what the log survives: a power failure, a crash of this process, or neither'),
  maxBytes: z.int().positive().optional().describe('maximum size of the database'),
  search: z
    .enum(['on', 'off'])
    .default('on')
    .describe('whether to index the logs for `GET /v1/search`; `off` saves processor time and disk space'),
  agents: z.record(z.string().regex(OUTSIDE_ID), AgentSettings).default({}),
  node: NodeSettings.prefault({}).describe('this server as one of several on one store'),
  webhooks: WebhookSettings.prefault({}).describe('calls to others, and notifications'),
  timeouts: Timeouts.prefault({}),
  retention: RetentionSettings.prefault({}).describe('retention; everything is kept by default'),
  limits: Limits.prefault({}),
})

/** Settings from flags and the environment; flags take precedence. */
const Overrides = z.strictObject({ ...shape, config: path, store: postgresUrl }).partial()
export type Overrides = z.infer<typeof Overrides>

type ConfigFile = z.infer<typeof ConfigFile>

/** The complete configuration with absolute paths. */
export interface Config
  extends Omit<ConfigFile, 'host' | 'port' | 'data' | 'cwd' | 'auth' | 'roots' | 'policy'> {
  host: string
  port: number
  data: string
  cwd: string
  auth: boolean
  roots: string[]
  policy: Policy
}

const DEFAULT_PORT = 7380

/** Merges flags over environment over file over defaults. Errors name the invalid setting. */
export async function loadConfig(given: {
  flags: Overrides
  environment: Environment
  cwd: string
}): Promise<Config> {
  const flags = check(Overrides, given.flags, 'flags')
  const environment = check(Overrides, fromEnvironment(given.environment), 'environment')
  const defaults = defaultPaths(given.environment)
  const named = flags.config ?? environment.config
  const path = resolve(given.cwd, named ?? defaults.config)
  const file = await readConfig(path, named !== undefined)
  const { config: _, store: url, ...overrides } = { ...environment, ...flags }
  const merged = { ...file, ...overrides, ...(url !== undefined && { store: { ...file.store, url } }) }
  const cwd = resolve(given.cwd, merged.cwd ?? defaultDirectory(given.cwd, merged.roots))
  return {
    ...merged,
    host: merged.host ?? '127.0.0.1',
    port: merged.port ?? DEFAULT_PORT,
    auth: merged.auth ?? true,
    data: resolve(given.cwd, merged.data ?? defaults.data),
    cwd,
    roots: merged.roots ?? [cwd],
    policy: defaultPolicy(file, path),
  }
}

/** The first root if the server was started outside of all of them. */
function defaultDirectory(cwd: string, [first = cwd, ...others]: readonly string[] = []): string {
  return [first, ...others].some((root) => isInside(cwd, root)) ? cwd : first
}

function defaultPolicy({ policy, ceiling }: ConfigFile, source: string): Policy {
  if (!policy) return lowered(DEFAULT_POLICY, ceiling)
  try {
    return underCeiling(policy, ceiling)
  } catch (thrown) {
    const { details } = toMainstemError(thrown)
    const field = String(details?.field)
    throw new MainstemError('invalid_request', `configuration (${source}): ${field} exceeds the ceiling`, {
      field,
      advice: `Lower \`${field}\`, or raise \`ceiling\`. docs/policy.md lists the values from the strictest.`,
    })
  }
}

function fromEnvironment(environment: Environment): Record<string, unknown> {
  const { MAINSTEM_HOST, MAINSTEM_PORT, MAINSTEM_DATA, MAINSTEM_CWD, MAINSTEM_CONFIG, MAINSTEM_STORE } =
    environment
  return {
    ...(MAINSTEM_HOST && { host: MAINSTEM_HOST }),
    ...(MAINSTEM_PORT && { port: Number(MAINSTEM_PORT) }),
    ...(MAINSTEM_DATA && { data: MAINSTEM_DATA }),
    ...(MAINSTEM_CWD && { cwd: MAINSTEM_CWD }),
    ...(MAINSTEM_CONFIG && { config: MAINSTEM_CONFIG }),
    ...(MAINSTEM_STORE && { store: MAINSTEM_STORE }),
  }
}

/** Paths in a file are relative to that file. An explicitly given file must exist. */
async function readConfig(file: string, required: boolean): Promise<ConfigFile> {
  const text = await readIfThere(file)
  if (text === undefined && required)
    throw wrong(file, 'no such file', 'Check the path in --config or MAINSTEM_CONFIG.')
  const config = check(ConfigFile, parseJson(text ?? '{}', file), file, text)
  const from = dirname(file)
  return {
    ...config,
    ...(config.data !== undefined && { data: resolve(from, config.data) }),
    ...(config.cwd !== undefined && { cwd: resolve(from, config.cwd) }),
    ...(config.roots && { roots: config.roots.map((root) => resolve(from, root)) }),
    projects: Object.fromEntries(
      Object.entries(config.projects).map(([id, directory]) => [id, resolve(from, directory)]),
    ),
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    // The message of the parser has the line, but for a file that ends too early.
    throw wrong(file, `not valid JSON: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, source: string, text?: string): T {
  try {
    return parse(schema, value, 'everything')
  } catch (thrown) {
    const { message, details } = toMainstemError(thrown)
    const line = text === undefined ? undefined : lineOf(String(details?.field), text)
    throw wrong(line === undefined ? source : `${source}, line ${line}`, message)
  }
}

/** The line of a setting such as `timeouts.drainMs`. Each part is searched after the one that contains it. */
function lineOf(field: string, text: string): number | undefined {
  let at = 0
  for (const name of field.split('.')) {
    const found = text.indexOf(JSON.stringify(name), at)
    // The index of a list is not in the text.
    if (found !== -1) at = found
  }
  return at === 0 ? undefined : text.slice(0, at).split('\n').length
}

function wrong(
  source: string,
  what: string,
  advice = 'Correct it there; docs/cli.md lists the settings.',
): MainstemError {
  return new MainstemError('invalid_request', `configuration (${source}): ${what}`, { advice })
}

/** The URL of a database as people may see it. The longest first: a password may be a part of how it is written. */
export function withoutPasswords(url: string): string {
  const passwords = passwordsIn(url).toSorted((a, b) => b.length - a.length)
  return passwords.reduce((text, password) => text.replaceAll(password, '…'), url)
}
