import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresServer } from '../../test/postgres/server.ts'
import type { Random } from '../random.ts'
import type { Node, Nodes } from './nodes.ts'

/** What a fault may touch. */
export interface Scene {
  nodes: Nodes
  node: Node
  database: PostgresServer
  leaseMs: number
  random: Random
}

/** How long a server that drains may take to exit. */
const PATIENCE_MS = 60_000
const RESETS = 5
const LONGEST_OUTAGE_MS = 4_000

/** In parts of a lease: too short to lose it, and long enough for another node to take over. */
const SHORT = 0.25
const LONG = 1.6

/** Each ends with all nodes up. Returns a problem in words if there is one. */
export type Fault = (scene: Scene) => Promise<string | undefined>

export const FAULTS = {
  'kill -9, restart at once': (scene) => kill(scene, 0),
  'kill -9, restart after the lease': (scene) => kill(scene, LONG),
  'SIGSTOP, shorter than the lease': (scene) => suspend(scene, SHORT),
  'SIGSTOP, longer than the lease': (scene) => suspend(scene, LONG),
  'no network to the database, shorter than the lease': (scene) => cut(scene, SHORT),
  'no network to the database, longer than the lease': (scene) => cut(scene, LONG),
  'statements delayed beyond the lease': delay,
  'connections to the database reset': reset,
  'PostgreSQL killed and restarted': restartDatabase,
  'drain and restart': drain,
} satisfies Record<string, Fault>
export type FaultName = keyof typeof FAULTS

async function kill({ nodes, node, leaseMs }: Scene, leases: number): Promise<undefined> {
  node.isSound = false
  node.host.signal('SIGKILL')
  await node.host.exited()
  await sleep(leases * leaseMs)
  await nodes.start(node)
}

async function suspend({ node, leaseMs }: Scene, leases: number): Promise<undefined> {
  node.isSound = false
  node.host.signal('SIGSTOP')
  await sleep(leases * leaseMs)
  node.host.signal('SIGCONT')
  node.isSound = true
}

async function cut({ node, leaseMs }: Scene, leases: number): Promise<undefined> {
  node.isSound = false
  node.network.cut()
  await sleep(leases * leaseMs)
  node.network.heal()
  node.isSound = true
}

/** What the node sent before it lost its leases arrives after another node has taken over. */
async function delay({ node, leaseMs }: Scene): Promise<undefined> {
  node.isSound = false
  node.network.cut()
  await sleep(LONG * leaseMs)
  node.network.deliver()
  node.isSound = true
}

async function reset({ node, random }: Scene): Promise<undefined> {
  for (let resets = 0; resets < RESETS; resets++) {
    node.network.reset()
    await sleep(random() * 500)
  }
}

async function restartDatabase({ nodes, database, random }: Scene): Promise<undefined> {
  const sound = nodes.all.filter(({ isSound }) => isSound)
  for (const node of sound) node.isSound = false
  await database.kill()
  await sleep(random() * LONGEST_OUTAGE_MS)
  await database.start()
  for (const node of sound) node.isSound = true
}

async function drain({ nodes, node }: Scene): Promise<string | undefined> {
  const isDone = await nodes.stop(node, AbortSignal.timeout(PATIENCE_MS))
  await nodes.start(node)
  return isDone ? undefined : `${node.name} did not exit within ${PATIENCE_MS} ms of SIGTERM`
}
