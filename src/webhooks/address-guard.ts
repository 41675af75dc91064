import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { MainstemError } from '../model/index.ts'

/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

const resolveBySystem: Resolve = (host) => lookup(host, { all: true })

/** What is not on the public internet, by IANA's registry of special addresses. */
const SPECIAL_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]
/** Addresses below 2000::/3 that lead elsewhere: tunnels, benchmarks, and documentation. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const GLOBAL_IPV6 = ['2000::/3']

/** Decides which addresses may be called, so that a webhook cannot reach the network of the server. */
export class AddressGuard {
  readonly #private: BlockList
  readonly #resolve: Resolve

  /** `ranges`: addresses that may be called although they are not public. */
  constructor(ranges: readonly string[], resolve: Resolve = resolveBySystem) {
    this.#private = listOf(ranges)
    this.#resolve = resolve
  }

  /** Refuses a URL that could never be called. Host names are compared when they are resolved. */
  check(url: URL): void {
    const host = hostOf(url)
    if (isIP(host) !== 0 && !this.#isAllowed(host, url.protocol)) throw refusal(url)
    if (url.protocol !== 'https:' && isIP(host) === 0 && !this.#hasPrivate) throw refusal(url)
  }

  /**
   * The lookup of one connection: it resolves the name once, and the connection goes to an address that was compared. So a
   * name that resolves differently the next time leads nowhere else.
   */
  lookup(url: URL): LookupFunction {
    return (host, { all }, callback) => {
      const find = async () => {
        const found = await this.#resolve(host)
        const allowed = found.filter(({ address }) => this.#isAllowed(address, url.protocol))
        const [first] = allowed
        if (!first) throw refusal(url)
        return { allowed, first }
      }
      find().then(
        ({ allowed, first }) => (all ? callback(null, allowed) : callback(null, first.address, first.family)),
        (thrown) => callback(thrown, '', 0),
      )
    }
  }

  get #hasPrivate(): boolean {
    return this.#private.rules.length > 0
  }

  #isAllowed(address: string, protocol: string): boolean {
    return has(this.#private, address) || (protocol === 'https:' && isPublic(address))
  }
}

/** The host of a URL; an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

const special = listOf([...SPECIAL_IPV4, ...SPECIAL_IPV6])
const global6 = listOf(GLOBAL_IPV6)

/** Whether an address is on the public internet. IPv4 addresses inside IPv6 are not. */
export function isPublic(address: string): boolean {
  return !has(special, address) && (isIP(address) === 4 || has(global6, address))
}

function has(list: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const isIPv4 = isIP(address) === 4
    list.addSubnet(address, Number(bits ?? (isIPv4 ? 32 : 128)), isIPv4 ? 'ipv4' : 'ipv6')
  }
  return list
}

function refusal(url: URL): MainstemError {
  const message = `${url.protocol}//${url.host} may not be called: only https and public addresses`
  const advice = 'The operator can allow other addresses: `webhooks.private` in the configuration.'
  return new MainstemError('invalid_request', message, { field: 'url', advice })
}
