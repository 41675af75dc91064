import { execFileSync } from 'node:child_process'

/** Which packets between a node and its database are dropped. */
export type Direction = 'sent' | 'received'

const TABLE = 'partition'

/** A network namespace for one node, joined to that of this process by a pair of virtual devices. */
export class Namespace implements Disposable {
  /** The address of this process for the node. */
  readonly here: string
  /** The address of the node. */
  readonly there: string
  readonly #name: string
  readonly #device: string

  /** `index` tells the namespaces of one process apart. */
  constructor(index: number) {
    const { pid } = process
    this.#name = `mainstem-${pid}-${index}`
    this.#device = `ms${pid}x${index}`
    const net = `10.${100 + (pid % 100)}.${index}`
    this.here = `${net}.1`
    this.there = `${net}.2`
    run('ip', 'netns', 'add', this.#name)
    try {
      run('ip', 'link', 'add', this.#device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.#name)
      run('ip', 'address', 'add', `${this.here}/30`, 'dev', this.#device)
      run('ip', 'link', 'set', this.#device, 'up')
      run('ip', '-n', this.#name, 'address', 'add', `${this.there}/30`, 'dev', 'eth0')
      for (const device of ['lo', 'eth0']) run('ip', '-n', this.#name, 'link', 'set', device, 'up')
      // Tried now, so that a kernel that cannot drop packets is found before the first fault.
      this.#inside('nft', 'add', 'table', 'ip', TABLE)
    } catch (thrown) {
      this[Symbol.dispose]()
      throw thrown
    }
  }

  /** The words before a command that make it run in the namespace. */
  get enter(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name]
  }

  /** Unplugs the node from everything, its clients included. */
  unplug(): void {
    run('ip', 'link', 'set', this.#device, 'down')
  }

  plug(): void {
    run('ip', 'link', 'set', this.#device, 'up')
  }

  /** Drops what the node sends to a port of this process, or what it receives from there. Clients reach it. */
  drop(direction: Direction, port: number): void {
    const [hook, match] = direction === 'sent' ? ['output', 'dport'] : ['input', 'sport']
    this.#inside('nft', `add chain ip ${TABLE} drops { type filter hook ${hook} priority 0; }`)
    this.#inside('nft', `add rule ip ${TABLE} drops tcp ${match} ${port} drop`)
  }

  /** Lets everything pass again. */
  pass(): void {
    this.#inside('nft', 'delete', 'chain', 'ip', TABLE, 'drops')
  }

  /** Its devices go with it. */
  [Symbol.dispose](): void {
    run('ip', 'netns', 'delete', this.#name)
  }

  #inside(...command: string[]): void {
    run(...this.enter, ...command)
  }
}

/** Why this process cannot make namespaces; undefined if it can. */
export function whyNoNamespaces(): string | undefined {
  try {
    new Namespace(0)[Symbol.dispose]()
    return undefined
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.message.trim().split('\n').at(-1) ?? '') : String(thrown)
  }
}

function run(...[program = '', ...args]: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
