import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'

/** The server that a page is written for: on a free port, without a token, in a home of its own. */
export interface PageServer {
  readonly home: string
  readonly url: string
}

/** There for all tests of a file; whatever it reports fails them. */
export function pageServer(): PageServer {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'page-')))
  let server: Server | undefined
  beforeAll(async () => {
    const config = await loadConfig({
      flags: { port: 0, data: home, cwd: home, auth: false },
      environment: { MAINSTEM_HOME: home },
      cwd: home,
    })
    server = await serve({
      config,
      report: (thrown) => {
        throw thrown
      },
    })
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true })
  })
  return {
    home,
    get url() {
      if (!server) throw new Error('the server has not started')
      return server.url
    },
  }
}
