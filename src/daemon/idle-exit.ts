import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Timers } from '../drivers/driver.ts'

export interface IdleDeps {
  server: Server
  /** Whether a turn runs or will run: one that waits for an answer, or a queued prompt that continues later. */
  isBusy(): Promise<boolean>
  idleMs: number
  timers: Timers
  signal: AbortSignal
}

/** Settles when a server had no request, no open stream and no running turn for `idleMs`, or when the signal fires. */
export async function untilIdle({ server, isBusy, idleMs, timers, signal }: IdleDeps): Promise<void> {
  let open = 0
  let used = false
  const count = (ended: { once(event: 'close', listener: () => void): unknown }) => {
    open++
    used = true
    ended.once('close', () => {
      open--
      used = true
    })
  }
  const onRequest = (_request: IncomingMessage, response: ServerResponse) => count(response)
  const onUpgrade = ({ socket }: IncomingMessage) => count(socket)
  server.on('request', onRequest)
  server.on('upgrade', onUpgrade)
  try {
    while (!signal.aborted) {
      used = false
      await timers.sleep(idleMs, signal)
      if (!used && open === 0 && !(await isBusy())) return
    }
  } finally {
    server.off('request', onRequest)
    server.off('upgrade', onUpgrade)
  }
}
