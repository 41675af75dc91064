import { BlockList, isIP } from 'node:net'
import { MainstemError } from '../model/index.ts'
import type { Config } from './config.ts'

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const version = isIP(host)
  return version !== 0 && loopback.check(host, version === 6 ? 'ipv6' : 'ipv4')
}

/** Addresses that stand for all interfaces. No client can call a server by them. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** A server that is reachable from other machines must require a token. */
export function checkExposure({ host, auth }: Pick<Config, 'host' | 'auth'>): void {
  if (isLoopback(host) || auth) return
  throw new MainstemError('forbidden', `refusing to listen on ${host} without a token; leave out --no-auth`)
}

/**
 * The Host headers to accept. A page that rebinds its DNS name to this server sends that name, so only names that no
 * such page can have are accepted: loopback names, the address that the server listens on, and the configured ones.
 */
export function allowedHosts({ host, hosts }: Pick<Config, 'host' | 'hosts'>): readonly string[] {
  const own = WILDCARDS.has(host) ? [] : [isIP(host) === 6 ? `[${host}]` : host]
  return [...LOOPBACK_NAMES, ...own, ...hosts]
}

/** Whether other machines can connect, but know no name by which they may call the server. */
export function lacksNames({ host, hosts }: Pick<Config, 'host' | 'hosts'>): boolean {
  return WILDCARDS.has(host) && hosts.length === 0
}
