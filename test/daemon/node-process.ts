import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MainstemClient } from '../../src/client/mainstem-client.ts'
import { MAIN } from '../built-program.ts'

const ROOT = join(import.meta.dirname, '../..')
const AGENT = join(ROOT, 'test/fake-agents/node-claude.mjs')

export const LEASE_MS = 6_000

/** A server process on a PostgreSQL that it shares with others. */
export class NodeProcess {
  readonly name: string
  readonly url: string
  readonly client: MainstemClient
  readonly child: ChildProcess

  constructor(name: string, child: ChildProcess, url: string) {
    this.name = name
    this.child = child
    this.url = url
    this.client = new MainstemClient({ baseUrl: url })
  }

  /** Settles when it serves. Its agents write their lives to `lives` in the home directory. */
  static async start(
    name: string,
    home: string,
    store: string,
    { drainMs = 500, leaseMs = LEASE_MS, privateAddresses = [] as string[] } = {},
  ): Promise<NodeProcess> {
    const place = join(home, name)
    mkdirSync(join(place, 'tmp'), { recursive: true })
    mkdirSync(join(home, 'work'), { recursive: true })
    const config = {
      port: 0,
      auth: false,
      cwd: join(home, 'work'),
      data: join(place, 'data'),
      policy: { approval: 'ask', sandbox: 'none' },
      agents: { claude: { command: [process.execPath, AGENT, join(home, 'lives')] } },
      node: { name, leaseMs },
      timeouts: { drainMs },
      webhooks: { private: privateAddresses },
    }
    writeFileSync(join(place, 'config.json'), JSON.stringify(config))
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [MAIN, 'serve', '--config', join(place, 'config.json')], {
      cwd: place,
      env: {
        PATH,
        NODE_COMPILE_CACHE,
        MAINSTEM_HOME: place,
        MAINSTEM_STORE: store,
        TMPDIR: join(place, 'tmp'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /^listening on (\S+)/.exec(line)?.[1]
      if (url !== undefined) return new NodeProcess(name, child, url)
    }
    throw new Error(`node ${name} did not start`)
  }

  get exited(): Promise<unknown> {
    return this.child.exitCode === null && this.child.signalCode === null
      ? once(this.child, 'exit')
      : Promise.resolve()
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Kills it, also where it was suspended. */
  async kill(): Promise<void> {
    const { exited } = this
    this.child.kill('SIGKILL')
    await exited
  }
}
