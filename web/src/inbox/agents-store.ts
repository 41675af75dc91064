import type { AgentInfo } from 'mainstem/client'
import { client, leftOut } from '../app/client.ts'
import { Store } from '../app/store.ts'

/** Every agent with its readiness; `undefined` until the server has asked their programs. */
export const agents = new Store<readonly AgentInfo[] | undefined>(undefined)

const ORDER: readonly AgentInfo['state'][] = [
  'ready',
  'installed',
  'needs_login',
  'broken',
  'built_in',
  'missing',
]

export async function loadAgents(): Promise<void> {
  try {
    const found = await client.agents()
    agents.set([...found].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)))
  } catch (thrown) {
    if (!leftOut(thrown)) throw thrown
  }
}

export const isUsable = ({ state }: AgentInfo): boolean => state !== 'missing' && state !== 'broken'
