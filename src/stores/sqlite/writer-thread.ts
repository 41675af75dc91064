import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { storageFailed } from '../refusals.ts'
import type { FromWriter, ToWriter } from './message.ts'
import { quietSqlite } from './quiet.ts'
import type { Writer } from './writer.ts'

/** The writer thread: SQLite waits for the disk here, not on the event loop. */

const IDLE_MS = 250

if (!parentPort) throw new TypeError('this runs in a worker thread')
await start(parentPort)

async function start(port: MessagePort): Promise<void> {
  let writer: Writer
  try {
    // Imported late: the import raises the warning that `quietSqlite` suppresses.
    quietSqlite()
    const { Writer } = await import('./writer.ts')
    writer = new Writer(workerData)
  } catch (thrown) {
    port.postMessage(failure(thrown, 'open'))
    return
  }
  port.postMessage(undefined)
  const idle = setTimeout(() => writer.checkpoint(1), IDLE_MS)
  port.on('message', (message: ToWriter) => {
    // Replies first: nothing has to wait for the checkpoint.
    port.postMessage(write(writer, message))
    if (message.kind === 'close') {
      clearTimeout(idle)
      port.close()
    } else {
      writer.checkpoint()
      idle.refresh()
    }
  })
}

function write(writer: Writer, message: ToWriter): FromWriter {
  try {
    switch (message.kind) {
      case 'commit':
        writer.commit(message)
        return undefined
      case 'delete':
      case 'trim':
      case 'forget':
        writer.remove(message)
        return undefined
      case 'access':
        writer.changeAccess(message)
        return undefined
      case 'probe':
        writer.probe(message.writes)
        return undefined
      case 'close':
        writer.close()
        return undefined
      default:
        return message satisfies never
    }
  } catch (thrown) {
    return failure(thrown, 'write to')
  }
}

function failure(thrown: unknown, doing: string): FromWriter {
  const { code, message, details } = storageFailed(`cannot ${doing} the store`, thrown)
  return { code, message, details }
}
