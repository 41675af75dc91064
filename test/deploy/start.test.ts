import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigFile, loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { blocksOf, pages } from '../docs/pages.ts'
import { newSchema } from '../postgres/database.ts'
import { Deployment, type Plan, placedIn } from './deployment.ts'
import { cluster, clusterConfig, compose, dockerfile, dropIn, image, service, unit } from './files.ts'

const PAGE = existsSync('dist/web/index.html') ? 200 : 404

/** The settings of a server, by which its configuration is told from other JSON of the documentation. */
const SETTINGS = ['hosts', 'roots', 'origins', 'store', 'agents']

const configurations = pages.flatMap(blocksOf).filter(({ language, text }) => {
  if (language !== 'json' || !SETTINGS.some((key) => text.includes(`"${key}":`))) return false
  return ConfigFile.safeParse(JSON.parse(text)).success
})

async function expectUsable(server: Deployment, hosts: readonly string[] = []): Promise<void> {
  for (const host of ['127.0.0.1', `localhost:${server.port}`, '[::1]', ...hosts]) {
    expect(await server.status('/readyz', host), host).toBe(200)
    expect(await server.status('/healthz', host), host).toBe(200)
    expect(await server.status('/', host), host).toBe(PAGE)
  }
  expect(await server.status('/readyz', 'rebound.example')).toBe(403)
  expect(await server.status('/', '0.0.0.0')).toBe(403)
  // No browser can open the socket, so a name is no sign of rebinding there.
  expect(await server.status('/readyz', 'any.example', 'daemon.sock')).toBe(200)
  const listed = await server.mainstem('ls')
  expect(listed, listed.err).toMatchObject({ code: 0, err: '' })
}

describe('the image', () => {
  it('starts with its own command, is healthy, and answers the command line inside it', async () => {
    await using server = await new Deployment(image).listening()
    await expectUsable(server)
    const [, check = ''] = /HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile) ?? []
    const [program, ...args]: string[] = JSON.parse(check)
    expect(program).toBe('node')
    const healthy = await server.run(args.map((arg) => arg.replace(':7380', `:${server.port}`)))
    expect(healthy).toMatchObject({ code: 0 })
  })

  it('has no other command in the compose files, and no other directories', () => {
    expect(`${compose}${cluster}`).not.toMatch(/^ *(?:command|entrypoint):/m)
    const mounted = [...compose.matchAll(/^ {6}- \S+:(\/\w+)$/gm)].map(([, path]) => path)
    expect(new Set(mounted)).toEqual(new Set(image.directories))
  })

  it('starts as a node of a cluster, with the configuration that the compose file mounts', async () => {
    const [, config = ''] = /^ {2}MAINSTEM_CONFIG: (\S+)$/m.exec(cluster) ?? []
    expect(cluster).toContain(`./cluster-config.json:${config}:ro`)
    const env = { ...image.env, MAINSTEM_CONFIG: config, MAINSTEM_STORE: await newSchema() }
    const plan: Plan = { ...image, env, files: { [config]: clusterConfig } }
    await using server = await new Deployment(plan).listening()
    await expectUsable(server, ['agents.example.com'])
  })
})

describe('the systemd unit', () => {
  it('starts with its own command', async () => {
    await using server = await new Deployment(service(unit)).listening()
    await expectUsable(server)
  })

  it('starts as a node with the drop-in', async () => {
    const plan = service(unit, dropIn)
    const env = { ...plan.env, MAINSTEM_STORE: await newSchema() }
    const files = { [plan.env.MAINSTEM_CONFIG ?? '']: clusterConfig }
    await using server = await new Deployment({ ...plan, env, files }).listening()
    await expectUsable(server, ['agents.example.com'])
  })
})

describe('a configuration of the documentation', () => {
  const guide = configurations.find(({ place }) => place.startsWith('docs/guides/run-for-a-team.md:'))?.text
  const files = { '/var/lib/mainstem/config.json': guide ?? '' }

  it('is on these pages', () => {
    expect(configurations.map(({ place }) => place.split(':')[0])).toEqual([
      'docs/agents-board.md',
      'docs/cli.md',
      'docs/compatibility/board.md',
      'docs/guides/run-for-a-team.md',
      'docs/guides/web-app-sse.md',
      'docs/operations.md',
      'docs/operations.md',
      'docs/page.md',
      'docs/scale.md',
    ])
  })

  it('for a team starts the service, whose directory it names', async () => {
    await using server = await new Deployment({ ...service(unit), files }).listening()
    await expectUsable(server, ['agents.example.com'])
  })

  it.each(configurations.map((block) => [block.place, block.text]))('%s starts a server', async (_, text) => {
    const root = mkdtempSync(join(tmpdir(), 'configuration-'))
    const file = join(root, 'config.json')
    const url = text.includes('postgres://') ? await newSchema() : ''
    writeFileSync(file, placedIn(root, text.replaceAll(/postgres:\/\/[^"]+/g, url)))
    for (const directory of ConfigFile.parse(JSON.parse(text)).roots ?? []) {
      mkdirSync(placedIn(root, directory), { recursive: true })
    }
    const flags = { config: file, port: 0, data: join(root, 'data') }
    const server = await serve({
      config: await loadConfig({ flags, environment: {}, cwd: root }),
      report: (thrown) => {
        throw thrown
      },
    })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    void server.stop()
    await server.stop()
    rmSync(root, { recursive: true })
  })
})
