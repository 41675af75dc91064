import type { AgentInfo, Policy } from 'mainstem/client'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { client, signIn } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { useStore } from '../app/store.ts'
import { Attachments } from '../session/compose/attachments.tsx'
import { type Draft, drafts, promptOf, rememberSent } from '../session/compose/drafts.ts'
import { readImages } from '../session/compose/images.ts'
import { PromptField } from '../session/compose/prompt-field.tsx'
import { type Action, useAction } from '../ui/action.ts'
import { Badge, type BadgeLook } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { agents as agentStore, isUsable, loadAgents } from './agents-store.ts'
import { BilledBy } from './billed-by.tsx'
import { DEMO_PROMPT } from './demo-prompt.ts'
import { DirectoryField } from './directory-field.tsx'
import { APPROVALS, SANDBOXES } from './policies.ts'

const STATES: Record<AgentInfo['state'], { label: string; look: BadgeLook }> = {
  built_in: { label: 'built in', look: 'accent' },
  ready: { label: 'ready', look: 'good' },
  installed: { label: 'installed', look: 'plain' },
  needs_login: { label: 'needs login', look: 'ask' },
  broken: { label: 'broken', look: 'bad' },
  missing: { label: 'not installed', look: 'plain' },
}

/** The draft of a session that does not exist yet. */
const NEW = 'new'

async function begin(
  body: Parameters<typeof client.begin>[0] & { prompt: string },
  images: Draft['images'] = [],
): Promise<void> {
  const { id } = await client.begin(body, crypto.randomUUID())
  rememberSent(id, body.prompt, images)
  go({ screen: 'session', id, tab: 'conversation', seq: undefined })
}

/** The form of a new session. Where there are no sessions yet, it offers the demo, which needs no key. */
export function NewSession({ first }: { first: boolean }) {
  const known = useStore(agentStore)
  const action = useAction()
  const [agent, setAgent] = useState<string>()
  useEffect(() => void loadAgents(), [])
  const usable = known?.filter(isUsable) ?? []
  const chosen = usable.find(({ id }) => id === agent) ?? usable[0]
  return (
    <section aria-labelledby="new-session" className="space-y-4">
      {first && <Welcome action={action} />}
      <div className="rounded-lg border border-line bg-panel p-4">
        <h2 id="new-session" className="mb-3 text-base font-semibold">
          New session
        </h2>
        {known === undefined ? (
          <p className="text-soft">Looking for agents on this machine…</p>
        ) : (
          <SessionForm agents={usable} chosen={chosen} onChoose={setAgent} action={action} />
        )}
        {action.error !== undefined && (
          <div className="mt-3">
            <Notice level="error">{action.error}</Notice>
          </div>
        )}
      </div>
      {known && <OtherAgents agents={known.filter((one) => one.fix !== undefined)} />}
    </section>
  )
}

function Welcome({ action }: { action: Action }) {
  return (
    <div className="rounded-lg border border-line bg-panel p-4">
      <h1 className="text-lg font-semibold">No sessions yet</h1>
      <p className="mt-1 mb-3 text-soft">
        Start the demo to see a whole session: it edits, asks for permission and asks a question. It is a
        script, and needs no key and no network.
      </p>
      <Button
        look="main"
        disabled={action.busy}
        onClick={() => action.run(() => begin({ agent: 'demo', prompt: DEMO_PROMPT }))}
      >
        Start the demo
      </Button>
    </div>
  )
}

interface SessionFormProps {
  agents: readonly AgentInfo[]
  chosen: AgentInfo | undefined
  onChoose(id: string): void
  action: Action
}

