import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '../../src/agents/agent.ts'
import { demo } from '../../src/agents/demo/agent.ts'
import { echo } from '../../src/agents/echo/agent.ts'
import { MainstemClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import type { Timers } from '../../src/drivers/driver.ts'
import { driver } from '../../src/drivers/index.ts'
import { able, puppet } from '../../test/gateway/puppet.ts'
import { type Disk, onDisk } from '../../test/sessions/log/fillable-store.ts'

/** Scripted agents wait this much shorter. */
const FASTER = 25

const fast: Timers = {
  async sleep(ms, signal) {
    try {
      await sleep(ms / FASTER, undefined, { signal, ref: false })
    } catch (thrown) {
      if (!signal.aborted) throw thrown
    }
  },
}

/** An agent with every command of a terminal, whose conversations can be continued. */
const verbal: Agent = {
  ...able,
  id: 'verbal',
  name: 'Verbal puppet',
  launches: Object.fromEntries(
    Object.entries(able.launches).map(([launch, recipe]) => [
      launch,
      {
        ...recipe,
        capabilities: {
          ...recipe.capabilities,
          resume: true,
          verbs: ['fork', 'compact', 'review', 'goal', 'rewind'],
        },
      },
    ]),
  ),
}

const AGENTS: readonly Agent[] = [demo, echo, puppet, able, verbal]

/** A database that several servers share, and the name of this one among them. */
interface SharedStore {
  url: string
  node: string
}

/** A real server with a real store, on a port that stays the same over restarts. */
export class Stage implements AsyncDisposable {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'page-stage-')))
  readonly disk: Disk = { full: false, refused: 0 }
  readonly #pageDirectory: string
  readonly #shared: SharedStore | undefined
  #server: Server | undefined
  #port = 0

  constructor(pageDirectory: string, shared?: SharedStore) {
    this.#pageDirectory = pageDirectory
    this.#shared = shared
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get token(): string {
    return this.#server?.tokenFile?.token ?? ''
  }

  get client(): MainstemClient {
    return new MainstemClient({ baseUrl: this.url, token: this.token })
  }

  async start(): Promise<void> {
    const flags = { port: this.#port, cwd: this.home, data: join(this.home, 'data') }
    const environment = this.#shared ? { MAINSTEM_STORE: this.#shared.url } : {}
    const config = await loadConfig({ flags, environment, cwd: this.home })
    const node = this.#shared ? { ...config.node, name: this.#shared.node } : config.node
    const timeouts = { ...config.timeouts, drainMs: 10 }
    const webhooks = { ...config.webhooks, private: ['127.0.0.1'] }
    this.#server = await serve({
      config: { ...config, timeouts, node, webhooks },
      report: (thrown) => console.error(thrown),
      agents: AGENTS,
      pageDirectory: this.#pageDirectory,
      between: { store: (store) => onDisk(store, this.disk), driver: () => driver({ timers: fast }) },
    })
    this.#port = Number(new URL(this.#server.url).port)
  }

  /** Stops at once: a turn that runs is interrupted. */
  async stop(): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.home, { recursive: true })
  }
}
