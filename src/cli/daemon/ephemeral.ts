import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MainstemClient } from '../../client/mainstem-client.ts'
import { makeTemporaryFolder } from '../../compose/temporary-folder.ts'
import { loadConfig } from '../../daemon/config.ts'
import { socketFetch } from '../../daemon/node-fetch.ts'
import { serve } from '../../daemon/serve.ts'
import { absolutePaths, type LocalFlags } from './data-directory.ts'

export interface EphemeralServer extends AsyncDisposable {
  client: MainstemClient
}

/** A server in this process, for one command. Its log is in memory and is discarded. */
export async function ephemeralServer(flags: LocalFlags): Promise<EphemeralServer> {
  const loaded = await loadConfig({ ...absolutePaths(flags, process.env, process.cwd()), cwd: '/' })
  const config = { ...loaded, host: '127.0.0.1', auth: false, durability: 'none' as const }
  const folder = makeTemporaryFolder()
  const socket = join(folder, 'socket')
  const server = await serve({ config, report: (thrown) => console.error(thrown), socket, tcp: false })
  return {
    client: new MainstemClient({ client: 'terminal', fetch: socketFetch(socket) }),
    async [Symbol.asyncDispose]() {
      // The command has its result, so a second call does not wait for remaining work.
      void server.stop()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
