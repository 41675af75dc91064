import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { stepWhileUseful } from '../../search.ts'
import { quietSqlite } from '../quiet.ts'
import { replyOf } from '../thread-channel.ts'
import type { TextIndexer } from './indexer.ts'
import type { SearchSettings, ToSearch } from './search-channel.ts'

/** The thread that indexes the logs and looks up words, so that neither commits nor the event loop wait for it. */

if (!parentPort) throw new TypeError('this runs in a worker thread')
await start(parentPort, workerData)

async function start(port: MessagePort, { database, index }: SearchSettings): Promise<void> {
  // Loaded late: the warning comes with the import, and the thread that started this one has had it.
  quietSqlite()
  const { TextIndexer } = await import('./indexer.ts')
  const indexer = new TextIndexer(database, index)
  const work = worker(indexer)
  port.on('message', (message: ToSearch) => {
    switch (message.kind) {
      case 'find':
        port.postMessage(
          replyOf('cannot search the store', () => recovering(indexer, () => indexer.find(message.query))),
        )
        break
      case 'lag':
        port.postMessage(replyOf('cannot read the index', () => recovering(indexer, () => indexer.lag())))
        break
      case 'removed':
        indexer.removed(message.session)
        break
      case 'close':
        port.postMessage(replyOf('cannot close the index', () => finish(indexer)))
        port.close()
        return
      case 'changed':
        break
      default:
        message satisfies never
    }
    work()
  })
  work()
}

/** Returns a function that works until nothing is left to do. Messages have their turn after each step. */
function worker(indexer: TextIndexer): () => void {
  let isWorking = false
  const run = async () => {
    try {
      await stepWhileUseful(() => indexer.step())
      indexer.shrink()
    } catch (thrown) {
      // The next message retries, and a failed search reports the reason.
      indexer.reset(thrown)
    }
    isWorking = false
  }
  return () => {
    if (isWorking) return
    isWorking = true
    void run()
  }
}

/** The next message finds the files opened again. */
function recovering<T>(indexer: TextIndexer, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    indexer.reset(thrown)
    throw thrown
  }
}

/** Removed text leaves the index before the store is closed; new text can wait for the next start. */
function finish(indexer: TextIndexer): void {
  try {
    while (indexer.removeStep());
  } catch (thrown) {
    // The next start compares the index with the logs.
    indexer.reset(thrown)
  }
  indexer.close()
}
