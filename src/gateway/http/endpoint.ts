import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { z } from 'zod'
import { type ErrorCode, MainstemError } from '../../model/index.ts'
import type { SocketStream } from '../streams/socket-stream.ts'
import type { RouteAuth } from './auth.ts'
import { parse } from './parse.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It can be opened as a WebSocket. */
    socket?: boolean
    /** It can be called without a body. */
    bodyOptional?: boolean
    /** A link on another site may lead here. */
    navigable?: boolean
  }
}

/** What a call brings, checked. */
export interface Call<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  principal: string
  request: FastifyRequest
  reply: FastifyReply
}

/** Writes on a socket to its end, whatever that is. */
export type Pour = (stream: SocketStream) => Promise<void>

interface Shape {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  summary: string
  auth?: RouteAuth
  /** A document that a link on another site may lead to. */
  navigable?: boolean
  /** What can go wrong besides what can go wrong everywhere. */
  errors?: readonly ErrorCode[]
  /** Takes an `Idempotency-Key`. Where it is not taken it is refused: a retry would do the work twice. */
  idempotent?: boolean
  /** What is answered, instead of a problem, to a call that could not be read; nothing leaves it a problem. */
  unread?(thrown: unknown, body: unknown): object | undefined
  /** The status of success, and what it answers with, by media type. */
  status?: number
  answers?: Readonly<Record<string, z.ZodType>>
}

/** One route, with the schemas that check it and describe it. */
export interface Endpoint extends Shape {
  params: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | undefined
  run(call: Call<unknown, unknown, unknown>): Promise<unknown>
  /** What is done instead when it is opened as a WebSocket. It refuses before the upgrade, and writes after it. */
  socket?: ((call: Call<unknown, unknown, unknown>) => Promise<Pour>) | undefined
}

const Nothing = z.strictObject({})
const NoBody = Nothing.optional()

interface Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A> extends Shape {
  params?: P
  query?: Q
  body?: B
  /** What is sent as JSON; an endpoint without it writes its own answer. */
  answer?: z.ZodType<A>
  run(call: Call<z.infer<P>, z.infer<Q>, z.infer<B>>): Promise<A>
  socket?(call: Call<z.infer<P>, z.infer<Q>, z.infer<B>>): Promise<Pour>
}

export function endpoint<
  A = unknown,
  P extends z.ZodObject = typeof Nothing,
  Q extends z.ZodObject = typeof Nothing,
  B extends z.ZodType = typeof NoBody,
>({ answer, ...definition }: Definition<P, Q, B, A>): Endpoint {
  return {
    ...definition,
    params: definition.params ?? Nothing,
    query: definition.query ?? Nothing,
    body: definition.body ?? (definition.method === 'POST' ? NoBody : undefined),
    ...(answer && { answers: { 'application/json': answer } }),
    // The schemas above give exactly what this call asks for, which the compiler cannot follow through the list.
    run: definition.run as Endpoint['run'],
    socket: definition.socket as Endpoint['socket'],
  }
}

/** What the server does when the route is called. */
export function routeOf(endpoint: Endpoint): RouteOptions {
  const { method, url, auth = 'header', status = 200, answers, socket, body } = endpoint
  const sendsJson = answers !== undefined && 'application/json' in answers
  return {
    method,
    url,
    config: {
      auth,
      socket: socket !== undefined,
      navigable: endpoint.navigable ?? false,
      bodyOptional: body === undefined || body.safeParse(undefined).success,
    },
    ...(endpoint.unread && {
      errorHandler: (thrown, request, reply) => {
        const answer = endpoint.unread?.(thrown, request.body)
        return answer ? reply.code(status).send(answer) : reply.send(thrown)
      },
    }),
    handler: async (request, reply) => {
      checkKey(endpoint, request)
      const call = callOf(endpoint, request, reply)
      if (sendsJson) reply.code(status)
      return endpoint.run(call)
    },
  }
}

/** What a request brings, or a refusal that names what is wrong with it. */
export function callOf(
  { params, query, body }: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Call<unknown, unknown, unknown> {
  return {
    params: parse(params, request.params, 'path'),
    query: parse(query, request.query, 'query'),
    body: body && parse(body, request.body ?? undefined),
    principal: request.principal,
    request,
    reply,
  }
}

function checkKey({ method, idempotent }: Endpoint, { headers }: FastifyRequest): void {
  if (method !== 'POST' || idempotent || headers['idempotency-key'] === undefined) return
  throw new MainstemError('unsupported_option', 'Idempotency-Key: this route does not take one', {
    field: 'Idempotency-Key',
  })
}
