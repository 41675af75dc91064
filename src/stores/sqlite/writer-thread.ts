import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ToWriter } from './message.ts'
import { quietSqlite } from './quiet.ts'
import { replyOf } from './thread-channel.ts'

/** The writer thread: SQLite waits for the disk here, not on the event loop. */

const IDLE_MS = 250

if (!parentPort) throw new TypeError('this runs in a worker thread')
await start(parentPort)

async function start(port: MessagePort): Promise<void> {
  // Imported late: the import raises the warning that `quietSqlite` suppresses.
  quietSqlite()
  const { Writer } = await import('./writer.ts')
  const writer = opened(port, () => new Writer(workerData))
  if (!writer) return
  const idle = setTimeout(() => writer.idle(), IDLE_MS)
  port.on('message', (message: ToWriter) => {
    // Replies first: nothing has to wait for the checkpoint.
    port.postMessage(replyOf('cannot write to the store', () => writer.write(message)))
    if (message.kind === 'close') {
      clearTimeout(idle)
      port.close()
    } else {
      writer.checkpoint()
      idle.refresh()
    }
  })
}

/** Replies to the start. */
function opened<T>(port: MessagePort, open: () => T): T | undefined {
  let result: T | undefined
  port.postMessage(
    replyOf('cannot open the store', () => {
      result = open()
    }),
  )
  return result
}
