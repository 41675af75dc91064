import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { defaultPaths, type Environment } from '../compose/paths.ts'
import { parse } from '../gateway/http/parse.ts'
import { DEFAULT_POLICY, MainstemError, OUTSIDE_ID, Policy, toMainstemError } from '../model/index.ts'
import { AGENT_LIMITS } from '../sessions/deadlines.ts'

/** A longer delay would overflow and fire at once. */
const milliseconds = z
  .int()
  .positive()
  .max(2 ** 31 - 1)
const path = z.string().min(1)

const AgentSettings = z.strictObject({
  command: z.array(z.string().min(1)).min(1).optional().describe("runs instead of the agent's own program"),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
})

const Timeouts = z.strictObject({
  keepaliveMs: milliseconds.default(15_000).describe('silence on a stream before a comment is sent'),
  pingMs: milliseconds.default(30_000).describe('how often a stream of /rpc has a ping'),
  stallMs: milliseconds.default(30_000).describe('how long a reader may take nothing'),
  headersMs: milliseconds.default(10_000).describe('until all headers of a request are here'),
  requestMs: milliseconds.default(30_000).describe('until the whole request is here'),
  drainMs: milliseconds.default(15_000).describe('how long running turns may go on when the server stops'),
  idleExitMs: milliseconds
    .default(30 * 60_000)
    .describe('without requests and running turns, until a server in the background ends'),
  startMs: milliseconds
    .default(AGENT_LIMITS.startMs)
    .describe('until an agent has answered its handshake, or loaded the conversation that it resumes'),
  exitMs: milliseconds
    .default(AGENT_LIMITS.exitMs)
    .describe('without output, until a one-shot agent exits after its result'),
  silenceMs: milliseconds
    .default(AGENT_LIMITS.silenceMs)
    .describe('without output in a turn, until a notice reports it'),
})

const Limits = z.strictObject({
  bodyBytes: z
    .int()
    .positive()
    .default(1024 * 1024),
  jsonDepth: z.int().positive().max(512).default(64),
  connections: z.int().positive().default(1_024),
  streams: z.int().positive().default(256).describe('open streams of one token'),
  processes: z.int().positive().default(64).describe('agents that run at once'),
  queue: z.int().positive().default(100).describe('prompts that wait in one session'),
})

const days = z.number().positive().max(36_500)

const RetentionSettings = z.strictObject({
  sessionDays: days.optional().describe('a session that ended longer ago is removed whole'),
  entries: z.int().positive().optional().describe('so many of the newest entries of a session that ended'),
  journalDays: days.optional().describe('raw frames of a session that ended longer ago are removed'),
  keyHours: z.number().min(24).max(876_000).default(24).describe('how long an idempotency key is known'),
})

const shape = {
  host: z.string().min(1),
  port: z.int().min(0).max(65_535),
  data: path,
  cwd: path,
  auth: z.boolean(),
}

/** What a configuration file may say. */
export const ConfigFile = z.strictObject({
  ...z.object(shape).partial().shape,
  hosts: z
    .array(z.string().regex(/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)$/, 'a host name without port'))
    .default([])
    .describe('names by which clients call this server, besides the loopback ones'),
  origins: z
    .array(
      z.string().regex(/^https?:\/\/[^/\s?#@]+$/, 'an origin such as https://example.com, without a path'),
    )
    .default([])
    .describe('other origins whose pages may call this server with a token'),
  roots: z.array(path).min(1).optional().describe('agents work below these directories only'),
  projects: z
    .record(z.string().min(1).max(200), path)
    .default({})
    .describe('directories by the names that clients of the board call them'),
  policy: Policy.default(DEFAULT_POLICY).describe('what a task runs under when its caller asks for nothing'),
  ceiling: Policy.default({ approval: 'auto-all', sandbox: 'full-access' }).describe(
    'the most anybody may ask',
  ),
  durability: z
    .enum(['power', 'process', 'none'])
    .default('power')
    .describe('what the log survives: a power cut, the end of this process, or not even that'),
  maxBytes: z.int().positive().optional().describe('how large the database may become'),
  agents: z.record(z.string().regex(OUTSIDE_ID), AgentSettings).default({}),
  timeouts: Timeouts.prefault({}),
  retention: RetentionSettings.prefault({}).describe('what is kept how long; without it, for ever'),
  limits: Limits.prefault({}),
})

/** What flags and the environment may say; flags win. */
const Overrides = z.strictObject({ ...shape, config: path }).partial()
export type Overrides = z.infer<typeof Overrides>

type ConfigFile = z.infer<typeof ConfigFile>

/** Complete, with absolute paths. */
export interface Config extends Omit<ConfigFile, 'host' | 'port' | 'data' | 'cwd' | 'auth' | 'roots'> {
  host: string
  port: number
  data: string
  cwd: string
  auth: boolean
  roots: string[]
}

const DEFAULT_PORT = 7380

/** Flags over environment over file over defaults. What is wrong is named with its place. */
export async function loadConfig(given: {
  flags: Overrides
  environment: Environment
  cwd: string
}): Promise<Config> {
  const flags = check(Overrides, given.flags, 'flags')
  const environment = check(Overrides, fromEnvironment(given.environment), 'environment')
  const defaults = defaultPaths(given.environment)
  const named = flags.config ?? environment.config
  const file = await readConfig(resolve(given.cwd, named ?? defaults.config), named !== undefined)
  const { config: _, ...overrides } = { ...environment, ...flags }
  const merged = { ...file, ...overrides }
  const cwd = resolve(given.cwd, merged.cwd ?? '.')
  return {
    ...merged,
    host: merged.host ?? '127.0.0.1',
    port: merged.port ?? DEFAULT_PORT,
    auth: merged.auth ?? true,
    data: resolve(given.cwd, merged.data ?? defaults.data),
    cwd,
    roots: merged.roots ?? [cwd],
  }
}

function fromEnvironment(environment: Environment): Record<string, unknown> {
  const { MAINSTEM_HOST, MAINSTEM_PORT, MAINSTEM_DATA, MAINSTEM_CWD, MAINSTEM_CONFIG } = environment
  return {
    ...(MAINSTEM_HOST && { host: MAINSTEM_HOST }),
    ...(MAINSTEM_PORT && { port: Number(MAINSTEM_PORT) }),
    ...(MAINSTEM_DATA && { data: MAINSTEM_DATA }),
    ...(MAINSTEM_CWD && { cwd: MAINSTEM_CWD }),
    ...(MAINSTEM_CONFIG && { config: MAINSTEM_CONFIG }),
  }
}

/** Paths in a file are meant from where the file is. A file that was asked for must be there. */
async function readConfig(file: string, required: boolean): Promise<ConfigFile> {
  const text = await readIfThere(file)
  if (text === undefined && required) throw wrong(file, 'there is no such file')
  const config = check(ConfigFile, parseJson(text ?? '{}', file), file)
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
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    throw thrown
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    throw wrong(file, `not valid JSON: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, source: string): T {
  try {
    return parse(schema, value, 'everything')
  } catch (thrown) {
    throw wrong(source, toMainstemError(thrown).message)
  }
}

function wrong(source: string, what: string): MainstemError {
  return new MainstemError('invalid_request', `configuration (${source}): ${what}`)
}
