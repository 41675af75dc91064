import { MainstemError } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'

/** A disk that can be filled up and emptied again. */
export interface Disk {
  full: boolean
  /** The number of commits that it had no room for. */
  refused: number
}

/** Refuses to commit while the disk is full. */
export function onDisk(store: Store, disk: Disk): Store {
  const append = store.append.bind(store)
  store.append = async (session, batch, fence) => {
    if (disk.full) {
      disk.refused++
      throw new MainstemError('storage_failed', 'the disk is full')
    }
    await append(session, batch, fence)
  }
  const probe = store.probe.bind(store)
  store.probe = async () => {
    if (disk.full) throw new MainstemError('storage_failed', 'the disk is full')
    await probe()
  }
  return store
}

export function fillable(): { store: Store; disk: Disk } {
  const disk = { full: false, refused: 0 }
  return { store: onDisk(memoryStore(), disk), disk }
}
