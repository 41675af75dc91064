import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPageFiles } from '../../../src/gateway/web/page-files.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { startGateway, type TestGateway } from '../start.ts'

const SCRIPT = 'console.log("page")'.repeat(50)
const folder = mkdtempSync(join(tmpdir(), 'page-'))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Page</title>')
writeFileSync(join(folder, 'assets/index-abc.js'), SCRIPT)

let server: TestGateway
beforeAll(async () => {
  server = await startGateway({ page: await readPageFiles(folder) })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers })

describe('the page', () => {
  test('is served without a sign-in, under a policy that allows its own files alone', async () => {
    const response = await get('/')
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('<title>Page</title>')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('cache-control')).toBe('no-cache')
  })

  test('is not sent again when the browser has it', async () => {
    const etag = (await get('/')).headers.get('etag') ?? ''
    expect((await get('/', { 'if-none-match': etag })).status).toBe(304)
  })

  test('has files that never change under their name, compressed for browsers that accept it', async () => {
    const response = await get('/assets/index-abc.js', { 'accept-encoding': 'gzip' })
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.text()).toBe(SCRIPT)
    const plain = await get('/assets/index-abc.js', { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(await plain.text()).toBe(SCRIPT)
  })

  test.each(['/assets/other.js', '/assets/..%2findex.html', '/assets/%2e%2e%2findex.html', '/index.html'])(
    '%s is not one of its files',
    async (path) => {
      expect([401, 404]).toContain((await get(path)).status)
    },
  )

  test.each([
    ['/', 'navigate', 'document', 200],
    ['/', 'navigate', 'iframe', 403],
    ['/', 'no-cors', 'script', 403],
    ['/docs', 'navigate', 'document', 403],
    ['/v1/server', 'navigate', 'document', 403],
  ])('another site that calls %s to %s as a %s gets %i', async (path, mode, dest, status) => {
    const fetched = ['site: cross-site', `mode: ${mode}`, `dest: ${dest}`].map((one) => `sec-fetch-${one}`)
    const head = [`GET ${path} HTTP/1.1`, 'host: localhost', ...fetched, 'connection: close']
    expect(statusOf(await sendRaw(server.port, `${head.join('\r\n')}\r\n\r\n`))).toBe(status)
  })

  test('explains itself where it was not built', async () => {
    await using bare = await startGateway()
    const response = await fetch(`${bare.url}/`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ detail: 'the page is not built; run `npm run build`' })
    expect(await readPageFiles(join(folder, 'nowhere'))).toBeUndefined()
  })
})
