import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { FromWriter, ToWriter } from './message.ts'
import { storageFailed } from './storage-failed.ts'
import { Writer } from './writer.ts'

/** The thread in which SQLite waits for the disk, so that the event loop does not. */

const IDLE_MS = 250

if (!parentPort) throw new TypeError('this runs in a worker thread')
start(parentPort)

function start(port: MessagePort): void {
  let writer: Writer
  try {
    writer = new Writer(workerData)
  } catch (thrown) {
    port.postMessage(failure(thrown, 'open'))
    return
  }
  port.postMessage(undefined)
  const idle = setTimeout(() => writer.checkpoint(1), IDLE_MS)
  port.on('message', (message: ToWriter) => {
    // The answer goes out first: a checkpoint is nothing that anybody has to wait for.
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
        writer.delete(message)
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
  const { code, message } = storageFailed(`cannot ${doing} the store`, thrown)
  return { code, message }
}
