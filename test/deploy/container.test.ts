import { describe, expect, test } from 'vitest'
import { canContain, contained } from './container.ts'
import { dockerfile, image, service, unit } from './files.ts'

/** `node` of the image, and a user that systemd could have for the service. */
const [NODE, SERVICE] = [1000, 991]

const READY = `node -e "fetch('http://127.0.0.1:7380/readyz').then(({ status }) => console.log('ready', status))"`
const PAGE = `node -e "fetch('http://127.0.0.1:7380/').then(({ status }) => console.log('page', status < 500))"`
const CHECKS = ['id -u', READY, PAGE, 'mainstem ls', 'mainstem run echo hello', 'mainstem audit']

const [, check = '[]'] = /HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile) ?? []
const [program = '', flag = '', source = '']: string[] = JSON.parse(check)
const HEALTHY = `${program} ${flag} "${source}"`

describe.runIf(canContain())('as its own user, with its own paths and port', () => {
  test('the command of the image starts, is healthy, and answers the command line', async () => {
    const { code, out, err } = await contained(image, NODE, [...CHECKS, HEALTHY])
    expect(code, err).toBe(0)
    expect(out).toMatch(/^1000\nready 200\npage true\nno sessions\n/)
    expect(out).toContain('hello\n')
    expect(out).toContain('session.created')
  })

  test('the command of the systemd unit does too', async () => {
    const { code, out, err } = await contained(service(unit), SERVICE, CHECKS)
    expect(code, err).toBe(0)
    expect(out).toMatch(/^991\nready 200\npage true\nno sessions\n/)
    expect(out).toContain('session.created')
  })
})
