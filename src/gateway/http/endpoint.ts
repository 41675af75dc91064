import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import * as z from 'zod'
import type { Actor } from '../../model/access.ts'
import { type ClientKind, type ErrorCode, MainstemError } from '../../model/index.ts'
import { parse } from '../../model/text/parse.ts'
import type { SocketStream } from '../streams/socket-stream.ts'
import { actorOf } from './actor.ts'
import type { Caller, RouteAuth } from './auth.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route can be opened as a WebSocket. */
    socket?: boolean
    /** The route can be called without a body. */
    bodyOptional?: boolean
    /** Allows navigation from other sites. */
    navigable?: boolean
    /** The body can have images, so it may be larger. */
    takesImages?: boolean
    /** The media type of a body that the route reads itself, as a stream. */
    streamed?: string
  }
}

/** A validated request. */
export interface Call<Params, Query, Body> extends Caller {
  /** Who sent the request, for the audit trail and the events that it causes. */
  actor: Actor
  params: Params
  query: Query
  body: Body
  request: FastifyRequest
  reply: FastifyReply
}

/** Writes to a socket until it ends. */
export type SocketWriter = (stream: SocketStream) => Promise<void>

interface Shape {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  summary: string
  auth?: RouteAuth
  /** The kind of the clients of this route; by default as the client names itself. */
  client?: ClientKind
  /** Allows navigation from other sites to this document. */
  navigable?: boolean
  /** Error codes of this route besides those of every route. */
  errors?: readonly ErrorCode[]
  /** Accepts an `Idempotency-Key`. Other routes reject it, because a retry would do the work twice. */
  idempotent?: boolean
  /** The body can have images, so it has the limit `imageBytes` instead of `bodyBytes`. */
  takesImages?: boolean
  /** The body is a stream of lines, which the route reads itself. */
  streamed?: { type: string; line: z.ZodType }
  /** Builds the response to a request that could not be parsed; undefined sends a problem. */
  unread?(thrown: unknown, body: unknown): object | undefined
  /** The status of a success, and its schemas by media type. */
  status?: number
  answers?: Readonly<Record<string, z.ZodType>>
}

/** One route, with the schemas that validate and describe it. */
export interface Endpoint extends Shape {
  params: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | undefined
  run(call: Call<unknown, unknown, unknown>): Promise<unknown>
  /** Handles the route as a WebSocket. Rejects before the upgrade and writes after it. */
  socket?: ((call: Call<unknown, unknown, unknown>) => Promise<SocketWriter>) | undefined
}

const Nothing = z.strictObject({})
const NoBody = Nothing.optional()

interface Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A> extends Shape {
  params?: P
  query?: Q
  body?: B
  /** The schema of the JSON response; an endpoint without it writes its own response. */
  answer?: z.ZodType<A>
  run(call: Call<z.infer<P>, z.infer<Q>, z.infer<B>>): Promise<A>
  socket?(call: Call<z.infer<P>, z.infer<Q>, z.infer<B>>): Promise<SocketWriter>
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
    body: definition.body ?? (definition.method === 'POST' && !definition.streamed ? NoBody : undefined),
    ...(answer && { answers: { 'application/json': answer } }),
    // The schemas above guarantee the type of this call, which the compiler cannot follow through the list.
    run: definition.run as Endpoint['run'],
    socket: definition.socket as Endpoint['socket'],
  }
}

/** Builds the Fastify route of an endpoint. */
export function routeOf(endpoint: Endpoint): RouteOptions {
  const { method, url, auth = 'header', status = 200, answers, socket, body } = endpoint
  // A retry would do the work twice.
  const refusesKeys = method === 'POST' && !endpoint.idempotent
  const sendsJson = answers !== undefined && 'application/json' in answers
  return {
    method,
    url,
    config: {
      auth,
      socket: socket !== undefined,
      navigable: endpoint.navigable ?? false,
      takesImages: endpoint.takesImages ?? false,
      ...(endpoint.streamed && { streamed: endpoint.streamed.type }),
      bodyOptional: body === undefined || body.safeParse(undefined).success,
    },
    ...(endpoint.unread && {
      errorHandler: (thrown, request, reply) => {
        const answer = endpoint.unread?.(thrown, request.body)
        return answer ? reply.code(status).send(answer) : reply.send(thrown)
      },
    }),
    handler: async (request, reply) => {
      if (refusesKeys) checkNoKey(request)
      const call = callOf(endpoint, request, reply)
      if (sendsJson) reply.code(status)
      return endpoint.run(call)
    },
  }
}

/** Validates a request; throws an error that names the invalid field. */
export function callOf(
  { params, query, body, client }: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Call<unknown, unknown, unknown> {
  return {
    params: parse(params, request.params, 'path'),
    query: parse(query, request.query, 'query'),
    body: body && parse(body, request.body ?? undefined),
    principal: request.principal,
    actor: actorOf(request, client),
    roles: request.roles ?? [],
    request,
    reply,
  }
}

function checkNoKey({ headers }: FastifyRequest): void {
  if (headers['idempotency-key'] === undefined) return
  throw new MainstemError('unsupported_option', 'Idempotency-Key: this route does not accept one', {
    field: 'Idempotency-Key',
  })
}
