import { readdirSync } from 'node:fs'

/** What a folder of `src/` may import besides itself. `type x` allows types of x and nothing that runs. */
export interface Layer {
  imports: readonly string[]
  /** npm packages and `node:` modules; `node:*` stands for all of these. */
  packages: readonly string[]
  /** No clock, no random number, no process, no socket. */
  pure: boolean
  /** Sub-folders do not know each other, but for those named here; the folder's index names them all. */
  isolatedBut?: readonly string[]
}

const CONTRACTS = [
  'type framing/frame.ts',
  'type agents/agent.ts',
  'type drivers/driver.ts',
  'type stores/access.ts',
  'type stores/calls.ts',
  'type stores/nodes.ts',
  'type stores/store.ts',
]
const EVERYTHING = [
  'webhooks',
  'agents',
  'compose',
  'dialects',
  'drivers',
  'framing',
  'gateway',
  'model',
  'imports',
  'mask',
  'nodes',
  'reading',
  'sessions',
  'stores',
]

/** The house rules on imports, one row a folder; a folder inside one may have its own. What has no row may not exist. */
export const LAYERS: Readonly<Record<string, Layer>> = {
  model: { imports: [], packages: ['zod'], pure: true },
  framing: { imports: ['model'], packages: [], pure: true },
  agents: {
    imports: ['model', 'type framing'],
    packages: ['zod'],
    pure: true,
    isolatedBut: ['kit', 'protocols'],
  },
  dialects: { imports: ['model'], packages: ['zod'], pure: true },
  drivers: { imports: ['model', 'framing', 'type agents/agent.ts'], packages: ['node:*'], pure: false },
  stores: { imports: ['model'], packages: ['node:*', 'pg'], pure: false },
  // Secrets in texts.
  mask: { imports: ['model'], packages: [], pure: true },
  // Replays and follows the logs of a store, whichever server writes them.
  reading: { imports: ['model', ...CONTRACTS], packages: [], pure: true },
  sessions: { imports: ['mask', 'model', 'reading', ...CONTRACTS], packages: [], pure: true },
  // Exported sessions become sessions of this store.
  imports: { imports: ['sessions', 'model', ...CONTRACTS], packages: ['zod'], pure: true },
  // Several servers on one store. The commands between them are checked as all input is.
  nodes: { imports: ['sessions', 'reading', 'model', ...CONTRACTS], packages: ['zod'], pure: true },
  webhooks: { imports: ['model', ...CONTRACTS], packages: ['node:*'], pure: false },
  gateway: {
    imports: ['model', 'dialects', 'imports', 'mask', 'nodes', 'reading', 'sessions', 'type webhooks'],
    packages: ['node:*', 'fastify', '@fastify/websocket', 'zod'],
    pure: false,
  },
  // What runs in browsers: of the model it takes types, the one error class and five rules, which stand alone.
  client: {
    imports: [
      'type model',
      'model/outcome/is-failed.ts',
      'model/events/hand-over-text.ts',
      'model/request/for-person.ts',
      'model/outcome/mainstem-error.ts',
      'model/request/offered-scopes.ts',
      'model/session/context-after.ts',
      'type dialects',
    ],
    packages: ['eventsource-parser'],
    pure: false,
  },
  // Entries of their own, which the client itself never imports.
  'client/adapters': {
    imports: ['client', 'model', 'framing', 'agents', 'dialects', 'sessions'],
    packages: [],
    pure: false,
  },
  'client/stdio': { imports: ['client', 'model', 'framing'], packages: ['node:*'], pure: false },
  // Wires agents, drivers, stores and sessions together, for the library, the adapters and the daemon.
  compose: {
    imports: [
      'agents',
      'drivers',
      'framing',
      'imports',
      'mask',
      'model',
      'nodes',
      'reading',
      'sessions',
      'stores',
    ],
    packages: ['node:*', 'zod'],
    pure: false,
  },
  'client/node': { imports: ['client', 'client/stdio'], packages: [], pure: false },
  // Follows a session and answers its requests, for the library, ues and the terminal.
  attend: { imports: ['model'], packages: [], pure: true },
  ues: {
    imports: ['attend', 'model', 'dialects', 'agents', 'compose', 'type sessions'],
    packages: ['node:path'],
    pure: false,
  },
  daemon: { imports: EVERYTHING, packages: ['node:*', 'fastify', 'zod'], pure: false },
  cli: {
    imports: ['attend', 'model', 'client', 'compose', 'daemon', 'dialects'],
    packages: ['node:*', 'commander', '@clack/prompts', 'fast-string-width', 'picocolors'],
    pure: false,
  },
  library: { imports: ['attend', 'model', 'compose', 'type sessions'], packages: [], pure: false },
  testing: { imports: ['model', 'framing'], packages: ['node:*'], pure: false },
  'index.ts': { imports: ['model', 'library'], packages: [], pure: false },
}

/** What a pure folder may not name: clocks, chance, the machine and the network. */
export const IMPURE_GLOBALS: ReadonlySet<string> = new Set([
  'Buffer',
  'Date',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'performance',
  'process',
  'setImmediate',
  'setInterval',
  'setTimeout',
])

/** The agents: one folder each. Code outside of a folder must not branch on its name. */
export const AGENT_IDS: ReadonlySet<string> = new Set(
  readdirSync(new URL('../../src/agents/', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['kit', 'protocols'].includes(entry.name))
    .map(({ name }) => name),
)

/** Words that say nothing, or tell history instead of meaning. */
export const EMPTY_WORDS: ReadonlySet<string> = new Set([
  'handler',
  'helper',
  'helpers',
  'legacy',
  'manager',
  'service',
  'util',
  'utils',
  'v2',
  'wrapper',
])

/** A longer file owns more than one thing. */
export const MAX_FILE_LINES = 350
/** A folder of `src` shows what it owns. */
export const MAX_FOLDER_FILES = 27
export const MAX_FUNCTION_LINES = 60
export const MEDIAN_FILE_LINES = 100
