import type { Webhook } from 'mainstem/client'
import { type FormEvent, useCallback, useEffect, useState } from 'react'
import { client, messageOf } from '../app/client.ts'
import { showHidden } from '../text/hidden.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { type DeviceState, deviceState, notifyHere, stopNotifyingHere } from './push-device.ts'

/** Whom the server calls when a turn ends, or a request is opened: this device, and other destinations. */
export default function NotificationsScreen() {
  const [all, setAll] = useState<readonly Webhook[]>()
  const [failure, setFailure] = useState<string>()
  const load = useCallback(async () => {
    try {
      setAll(await client.webhooks.list())
      setFailure(undefined)
    } catch (thrown) {
      setFailure(messageOf(thrown))
    }
  }, [])
  useEffect(() => void load(), [load])
  return (
    <div className="h-full overflow-y-auto p-4 sm:p-6">
      <div className="mx-auto max-w-2xl space-y-6">
        <h1 className="text-lg font-semibold">Notifications</h1>
        {failure !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {failure}
          </p>
        )}
        {all && <Device state={deviceState(all)} onChanged={load} />}
        {all && <Destinations all={all} onChanged={load} />}
        <NewDestination onAdded={load} />
      </div>
    </div>
  )
}

const DEVICE: Record<DeviceState, string> = {
  unsupported:
    'This browser cannot be notified while the page is closed. It needs https, and on an iPhone the page on the home screen.',
  denied: 'The browser blocks notifications of this page. Allow them in its settings for this site.',
  off: 'Be told when a request waits for you and when a turn ends, also while the page is closed.',
  on: 'This device is told when a request waits for you and when a turn ends.',
}

function Device({ state, onChanged }: { state: DeviceState; onChanged(): Promise<void> }) {
  const { busy, error, run } = useAction()
  const change = (work: () => Promise<void>) => run(() => work().then(onChanged))
  return (
    <section aria-label="This device" className="space-y-2">
      <h2 className="font-medium">This device</h2>
      <p className="text-sm text-soft">{DEVICE[state]}</p>
      {state === 'off' && (
        <Button disabled={busy} onClick={() => change(notifyHere)}>
          Notify me here
        </Button>
      )}
      {state === 'on' && (
        <Button disabled={busy} onClick={() => change(stopNotifyingHere)}>
          Stop notifying this device
        </Button>
      )}
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </section>
  )
}

function Destinations({ all, onChanged }: { all: readonly Webhook[]; onChanged(): Promise<void> }) {
  return (
    <section aria-label="Destinations" className="space-y-2">
      <h2 className="font-medium">Destinations</h2>
      {all.length === 0 ? (
        <p className="text-sm text-soft">Nobody is called yet.</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
          {all.map((webhook) => (
            <Destination key={webhook.id} webhook={webhook} onChanged={onChanged} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Destination({ webhook, onChanged }: { webhook: Webhook; onChanged(): Promise<void> }) {
  const { id, kind, target, name, events, disabled } = webhook
  const { busy, error, run } = useAction()
  const [note, setNote] = useState<string>()
  const test = async () => {
    const result = await client.webhooks.test(id)
    setNote(`${result.ok ? 'Accepted' : 'Not accepted'}: ${result.note}`)
  }
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm">
      <div className="min-w-0 flex-1">
        <p className="break-all">{showHidden(name ?? target)}</p>
        <p className="text-xs text-soft">
          {kind} {name !== undefined && `${showHidden(target)} `}· {events.join(', ')}
          {disabled && ' · disabled: its receiver answered 410'}
        </p>
        {(error ?? note) !== undefined && (
          <p role="status" className={error === undefined ? 'text-xs text-soft' : 'text-xs text-bad'}>
            {showHidden(error ?? note ?? '')}
          </p>
        )}
      </div>
      <Button look="quiet" disabled={busy} onClick={() => run(test)}>
        Test
      </Button>
      <Button
        look="quiet"
        disabled={busy}
        onClick={() => run(() => client.webhooks.remove(id).then(onChanged))}
      >
        Remove
      </Button>
    </li>
  )
}

/** Adds a topic of ntfy, or a URL with a signature, whose secret is shown once. */
function NewDestination({ onAdded }: { onAdded(): Promise<void> }) {
  const { busy, error, run } = useAction()
  const [secret, setSecret] = useState<string>()
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const kind = data.get('kind') === 'ntfy' ? 'ntfy' : 'webhook'
    run(async () => {
      const added = await client.webhooks.add({ kind, url: String(data.get('url')).trim() })
      setSecret(added.secret)
      form.reset()
      await onAdded()
    })
  }
  return (
    <form aria-label="Add a destination" className="space-y-2" onSubmit={add}>
      <div className="flex flex-wrap items-end gap-2">
        <label className="min-w-0 flex-1">
          <span className="text-xs text-soft">URL</span>
          <input
            name="url"
            required
            className="w-full"
            placeholder="https://ntfy.sh/a-topic-nobody-guesses"
          />
        </label>
        <label>
          <span className="block text-xs text-soft">Kind</span>
          <select name="kind" defaultValue="ntfy">
            <option value="ntfy">ntfy</option>
            <option value="webhook">webhook</option>
          </select>
        </label>
        <Button type="submit" disabled={busy}>
          Add
        </Button>
      </div>
      {secret !== undefined && (
        <p role="status" className="text-sm">
          Its secret is shown once: <code className="break-all">{secret}</code> <CopyButton text={secret} />
        </p>
      )}
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {showHidden(error)}
        </p>
      )}
    </form>
  )
}
