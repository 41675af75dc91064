import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigFile } from '../../src/daemon/config.ts'
import { compose, dockerfile, image, instruction, settings as settingsOf, unit } from './files.ts'
import { serveOptions } from './serve-options.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

const settings = (key: string) => settingsOf(unit, key)

const { drainMs } = ConfigFile.shape.timeouts.unwrap().parse({})
/** The drain, and the time after which the server gives up on an agent. */
const STOP_SECONDS = drainMs / 1000 + 30

describe('the image', () => {
  const [entry, ...rest]: string[] = JSON.parse(instruction('ENTRYPOINT'))

  it('runs the installed command with options that exist', async () => {
    expect([entry, ...rest]).toEqual(['tini', '--', ...Object.keys(manifest.bin)])
    expect(await serveOptions(image.args)).toMatchObject({
      host: '0.0.0.0',
      port: 7380,
      cwd: instruction('WORKDIR'),
    })
  })

  it('keeps its data in a volume, and does not run as root', () => {
    expect(JSON.parse(instruction('VOLUME'))).toEqual([instruction('ENV').replace('MAINSTEM_HOME=', '')])
    expect(instruction('USER')).toBe('node')
  })

  it('is healthy while the server on its port accepts work', () => {
    expect(dockerfile).toMatch(/HEALTHCHECK .* CMD \["node", "-e", ".*127\.0\.0\.1:7380\/readyz/)
    expect(instruction('EXPOSE')).toBe('7380')
  })

  it('has a Node that the package supports', () => {
    const [, oldest = ''] = /^>=(\d+)/.exec(manifest.engines.node) ?? []
    const [, major = ''] = /^node:(\d+)-/.exec(instruction('FROM')) ?? []
    expect(Number(major)).toBeGreaterThan(Number(oldest))
  })
})

describe('the compose file', () => {
  it('publishes the port of the image on loopback only', () => {
    expect(compose.match(/- "(.*)"/)?.[1]).toBe('127.0.0.1:7380:7380')
  })

  it('mounts the directories of the image', () => {
    for (const path of [...JSON.parse(instruction('VOLUME')), instruction('WORKDIR')]) {
      expect(compose).toMatch(new RegExp(`^ {6}- \\S+:${path}$`, 'm'))
    }
  })

  it('builds the Dockerfile, and waits until agents have ended', () => {
    expect(compose).toContain('context: ..\n      dockerfile: deploy/Dockerfile\n')
    expect(Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1])).toBeGreaterThan(STOP_SECONDS)
  })
})

describe('the systemd unit', () => {
  it('runs the installed command with options that exist', async () => {
    const [command = ''] = settings('ExecStart')
    const [path, ...args] = command.split(' ')
    expect(path).toBe('/usr/local/bin/mainstem')
    expect(await serveOptions(args)).toMatchObject({ host: '127.0.0.1', port: 7380 })
  })

  it('can write to its data and to the directory of the agents only', () => {
    expect(settings('ProtectSystem')).toEqual(['strict'])
    const [home] = settings('Environment')
    const [data] = settings('StateDirectory')[0]?.split(' ') ?? []
    expect(home).toBe(`MAINSTEM_HOME=/var/lib/${data}`)
    expect(settings('WorkingDirectory')).toEqual(settings('ReadWritePaths'))
  })

  it('gains no privileges', () => {
    for (const key of ['NoNewPrivileges', 'ProtectHome', 'RestrictSUIDSGID']) {
      expect(settings(key), key).toEqual(['yes'])
    }
    expect(settings('CapabilityBoundingSet')).toEqual([''])
  })

  it('waits until agents have ended, and lets them outlive a server that fails', () => {
    expect(settings('KillMode')).toEqual(['process'])
    // A private one would vanish with the server.
    expect(settings('PrivateTmp')).toEqual([])
    expect(settings('Environment')).toContain('TMPDIR=/var/lib/mainstem/tmp')
    expect(Number(settings('TimeoutStopSec')[0])).toBeGreaterThan(STOP_SECONDS)
  })
})
