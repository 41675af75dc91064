import { Argument, type Command, Option } from 'commander'
import type { WebhookEvent, WebhookKind } from '../../model/webhook.types.ts'
import { addServerOptions } from '../contexts/command.ts'
import type { ServerFlags } from '../contexts/connect.ts'

/** Written out, because `--help` should not load the model. A browser registers itself on the page. */
const KINDS = ['webhook', 'ntfy'] as const satisfies WebhookKind[]
const EVENTS = ['turn.completed', 'request.opened', 'request.resolved'] as const satisfies WebhookEvent[]

export interface WebhookFlags extends ServerFlags {
  kind?: WebhookKind
  event?: WebhookEvent[]
  session?: string[]
  name?: string
  secretStdin?: boolean
  dead?: boolean
  json?: boolean
}

/** Calls others when a turn ends, or a request is opened or resolved. */
export function registerWebhooks(program: Command): void {
  const actions = ['add', 'list', 'remove', 'rotate', 'test', 'deliveries', 'retry']
  addServerOptions(
    program
      .command('webhooks')
      .description('call a URL or a topic when a turn ends, or a request is opened or resolved')
      .addArgument(new Argument('<action>', 'what to do').choices(actions))
      .argument('[webhook]', 'add: its URL; otherwise its id, the beginning of its id, or its name')
      .argument('[delivery]', 'retry: the id of the call')
      .addOption(new Option('--kind <kind>', 'add: how it is called (default: webhook)').choices(KINDS))
      .addOption(new Option('--event <event...>', 'add: only for these events').choices(EVENTS))
      .option('--session <id...>', 'add: only for these sessions')
      .option('--name <name>', 'add: a name for people')
      .option('--secret-stdin', 'add: read the secret, or the token of ntfy, from standard input')
      .option('--dead', 'deliveries: only those that failed for good; retry: all of them')
      .option('--json', 'print one JSON object'),
  ).action(
    async (action: string, ref: string | undefined, delivery: string | undefined, flags: WebhookFlags) => {
      const { webhooks } = await import('./webhooks-action.ts')
      await webhooks(action, { ref, delivery }, flags)
    },
  )
}
