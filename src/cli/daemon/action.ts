import { setTimeout as sleep } from 'node:timers/promises'
import { logIn } from '../../daemon/bounded-log.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { findServer } from './connect.ts'
import type { LocalFlags } from './data-directory.ts'

const POLL_MS = 50

export async function daemon(action: string, flags: LocalFlags): Promise<void> {
  const found = await findServer(flags)
  if (!found) {
    console.log('no daemon runs')
    if (action === 'status') process.exitCode = 4
    return
  }
  const { info, data } = found
  if (action === 'status') {
    console.log(`version ${info.version}, process ${info.pid}`)
    console.log(`data in ${data}`)
    console.log(`log in ${logIn(data)}`)
    return
  }
  process.kill(info.pid, 'SIGTERM')
  console.error(`stopping process ${info.pid}; running turns may end first`)
  while (isAlive(info.pid)) await sleep(POLL_MS)
  console.log('stopped')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    // EPERM: the process belongs to another user, so it is alive.
    return codeOf(thrown) !== 'ESRCH'
  }
}
