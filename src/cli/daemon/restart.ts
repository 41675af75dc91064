import { setTimeout as sleep } from 'node:timers/promises'
import { logIn } from '../../daemon/bounded-log.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { findServer, type LocalServer, OUR_VERSION } from './connect.ts'
import type { LocalFlags } from './data-directory.ts'

/** How long the old server may take to leave and the new one to start: its recovery reads the store. */
const RESTART_MS = 60_000
const POLL_MS = 50

/** `mainstem restart`: replaces the process of the server. Its agents work on. */
export async function restart(flags: LocalFlags): Promise<void> {
  const found = await findServer(flags)
  if (!found) {
    console.log('no daemon runs')
    process.exitCode = 4
    return
  }
  process.kill(found.info.pid, 'SIGHUP')
  const { info } = await successor(found, flags)
  console.log(`restarted: version ${info.version}, process ${info.pid}`)
  if (info.version === OUR_VERSION) return
  const message = `the server has version ${info.version}, and this is version ${OUR_VERSION}`
  throw new MainstemError('conflict', message, {
    advice: 'It was started from another installation. Run `mainstem daemon stop` to use this one.',
  })
}

async function successor({ info: { pid }, data }: LocalServer, flags: LocalFlags): Promise<LocalServer> {
  for (const end = Date.now() + RESTART_MS; Date.now() < end; await sleep(POLL_MS)) {
    const server = await findServer(flags).catch(() => undefined)
    if (server && server.info.pid !== pid) return server
  }
  throw new MainstemError(
    'timeout',
    `no server of ${data} answers ${RESTART_MS / 1000} s after the restart`,
    {
      advice: `Start it again soon: its agents work on for a while. Its log is ${logIn(data)} if it ran in the background.`,
    },
  )
}
