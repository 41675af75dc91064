import * as z from 'zod'
import { ERRORS, type ErrorCode } from '../../../model/index.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'
import { PROBLEM_TYPE, Problem } from '../problem.ts'
import { components } from './components.ts'
import { operationName } from './operation-names.ts'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: object
}

interface Operation {
  operationId: string
  summary: string
  parameters: Parameter[]
  security?: readonly object[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content }>
}

/** The schema of each content type. */
type Content = Readonly<Record<string, { schema?: object }>>

/** An OpenAPI 3.1 document. */
export interface OpenApi {
  openapi: string
  info: { title: string; version: string; description: string }
  security: readonly object[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: object }
}

/** Errors of every route that requires a token, and of every route with a body. */
const EVERYWHERE: readonly ErrorCode[] = ['invalid_request', 'unauthorized', 'forbidden', 'storage_failed']
const WITH_BODY: readonly ErrorCode[] = ['too_large', 'unsupported_media']

/** Describes these endpoints with the schemas that validate them. */
export function describe(endpoints: readonly Endpoint[], version: string): OpenApi {
  const paths: OpenApi['paths'] = {}
  for (const one of endpoints) {
    const path = one.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: operationOf(one) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Mainstem',
      version,
      description: 'One lossless, durable event stream for every coding agent.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: namedSchemas(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        ticket: { type: 'apiKey', in: 'query', name: 'ticket' },
      },
    },
  }
}

/** `GET /openapi.json`: describes all endpoints including itself. */
export function openApiEndpoint(document: () => OpenApi): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/openapi.json',
    summary: 'This description',
    auth: 'ticket',
    query: z.strictObject({ ticket: z.string().optional() }),
    answer: z.unknown(),
    run: async () => document(),
  })
}

function operationOf(one: Endpoint): Operation {
  const { summary, params, query, body, streamed, idempotent, auth, status = 200, answers, errors = [] } = one
  const header = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string' },
  } as const
  const codes = auth === 'open' ? errors : [...EVERYWHERE, ...(body || streamed ? WITH_BODY : []), ...errors]
  return {
    operationId: operationName(one),
    summary,
    parameters: [
      ...parametersOf('path', params),
      ...parametersOf('query', query),
      ...(idempotent ? [header] : []),
    ],
    ...(auth === 'open' && { security: [] }),
    ...(auth === 'ticket' && { security: [{ token: [] }, { ticket: [] }] }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(body) } },
      },
    }),
    ...(streamed && {
      requestBody: { required: true, content: contentOf({ [streamed.type]: streamed.line }) },
    }),
    responses: {
      [status]: { description: 'Success', ...(answers && { content: contentOf(answers) }) },
      ...problemsOf(codes),
    },
  }
}

function parametersOf(place: 'path' | 'query', { shape }: z.ZodObject): Parameter[] {
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    in: place,
    required: !z.safeParse(schema, undefined).success,
    schema: inline(z.toJSONSchema(schema, { io: 'input' })),
  }))
}

function contentOf(answers: Readonly<Record<string, z.ZodType>>): Content {
  return Object.fromEntries(
    Object.entries(answers).map(([type, schema]) => [type, { schema: schemaOf(schema) }]),
  )
}

function problemsOf(codes: readonly ErrorCode[]): Operation['responses'] {
  const content = { [PROBLEM_TYPE]: { schema: schemaOf(Problem) } }
  const statuses = Map.groupBy(new Set(codes), (code) => ERRORS[code].http)
  return Object.fromEntries(
    [...statuses].map(([status, same]) => [status, { description: same.join(', '), content }]),
  )
}

function schemaOf(schema: z.ZodType): object {
  const name = components.get(schema)?.id
  return name === undefined ? inline(z.toJSONSchema(schema, { io: 'input' })) : { $ref: refTo(name) }
}

function namedSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(components, { uri: refTo, io: 'input' })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, inline(schema)]))
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** An inline schema needs neither `$schema` nor `$id`. */
function inline(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema' && key !== '$id'))
}
