import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Endpoint, endpoint } from './endpoint.ts'
import type { OpenApi, Parameter } from './openapi.ts'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color-scheme:light dark}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;padding:.5rem;border:1px solid #8884}
section{border-top:1px solid #8884}h2 b{display:inline-block;min-width:4.5rem}table{border-collapse:collapse}
td{padding:.1rem .8rem .1rem 0;vertical-align:top}`

const hash = createHash('sha256').update(STYLE).digest('base64')

/** Nothing is loaded, run, framed or sent from this page; it has its own style and no script at all. */
const POLICY = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The API description as a page. */
export function referenceEndpoint(document: () => OpenApi): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/docs',
    summary: 'The reference, for people',
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

function page({ info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { summary, parameters, requestBody, responses } = operation
      return `<section><h2><b>${html(method.toUpperCase())}</b> <code>${html(path)}</code></h2>
<p>${html(summary)}</p>${parametersOf(parameters)}${detailsOf('Body', requestBody)}
<table>${Object.entries(responses)
        .map(([status, { description }]) => `<tr><td>${html(status)}</td><td>${html(description)}</td></tr>`)
        .join('')}</table>${detailsOf('Answers', responses)}</section>`
    }),
  )
  const schemas = Object.entries(components.schemas).map(([name, schema]) => detailsOf(name, schema))
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${html(info.title)} API</title>
<style>${STYLE}</style></head><body><h1>${html(info.title)} API ${html(info.version)}</h1>
<p>${html(info.description)}</p>${operations.join('')}<section><h2>Schemas</h2>${schemas.join('')}</section></body></html>`
}

function parametersOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: place, required, schema }) =>
      `<tr><td><code>${html(name)}</code></td><td>${place}${required ? ', required' : ''}</td><td>${html(
        'description' in schema ? String(schema.description) : '',
      )}</td></tr>`,
  )
  return `<table>${rows.join('')}</table>`
}

function detailsOf(title: string, value: unknown): string {
  if (value === undefined) return ''
  return `<details><summary>${html(title)}</summary><pre>${html(JSON.stringify(value, null, 2))}</pre></details>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function html(text: string): string {
  return text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}
