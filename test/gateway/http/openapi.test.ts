import Ajv from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { fetchFrom, finished } from '../api.ts'
import { script, success } from '../puppet.ts'
import { startGateway, type TestGateway } from '../start.ts'

interface Parameter {
  name: string
  in: string
  schema: object
}

interface Document {
  openapi: string
  paths: Record<string, Record<string, { operationId: string; summary: string; parameters: Parameter[] }>>
  components: { schemas: Record<string, object> }
}

let server: TestGateway
let document: Document
beforeAll(async () => {
  server = await startGateway()
  document = (await (await fetchFrom(server, 'GET /openapi.json')).json()) as Document
})
afterAll(() => server[Symbol.asyncDispose]())

test('every route is described, and nothing else', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const routes = endpointsOf(server.deps).map(
    ({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`,
  )
  expect(described.sort()).toEqual(routes.sort())
  expect(new Set(routes).size).toBe(routes.length)
})

test('every part of a path is a parameter, and every operation says what it does', () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    for (const { summary, parameters } of Object.values(methods)) {
      expect(summary).not.toBe('')
      expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(parts)
    }
  }
})

test('every operation has a unique name for generated clients', () => {
  const names = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(names.length).toBe(endpointsOf(server.deps).length)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z]+(?:[A-Z][a-z]+)*$/)
})

test('a number in a query is described as a number', () => {
  const parameters = document.paths['/v1/sessions/{id}/events']?.get?.parameters ?? []
  const described = parameters.find(({ name }) => name === 'limit')?.schema
  expect(described).toEqual({ type: 'integer', minimum: 1, maximum: 1000, description: expect.any(String) })
})

test('every reference leads somewhere', () => {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref)
  expect(refs.length).toBeGreaterThan(20)
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
  expect(refs.filter((ref) => !known.includes(ref))).toEqual([])
})

describe('its schemas', () => {
  const validator = (name: string) => {
    const ajv = addFormats.default(new Ajv.default({ strict: false, logger: false }))
    return ajv.compile({
      $ref: `#/components/schemas/${name}`,
      components: document.components,
    })
  }

  test('take what the server says, and not what it never says', async () => {
    const id = await finished(server, script(success))
    const record = await (await fetchFrom(server, `GET /v1/sessions/${id}`)).json()
    const isRecord = validator('SessionRecord')
    expect(isRecord(record), JSON.stringify(isRecord.errors)).toBe(true)
    expect(isRecord({ ...(record as object), more: 1 })).toBe(false)
    const page = (await (await fetchFrom(server, `GET /v1/sessions/${id}/events`)).json()) as {
      entries: unknown[]
    }
    const isEntry = validator('Entry')
    for (const entry of page.entries) expect(isEntry(entry), JSON.stringify(isEntry.errors)).toBe(true)
    const problem = await (await fetchFrom(server, 'GET /v1/sessions/x')).json()
    expect(validator('Problem')(problem)).toBe(true)
  })
})

describe('the reference page', () => {
  test('shows every route, and loads, runs and sends nothing', async () => {
    const response = await fetchFrom(server, 'GET /docs')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/)
    expect(policy).not.toContain('unsafe')
    const page = await response.text()
    for (const path of Object.keys(document.paths)) expect(page).toContain(`<code>${path}</code>`)
    expect(page).not.toMatch(/<script|<link|<img|<iframe| src=| href="(?!#)| on\w+=| style=/)
  })

  test('has an index that leads to every operation, by group', async () => {
    const page = await (await fetchFrom(server, 'GET /docs')).text()
    const targets = [...page.matchAll(/<a href="#([^"]+)"/g)].map(([, id = '']) => id)
    const ids = [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id = '']) => id)
    expect(new Set(targets)).toEqual(new Set(ids))
    expect(new Set(ids).size).toBe(ids.length)
    expect(page.indexOf('<h2>Sessions</h2>')).toBeLessThan(page.indexOf('<h2>Daemon</h2>'))
    const rest = page.slice(
      page.lastIndexOf('<h2>Documents and page</h2>'),
      page.indexOf('<section id="schemas">'),
    )
    expect(rest).not.toContain('<code>/v1/')
  })

  test('shows parameters and bodies as tables of fields, with links to the schemas they name', async () => {
    const page = await (await fetchFrom(server, 'GET /docs')).text()
    const section = (id: string) => page.split(`<section id="${id}">`)[1]?.split('</section>')[0]
    expect(section('addWebhook')).toContain('<a href="#schema-NewWebhook">NewWebhook</a>')
    expect(section('schema-NewWebhook')).toContain(
      '<td><code>url</code></td><td>string</td><td>required</td>',
    )
    expect(section('removeWebhook')).toContain(
      '<td><code>id</code></td><td>string</td><td>path, required</td>',
    )
    expect(section('schema-Entry')).toContain('an object of type <code>&quot;turn.started&quot;</code>')
    expect(section('listSessions')).toContain('<td><code>busy</code> while a turn is open;')
    expect(page.replaceAll(/<pre>.*?<\/pre>/gs, '')).not.toContain('`')
  })
})