function SessionForm({ agents, chosen, onChoose, action }: SessionFormProps) {
  const state = useStore(signIn)
  const home = state.state === 'in' ? state.server.cwd : ''
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [cwd, setCwd] = useState('')
  useStore(drafts)
  const draft = drafts.of(NEW)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const prompt = promptOf(draft, (path) => path)
    if (!chosen || prompt === '') return
    const images = draft.images.map(({ mimeType, data: bytes }) => ({ mimeType, data: bytes }))
    const options = {
      ...(text('model') !== '' && { model: text('model') }),
      ...(images.length > 0 && { images }),
    }
    const body = {
      agent: chosen.id,
      prompt,
      ...(text('cwd') !== '' && { cwd: text('cwd') }),
      ...(text('worktree') !== '' && { worktree: text('worktree') }),
      options,
      policy: {
        approval: text('approval') as Policy['approval'],
        sandbox: text('sandbox') as Policy['sandbox'],
      },
    }
    action.run(() => begin(body, draft.images).then(() => drafts.clear(NEW)))
  }
  const attach = (files: Iterable<File>) =>
    action.run(async () => {
      drafts.attach(NEW, await readImages(drafts.of(NEW).images, files))
    })
  return (
    <form ref={form} className="grid gap-3 sm:grid-cols-2" onSubmit={submit}>
      <div className="rounded-lg border border-line bg-page focus-within:border-accent sm:col-span-2">
        <Attachments draft={NEW} value={draft} />
        <PromptField
          id={`${id}-prompt`}
          cwd={cwd === '' ? home : cwd}
          text={draft.text}
          rows={3}
          placeholder="What should the agent do? @ names a file; paste or drop an image."
          onChange={(text) => drafts.change(NEW, { text })}
          onSend={() => form.current?.requestSubmit()}
          onFiles={attach}
        />
      </div>
      <label htmlFor={`${id}-agent`}>
        <span className="flex h-5.25 items-center gap-2 text-xs text-soft">
          Agent
          {chosen && <Badge look={STATES[chosen.state].look}>{STATES[chosen.state].label}</Badge>}
        </span>
        <select
          id={`${id}-agent`}
          className="w-full"
          value={chosen?.id ?? ''}
          onChange={(event) => onChoose(event.target.value)}
        >
          {agents.map((agent) => (
            <option key={agent.id} value={agent.id}>
              {agent.name} ({STATES[agent.state].label})
            </option>
          ))}
        </select>
      </label>
      <label htmlFor={`${id}-model`}>
        <span className="text-xs text-soft">Model</span>
        <input id={`${id}-model`} name="model" className="w-full" placeholder="the agent's default" />
      </label>
      <label htmlFor={`${id}-cwd`}>
        <span className="text-xs text-soft">Directory</span>
        <DirectoryField id={`${id}-cwd`} name="cwd" onChange={setCwd} />
      </label>
      <label htmlFor={`${id}-worktree`}>
        <span className="text-xs text-soft">Git worktree</span>
        <input
          id={`${id}-worktree`}
          name="worktree"
          className="w-full"
          placeholder="none, or the name of a new branch"
          title="The agent edits its own copy of the repository, beside it, on this new branch"
        />
      </label>
      <Choice id={`${id}-approval`} name="approval" label="Permissions" choices={APPROVALS} />
      <Choice id={`${id}-sandbox`} name="sandbox" label="Sandbox" choices={SANDBOXES} />
      <div className="flex flex-wrap items-center gap-3 sm:col-span-2">
        <Button type="submit" look="main" disabled={action.busy || !chosen}>
          {action.busy ? 'Starting…' : 'Start session'}
        </Button>
        {chosen && <BilledBy agent={chosen} />}
      </div>
    </form>
  )
}

interface ChoiceProps {
  id: string
  name: string
  label: string
  choices: Readonly<Record<string, string>>
}

function Choice({ id, name, label, choices }: ChoiceProps) {
  return (
    <label htmlFor={id}>
      <span className="text-xs text-soft">{label}</span>
      <select id={id} name={name} className="w-full">
        {Object.entries(choices).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

function OtherAgents({ agents }: { agents: readonly AgentInfo[] }) {
  if (agents.length === 0) return null
  return (
    <details className="rounded-lg border border-line bg-panel px-4 py-2">
      <summary className="text-soft">{agents.length} agents need a step before they can run</summary>
      <ul className="mt-2 space-y-1">
        {agents.map(({ id, name, state, fix }) => (
          <li key={id} className="flex flex-wrap items-center gap-2">
            <span className="w-36 truncate">{name}</span>
            <Badge look={STATES[state].look}>{STATES[state].label}</Badge>
            <code className="min-w-0 flex-1 truncate rounded bg-raised px-1.5" title={fix}>
              {fix}
            </code>
          </li>
        ))}
      </ul>
    </details>
  )
}
