import * as z from 'zod'
import { DeliveryStatus, NewWebhook, Webhook, WebhookDelivery } from '../../model/webhook.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'

const WebhookJson = named('Webhook', Webhook)
const DeliveryJson = named('WebhookDelivery', WebhookDelivery)

named('NewWebhook', NewWebhook)

const WebhookList = named('WebhookList', z.strictObject({ webhooks: z.array(WebhookJson) }))

const AddedWebhook = named(
  'AddedWebhook',
  z.strictObject({
    webhook: WebhookJson,
    secret: z.string().optional().describe('Signs its calls. It is shown now, and never again.'),
  }),
)

const WebhookSecret = named('WebhookSecret', z.strictObject({ secret: z.string() }))

const WebhookTest = named(
  'WebhookTest',
  z.strictObject({
    ok: z.boolean().describe('Whether the receiver accepted it.'),
    note: z.string().describe('What it answered, or why it did not.'),
  }),
)

const DeliveryList = named(
  'DeliveryList',
  z.strictObject({ deliveries: z.array(DeliveryJson).describe('newest first') }),
)

const DeliveryQuery = z.strictObject({
  status: DeliveryStatus.optional().describe('only these'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
})

const WebhookPath = z.strictObject({ id: z.string().max(100).describe('the id of a webhook') })
const DeliveryPath = WebhookPath.extend({ delivery: z.string().max(200).describe('the id of a delivery') })

/** The webhooks of the caller. Those of another principal do not exist for it. */
export function webhookEndpoints({ webhooks }: Pick<GatewayDeps, 'webhooks'>): Endpoint[] {
  return [...registrations(webhooks), ...calls(webhooks)]
}

function registrations(webhooks: GatewayDeps['webhooks']): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/v1/webhooks',
      summary: 'List the webhooks of the caller',
      answer: WebhookList,
      async run({ principal }) {
        return { webhooks: [...(await webhooks.list(principal))] }
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/webhooks',
      summary: 'Call a URL, a topic or a browser when a turn ends, or a request is opened or resolved',
      body: NewWebhook,
      status: 201,
      answer: AddedWebhook,
      errors: ['conflict', 'too_large', 'unsupported_media'],
      run: ({ body, actor }) => webhooks.add(body, actor),
    }),
    endpoint({
      method: 'DELETE',
      url: '/v1/webhooks/:id',
      summary: 'Remove a webhook, with the calls that wait',
      params: WebhookPath,
      status: 204,
      errors: ['not_found'],
      async run({ params, actor, reply }) {
        await webhooks.remove(params.id, actor)
        return reply.code(204).send()
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/webhooks/:id/secret',
      summary: 'Replace the secret of a webhook; the one before signs too, for a day',
      params: WebhookPath,
      answer: WebhookSecret,
      errors: ['not_found', 'conflict'],
      run: async ({ params, actor }) => ({ secret: await webhooks.rotate(params.id, actor) }),
    }),
  ]
}

function calls(webhooks: GatewayDeps['webhooks']): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      url: '/v1/webhooks/:id/test',
      summary: 'Call a webhook once, with a message that tells of nothing',
      params: WebhookPath,
      answer: WebhookTest,
      errors: ['not_found'],
      run: ({ params, principal }) => webhooks.test(principal, params.id),
    }),
    endpoint({
      method: 'GET',
      url: '/v1/webhooks/:id/deliveries',
      summary: 'List the calls of a webhook: those that wait, and those that ended in the last 30 days',
      params: WebhookPath,
      query: DeliveryQuery,
      answer: DeliveryList,
      errors: ['not_found'],
      async run({ params, query, principal }) {
        return { deliveries: [...(await webhooks.deliveries(principal, params.id, query))] }
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/webhooks/:id/deliveries/:delivery/retry',
      summary: 'Make a call again, with all its attempts',
      params: DeliveryPath,
      status: 204,
      errors: ['not_found', 'conflict'],
      async run({ params, principal, reply }) {
        await webhooks.retry(principal, params.id, params.delivery)
        return reply.code(204).send()
      },
    }),
  ]
}
