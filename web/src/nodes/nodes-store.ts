import type { ServerNode } from 'mainstem/client'
import { client, leftOut } from '../app/client.ts'
import { Store } from '../app/store.ts'

/** The servers that share the store, by name. Empty if the server has its store to itself. */
export const nodes = new Store<readonly ServerNode[]>([])

/** Reads the nodes. The last answer stays while the server cannot be reached: the top bar shows that it is offline. */
export async function loadNodes(): Promise<void> {
  try {
    nodes.set(await client.nodes())
  } catch (thrown) {
    leftOut(thrown)
  }
}
