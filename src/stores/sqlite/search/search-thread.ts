import { setTimeout } from 'node:timers/promises'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { storageFailed } from '../../refusals.ts'
import { quietSqlite } from '../quiet.ts'
import type { IndexQuery, TextIndexer } from './indexer.ts'
import type { FromSearch, SearchSettings, ToSearch } from './search-channel.ts'

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
        port.postMessage(answer(indexer, message.ask, message.query))
        break
      case 'removed':
        indexer.removed(message.session)
        break
      case 'close':
        finish(indexer)
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
      for (;;) {
        const began = performance.now()
        const step = indexer.step()
        if (step === 'nothing') break
        // Old entries can wait: a pause as long as the work leaves half of the time to others.
        await setTimeout(step === 'backfill' ? performance.now() - began : 0)
      }
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

function answer(indexer: TextIndexer, ask: number, query: IndexQuery): FromSearch {
  try {
    return { ask, matches: indexer.find(query) }
  } catch (thrown) {
    indexer.reset(thrown)
    const { code, message, details } = storageFailed('cannot search the store', thrown)
    return { ask, failure: { code, message, details } }
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
