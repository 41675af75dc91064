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

type Exposure = Pick<Config, 'host' | 'hosts' | 'auth'>

/** A server that is reachable from other machines must require a token and know its host names. */
export function checkExposure({ host, hosts, auth }: Exposure): void {
  if (isLoopback(host)) return
  if (!auth) throw refused(host, 'without a token; leave out --no-auth')
  if (hosts.length === 0) throw refused(host, 'unless `hosts` in the configuration lists its host names')
}

/** The Host headers to accept; rejecting all others prevents DNS rebinding. */
export function allowedHosts({ host, hosts }: Exposure): readonly string[] {
  return isLoopback(host) ? [...LOOPBACK_NAMES, host, ...hosts] : hosts
}

function refused(host: string, unless: string): MainstemError {
  return new MainstemError('forbidden', `refusing to listen on ${host} ${unless}`)
}
