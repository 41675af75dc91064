import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresServer } from '../../test/postgres/server.ts'
import type { Random } from '../random.ts'
import type { Direction, Namespace } from './namespace.ts'
import type { Node, Nodes } from './nodes.ts'
import { hasNoEntries } from './statements.ts'
import { busySessions } from './victims.ts'

/** The parts of the cluster that a fault may affect. */
export interface Scene {
  nodes: Nodes
  node: Node
  database: PostgresServer
  leaseMs: number
  random: Random
}

/** The time limit for a draining server to exit. */
const PATIENCE_MS = 60_000
const RESETS = 5
const LONGEST_OUTAGE_MS = 4_000

/** Too short to lose a lease. */
const short = (leaseMs: number) => leaseMs / 4
/** Long enough for another node to take over and start agents, and for agents that are ended late to be seen. */
const long = (leaseMs: number) => leaseMs + 6_000
/** The time limit of the wait for a commit without entries. A node under load makes one within a second. */
const COMMIT_MS = 30_000
/** The interval of polls for sessions with a running turn meanwhile. */
const LOOK_MS = 100

/** Each ends with all nodes up. Returns a problem in words if there is one. */
export type Fault = (scene: Scene) => Promise<string | undefined>

export const FAULTS = {
  'kill -9, restart at once': (scene) => kill(scene, () => 0),
  'kill -9, restart after the lease': (scene) => kill(scene, long),
  'SIGSTOP, shorter than the lease': (scene) => suspend(scene, short),
  'SIGSTOP, longer than the lease': (scene) => suspend(scene, long),
  'no network to the database, shorter than the lease': (scene) => cut(scene, short),
  'no network to the database, longer than the lease': (scene) => cut(scene, long),
  'statements delayed beyond the lease': delay,
  'connections to the database reset': reset,
  'PostgreSQL killed and restarted': restartDatabase,
  'drain and restart': drain,
  'partition, all packets': (scene) => partition(scene, unplugged),
  'partition, packets to the database': (scene) => partition(scene, dropping('sent')),
  'partition, packets from the database': (scene) => partition(scene, dropping('received')),
} satisfies Record<string, Fault>
export type FaultName = keyof typeof FAULTS

/** Faults that need a network namespace for each node. */
export const PARTITIONS: readonly FaultName[] = [
  'partition, all packets',
  'partition, packets to the database',
  'partition, packets from the database',
]

type Lasting = (leaseMs: number) => number

async function kill({ nodes, node, leaseMs }: Scene, lasting: Lasting): Promise<undefined> {
  node.isSound = false
  node.host.signal('SIGKILL')
  await node.host.exited()
  await sleep(lasting(leaseMs))
  await nodes.start(node)
}

async function suspend({ node, leaseMs }: Scene, lasting: Lasting): Promise<undefined> {
  node.isSound = false
  node.host.signal('SIGSTOP')
  await sleep(lasting(leaseMs))
  node.host.signal('SIGCONT')
  node.isSound = true
}

async function cut({ node, leaseMs }: Scene, lasting: Lasting): Promise<undefined> {
  node.isSound = false
  node.network.cut()
  await sleep(lasting(leaseMs))
  node.network.heal()
  node.isSound = true
}

/**
 * What the node sent before it lost its leases arrives after another node has taken over. Begins with a commit without
 * entries: the head of the log would refuse others, and only the fence refuses this one.
 */
async function delay({ node, database, leaseMs }: Scene): Promise<string | undefined> {
  let ids: string[] = []
  const isFirst = (statements: string) =>
    hasNoEntries(statements) && ids.some((id) => statements.includes(id))
  const held = node.network.cutBefore(isFirst).then(() => true)
  let isHeld = false
  for (let waited = 0; waited < COMMIT_MS && !isHeld; waited += LOOK_MS) {
    ids = (await busySessions(database.url)).map(({ id }) => id)
    isHeld = await Promise.race([held, sleep(LOOK_MS, false)])
  }
  node.isSound = false
  node.network.cut()
  await sleep(long(leaseMs))
  node.network.deliver()
  node.isSound = true
  return isHeld ? undefined : `${node.name} made no commit without entries within ${COMMIT_MS} ms`
}

/** Packets are dropped by the kernel, so the connections survive: what was sent arrives when the partition ends. */
async function partition(
  { node, leaseMs }: Scene,
  part: (namespace: Namespace, port: number) => () => void,
): Promise<string | undefined> {
  if (!node.namespace) return `${node.name} has no network namespace`
  node.isSound = false
  const heal = part(node.namespace, node.network.port)
  await sleep(long(leaseMs))
  heal()
  node.isSound = true
  return undefined
}

function unplugged(namespace: Namespace): () => void {
  namespace.unplug()
  return () => namespace.plug()
}

function dropping(direction: Direction) {
  return (namespace: Namespace, port: number) => {
    namespace.drop(direction, port)
    return () => namespace.pass()
  }
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
