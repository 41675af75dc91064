import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { allowedHosts } from '../../src/daemon/exposure.ts'
import { cluster as compose, dropIn, instruction, proxy, unit } from './files.ts'
import { serveOptions } from './serve-options.ts'

/** The values of a directive of the proxy. */
const directives = (name: string) =>
  [...proxy.matchAll(new RegExp(`^ {2}${name} (.+)$`, 'gm'))].map(([, value = '']) => value)

const nodes = [...compose.matchAll(/^ {2}(n\d):\n {4}<</gm)].map(([, name = '']) => name)

describe('the compose file of a cluster', () => {
  it('has three nodes, whose names are fixed and whose data is their own', () => {
    expect(nodes).toEqual(['n1', 'n2', 'n3'])
    for (const name of nodes) {
      expect(compose).toContain(`  ${name}:\n    <<: *node\n    hostname: ${name}\n`)
      expect(compose).toContain(`volumes: ["${name}:/data", `)
    }
  })

  it('mounts files that exist, and publishes the proxy on loopback only', () => {
    const files = [...compose.matchAll(/\.\/([\w.-]+\.(?:cfg|json)):/g)].map(([, file = '']) => file)
    expect(new Set(files)).toEqual(new Set(['cluster-config.json', 'haproxy.cfg']))
    expect(files.filter((file) => !existsSync(`deploy/${file}`))).toEqual([])
    const [, port = ''] = /- "127\.0\.0\.1:\d+:(\d+)"/.exec(compose) ?? []
    expect(directives('bind')).toEqual([`:${port}`])
  })

  it('has no password in it', () => {
    expect(compose).toMatch(/postgres:\/\/mainstem:\$\{POSTGRES_PASSWORD:\?[^}]+\}@postgres:5432\/mainstem$/m)
  })
})

describe('the proxy', () => {
  it('sends requests to the nodes of the compose file, on the port of the image', () => {
    const port = instruction('EXPOSE')
    expect(directives('server')).toEqual(nodes.map((name) => `${name} ${name}:${port}`))
  })

  it('asks nodes whether they accept work, with a host that they know', () => {
    const [, path, host = ''] = /uri (\S+) .* hdr Host (\S+)$/.exec(directives('http-check')[0] ?? '') ?? []
    expect(path).toBe('/readyz')
    expect(allowedHosts({ host: '0.0.0.0', hosts: [] })).toContain(host)
    expect(directives('http-check')[1]).toBe('expect status 200')
  })

  it('cuts no stream and no WebSocket of a long turn, and repeats no request that was sent', () => {
    for (const side of ['client', 'server', 'tunnel']) expect(directives(`timeout ${side}`)).toEqual(['1h'])
    expect(directives('retry-on')).toEqual(['conn-failure'])
  })
})

describe('the drop-in for a node', () => {
  it('runs the command of the unit on an address that others reach', async () => {
    const commands = (text: string) =>
      [...text.matchAll(/^ExecStart=(.*)$/gm)].map(([, command = '']) => command)
    const [cleared, command = ''] = commands(dropIn)
    expect(cleared).toBe('')
    expect(command).toBe(commands(unit)[0]?.replace('127.0.0.1', '0.0.0.0'))
    expect(await serveOptions(command.split(' ').slice(1))).toMatchObject({ host: '0.0.0.0', port: 7380 })
  })

  it('keeps the password of the database out of the unit', () => {
    expect(dropIn).not.toMatch(/^Environment=MAINSTEM_STORE/m)
    expect(unit).toContain('EnvironmentFile=-/etc/mainstem/environment')
  })
})
