import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Endpoint, endpoint } from '../endpoint.ts'
import type { OpenApi, Parameter } from './openapi.ts'
import { html, prose, row, schemaId, shownSchema } from './shown-schema.ts'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;padding:.5rem;border:1px solid #8884}
section{border-top:1px solid #8884}table{border-collapse:collapse}
td{padding:.1rem .8rem .1rem 0;vertical-align:top}a{color:inherit}nav ul{columns:2;padding-left:1.2rem}
nav a{text-decoration:none}nav a:hover{text-decoration:underline}h2{margin-top:2.5rem}h3 b{display:inline-block;min-width:5rem}
section{padding-bottom:1rem}section p{margin:.3rem 0}h4{margin:1rem 0 .2rem}
@media(max-width:40rem){tr,td{display:block}tr{padding:.5rem 0}nav ul{columns:1}}`

const hash = createHash('sha256').update(STYLE).digest('base64')

/** The page loads, runs, frames and sends nothing; it has one inline style and no script. */
const POLICY = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Serves the API description as a page. */
export function referenceEndpoint(document: () => OpenApi): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/docs',
    summary: 'Show the API reference as a page',
    auth: 'ticket',
    query: z.strictObject({ ticket: z.string().optional() }),
    answers: { 'text/html': z.string() },
    async run({ reply }) {
      reply.headers({
        'content-security-policy': POLICY,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      return reply.type('text/html; charset=utf-8').send(page(document()))
    },
  })
}

/** The parts of the page, in order; an operation belongs to the first whose paths match. */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  ['Sessions', /^\/v1\/(?:sessions|requests|events|search|blobs)/],
  ['Server and agents', /^\/v1\/(?:agents|files|nodes|usage|server)|^\/(?:healthz|readyz|metrics)/],
  ['Webhooks', /^\/v1\/webhooks/],
  ['Access and audit', /^\/v1\/(?:audit|grants|logins|sign-|tickets|tokens)/],
  ['Execute', /^\/v1\/execute/],
  ['Daemon', /^\/rpc/],
  ['Board and unified', /^\/(?:api|ws)\//],
  ['Documents and page', /^\//],
]

type OperationJson = OpenApi['paths'][string][string]
type ResponseJson = OperationJson['responses'][string]

interface Described {
  method: string
  path: string
  operation: OperationJson
}

function page({ info, paths, components }: OpenApi): string {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Described => ({ method, path, operation })),
  )
  const groups = Map.groupBy(all, ({ path }) => GROUPS.find(([, paths]) => paths.test(path))?.[0] ?? '')
  const parts = GROUPS.flatMap(([title]) => {
    const operations = groups.get(title)
    return operations ? [{ title, operations }] : []
  })
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="${schemaId(html(name))}"><h3>${html(name)}</h3>${shownSchema(schema)}</section>`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(info.title)} API</title>
<style>${STYLE}</style></head><body><h1>${html(info.title)} API ${html(info.version)}</h1>
<p>${html(info.description)}</p><nav aria-label="Operations">${parts.map(indexOf).join('')}<p><a href="#schemas">Schemas</a></p></nav>
${parts.map(partOf).join('')}<section id="schemas"><h2>Schemas</h2>${schemas.join('')}</section></body></html>`
}

function indexOf({ title, operations }: { title: string; operations: readonly Described[] }): string {
  const items = operations.map(
    ({ method, path, operation }) =>
      `<li><a href="#${html(operation.operationId)}"><code>${html(method.toUpperCase())} ${html(path)}</code></a></li>`,
  )
  return `<h2>${html(title)}</h2><ul>${items.join('')}</ul>`
}

function partOf({ title, operations }: { title: string; operations: readonly Described[] }): string {
  return `<h2>${html(title)}</h2>${operations.map(sectionOf).join('')}`
}

function sectionOf({ method, path, operation }: Described): string {
  const { operationId, summary, parameters, requestBody, responses } = operation
  const all = Object.entries(responses)
  const answers = all.filter(([status]) => Number(status) < 400)
  const errors = all.filter(([status]) => Number(status) >= 400)
  return `<section id="${html(operationId)}"><h3><b>${html(method.toUpperCase())}</b> <code>${html(path)}</code></h3>
<p>${prose(summary)}</p>${parametersOf(parameters)}${requestBody ? `<h4>Body</h4>${bodyOf(requestBody)}` : ''}${answers
    .map(([status, answer]) => `<h4>${html(`${status} ${answer.description}`)}</h4>${bodyOf(answer)}`)
    .join('')}${errorsOf(errors)}</section>`
}

function parametersOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: place, required, schema }) =>
    row(name, required ? `${place}, required` : place, schema),
  )
  return `<h4>Parameters</h4><table>${rows.join('')}</table>`
}

/** The schema of each content type of a request or response. */
function bodyOf({ content = {} }: Pick<ResponseJson, 'content'>): string {
  return Object.entries(content)
    .map(([type, { schema = {} }]) => `<p><code>${html(type)}</code></p>${shownSchema(schema)}`)
    .join('')
}

function errorsOf(errors: readonly [string, ResponseJson][]): string {
  const [first] = errors
  if (!first) return ''
  const rows = errors.map(
    ([status, { description }]) => `<tr><td>${html(status)}</td><td>${html(description)}</td></tr>`,
  )
  return `<details><summary>Errors</summary>${bodyOf(first[1])}<table>${rows.join('')}</table></details>`
}
