import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import type { PageFile } from './page-files.ts'

/** The page loads its own files and calls its own server. Markup becomes DOM only through one checked policy. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types mainstem dompurify',
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The page itself. It is open, because it holds no data: it asks for a sign-in and then calls the same routes as others. */
export function pageEndpoints({ page }: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/',
      summary: 'The page, for people',
      auth: 'open',
      navigable: true,
      query: z.looseObject({}),
      answers: { 'text/html': z.string() },
      errors: ['not_found'],
      async run({ request, reply }) {
        if (!page) throw notBuilt()
        return sendFile(request, reply, page.document, 'no-cache')
      },
    }),
    endpoint({
      method: 'GET',
      url: '/assets/:name',
      summary: 'A file of the page',
      auth: 'open',
      params: z.strictObject({ name: z.string() }),
      answers: { 'application/octet-stream': z.string() },
      errors: ['not_found'],
      async run({ params, request, reply }) {
        const file = page?.assets.get(params.name)
        if (!file) throw new MainstemError('not_found', `the page has no file ${params.name}`)
        return sendFile(request, reply, file, 'public, max-age=31536000, immutable')
      },
    }),
  ]
}

function notBuilt(): MainstemError {
  return new MainstemError('not_found', 'the page is not built; run `npm run build`')
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: PageFile, cache: string): FastifyReply {
  reply.headers({ ...HEADERS, 'cache-control': cache, vary: 'accept-encoding', etag: file.etag })
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
  reply.type(file.type)
  const zipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  return zipped ? reply.header('content-encoding', 'gzip').send(file.gzipped) : reply.send(file.bytes)
}
