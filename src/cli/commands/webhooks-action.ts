import { text } from 'node:stream/consumers'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import { MainstemError } from '../../model/index.ts'
import type { Webhook, WebhookDelivery } from '../../model/webhook.types.ts'
import { connect } from '../contexts/connect.ts'
import { printable, printableJson } from '../render/printable.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { renderTable } from '../render/table.ts'
import type { WebhookFlags } from './webhooks.ts'

interface WebhookRef {
  ref: string | undefined
  delivery: string | undefined
}

type WebhookAction = (client: MainstemClient, named: WebhookRef, flags: WebhookFlags) => Promise<void>

const ACTIONS: Readonly<Record<string, WebhookAction>> = {
  async add({ webhooks }, { ref: url }, { kind, event, session, name, secretStdin, json }) {
    if (url === undefined) throw missing('add', 'a URL')
    const secret = secretStdin ? (await text(process.stdin)).trim() : undefined
    const added = await webhooks.add({
      url,
      ...(kind && { kind }),
      ...(event && { events: event }),
      ...(session && { sessions: session }),
      ...(name !== undefined && { name }),
      ...(secret !== undefined && { secret }),
    })
    if (json) return console.log(printableJson(added))
    console.log(added.webhook.id)
    if (added.secret === undefined) return
    console.log(added.secret)
    console.error('The secret is shown once. It verifies the signature of each call.')
  },

  async list({ webhooks }, _, { json }) {
    const list = await webhooks.list()
    if (json) return console.log(printableJson(list))
    if (list.length === 0) return console.log('No webhooks. Add one: `mainstem webhooks add <url>`.')
    print(
      ['id', 'kind', 'target', 'events', 'name', 'state'],
      list.map(({ id, kind, target, events, name = '', disabled }) => [
        ...[id, kind, target, events.join(' '), name],
        disabled ? 'disabled' : '',
      ]),
    )
  },

  async remove({ webhooks }, { ref }) {
    const { id } = await found(webhooks, 'remove', ref)
    await webhooks.remove(id)
    console.log(`removed ${id}`)
  },

  async rotate({ webhooks }, { ref }) {
    const { id } = await found(webhooks, 'rotate', ref)
    console.log(await webhooks.rotate(id))
    console.error('Both secrets sign for a day. Then only this one does.')
  },

  async test({ webhooks }, { ref }) {
    const { id, target } = await found(webhooks, 'test', ref)
    const { ok, note } = await webhooks.test(id)
    if (!ok) throw new MainstemError('conflict', `${target} did not accept the call: ${note}`)
    console.log(printable(`${target} accepted the call: ${note}`))
  },

  async deliveries({ webhooks }, { ref }, { dead, json }) {
    const { id } = await found(webhooks, 'deliveries', ref)
    const list = await webhooks.deliveries(id, dead ? { status: 'dead' } : {})
    if (json) return console.log(printableJson(list))
    if (list.length === 0) return console.log('No calls.')
    print(['delivery', 'event', 'state', 'attempts', 'time', 'note'], list.map(rowOf))
  },

  async retry({ webhooks }, { ref, delivery }, { dead }) {
    const { id } = await found(webhooks, 'retry', ref)
    if (delivery === undefined && !dead) throw missing('retry', 'the id of a call, or --dead')
    const ids =
      delivery === undefined
        ? (await webhooks.deliveries(id, { status: 'dead', limit: 1_000 })).map((one) => one.id)
        : [delivery]
    for (const one of ids) await webhooks.retry(id, one)
    console.log(`${ids.length} to be called again`)
  },
}

/** `mainstem webhooks`: manages the webhooks of the caller. */
export async function webhooks(action: string, named: WebhookRef, flags: WebhookFlags): Promise<void> {
  const { client } = await connect(flags)
  await ACTIONS[action]?.(client, named, flags)
}

async function found(
  webhooks: MainstemClient['webhooks'],
  action: string,
  ref: string | undefined,
): Promise<Webhook> {
  if (ref === undefined) throw missing(action, 'the id or the name of a webhook')
  const all = await webhooks.list()
  const exact = all.filter(({ id, name }) => id === ref || name === ref)
  const matching = exact.length > 0 ? exact : all.filter(({ id }) => id.startsWith(ref))
  const [one, another] = matching
  if (!one) throw new MainstemError('not_found', `no webhook ${ref}; \`mainstem webhooks list\` shows all`)
  if (another) throw new MainstemError('conflict', `${ref} names several webhooks; give an id`)
  return one
}

function rowOf({ id, event, status, attempts, changedAt, note = '' }: WebhookDelivery): string[] {
  return [id, event, status, `${attempts}`, new Date(changedAt).toISOString(), note]
}

function print(headings: string[], rows: string[][]): void {
  const screen = new Screen(screenOn(process.stdout))
  process.stdout.write(renderTable(screen, { headings, rows, styleOf: () => undefined }))
}

const missing = (action: string, what: string) =>
  new MainstemError('invalid_request', `webhooks ${action}: give ${what}`)
