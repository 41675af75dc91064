import { type SessionRecord, subagentName } from 'mainstem/client'
import { type FormEvent, useEffect, useMemo } from 'react'
import { client, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { agents as agentStore, isUsable, loadAgents } from '../inbox/agents-store.ts'
import { DirectoryField } from '../inbox/directory-field.tsx'
import { waits } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { changedFiles, totalsOf } from '../session/changes/changed-files.ts'
import { useChanges } from '../session/changes/use-changes.ts'
import { ItemView } from '../session/items/item-view.tsx'
import { OUTCOMES } from '../session/outcome.ts'
import { RequestDock } from '../session/request-dock.tsx'
import { openRequests } from '../session/session-store.ts'
import { useSession } from '../session/use-session.ts'
import { WorkingRow } from '../session/working-row.tsx'
import { Counts, DiffView } from '../text/diff-view.tsx'
import { cost, duration, shortPath, tokens } from '../text/format.ts'
import { showHidden } from '../text/hidden.ts'
import { Workspace } from '../text/workspace.ts'
import { useAction } from '../ui/action.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { say } from '../ui/toasts.tsx'

/** One prompt for several agents, side by side. */
export default function CompareScreen({ ids }: { ids: readonly string[] }) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      {ids.length === 0 ? <CompareForm /> : <Columns key={ids.join()} ids={ids} />}
    </div>
  )
}

function CompareForm() {
  const known = useStore(agentStore)
  const { busy, error, run } = useAction()
  useEffect(() => void loadAgents(), [])
  const usable = known?.filter(isUsable) ?? []
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const prompt = String(data.get('prompt') ?? '').trim()
    const chosen = data.getAll('agent').map(String)
    if (prompt === '') return
    run(async () => {
      const cwd = String(data.get('cwd') ?? '').trim()
      const columns = chosen.flatMap((agent) =>
        modelsIn(String(data.get(`model ${agent}`) ?? '')).map((model) => ({ agent, model })),
      )
      if (columns.length < 2) throw new Error('Choose two agents, or two models of one')
      const branches = data.get('worktree') === null ? [] : branchesFor(columns)
      const results = await Promise.allSettled(
        columns.map(({ agent, model }, index) => {
          const worktree = branches[index]
          return client.begin(
            {
              agent,
              prompt,
              ...(cwd !== '' && { cwd }),
              ...(worktree !== undefined && { worktree }),
              ...(model !== undefined && { options: { model } }),
            },
            crypto.randomUUID(),
          )
        }),
      )
      const refused = results.flatMap((result, index) =>
        result.status === 'rejected' ? [`${nameOf(columns[index])}: ${messageOf(result.reason)}`] : [],
      )
      const begun = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []))
      if (begun.length === 0) throw new Error(refused.join('. '))
      // The others run: they must not be out of sight.
      for (const text of refused) say(text)
      go({ screen: 'compare', ids: begun })
    })
  }
  return (
    <form className="mx-auto w-full max-w-3xl space-y-4 overflow-y-auto p-4 sm:p-6" onSubmit={submit}>
      <h1 className="text-lg font-semibold">Compare agents</h1>
      <p className="text-soft">
        Sends one prompt to several agents and shows them side by side, with their changes and a table of
        outcome, time, tokens and cost. Name several models of an agent, separated by commas, for a column
        each.
      </p>
      <label className="block">
        <span className="text-xs text-soft">Prompt</span>
        <textarea name="prompt" rows={4} required className="w-full" />
      </label>
      <div>
        <label htmlFor="compare-directory" className="text-xs text-soft">
          Directory
        </label>
        <DirectoryField id="compare-directory" name="cwd" />
        <label className="mt-1.5 flex items-start gap-2">
          <input type="checkbox" name="worktree" className="mt-1" />
          <span>
            A git worktree for each column
            <span className="block text-xs text-soft">
              Each agent edits its own copy of the repository, on a new branch from the last commit. Without
              it they share the directory, so let them read rather than edit.
            </span>
          </span>
        </label>
      </div>
      <fieldset className="grid gap-2 sm:grid-cols-2">
        <legend className="mb-1 text-xs text-soft">Agents and models, two or more columns</legend>
        {known === undefined && <span className="text-soft">Looking for agents on this machine…</span>}
        {usable.map(({ id, name }) => (
          <div
            key={id}
            className="group flex items-center gap-2 rounded-md border border-line bg-panel py-1 pr-1 pl-2.5 has-checked:border-accent"
          >
            <label className="flex min-w-0 flex-1 items-center gap-2">
              <input type="checkbox" name="agent" value={id} />
              <span className="truncate">{name}</span>
            </label>
            <input
              name={`model ${id}`}
              aria-label={`Model of ${name}`}
              placeholder="default model"
              title="Several models, separated by commas, get a column each"
              className="w-32 py-0.5 text-sm not-group-has-checked:invisible"
            />
          </div>
        ))}
      </fieldset>
      <Button type="submit" look="main" disabled={busy}>
        Compare
      </Button>
      {error !== undefined && <Notice level="error">{error}</Notice>}
    </form>
  )
}

/** One column for each model; one with the default model if none is named. */
function modelsIn(text: string): (string | undefined)[] {
  const models = text.split(',').map((model) => model.trim())
  const named = models.filter((model) => model !== '')
  return named.length === 0 ? [undefined] : named
}

type CompareColumn = { agent: string; model: string | undefined }

/** New branches, one for each column: `compare-3fa9c1/claude-opus`. */
function branchesFor(columns: readonly CompareColumn[]): string[] {
  const name = crypto.randomUUID().slice(0, 6)
  return columns.map(({ agent, model }) => {
    const label = [agent, model].filter(Boolean).join('-')
    return `compare-${name}/${label.replace(/[^\w.-]+/g, '-')}`.slice(0, 100)
  })
}

const nameOf = (column: CompareColumn | undefined): string =>
  [column?.agent, column?.model].filter(Boolean).join(' · ')

/** The agent of a record with its model, which distinguishes two columns of one agent. */
const columnName = ({ agent, options }: SessionRecord): string =>
  showHidden(nameOf({ agent, model: options.model }))

function Columns({ ids }: { ids: readonly string[] }) {
  const { records } = useStore(inbox)
  const known = ids.map((id) => records.get(id))
  // Sessions of an old link are not in the list.
  useEffect(() => {
    for (const id of ids) if (!inbox.get().records.has(id)) void inbox.refresh(id)
  }, [ids])
  return (
    <>
      <div className="border-b border-line px-3 py-2 sm:px-5">
        <h1 className="sr-only">Compare agents</h1>
        <Table records={known.filter((record) => record !== undefined)} />
      </div>
      <div className="flex min-h-0 flex-1 overflow-x-auto">
        {ids.map((id) => (
          <Column key={id} id={id} />
        ))}
      </div>
    </>
  )
}

function Table({ records }: { records: readonly SessionRecord[] }) {
  return (
    <ScrollRegion label="Results" className="overflow-x-auto">
      <table className="text-sm whitespace-nowrap tabular-nums">
        <thead className="text-left text-xs text-soft">
          <tr>
            {['Agent', 'Outcome', 'Time', 'Tokens', 'Cost', 'Changes'].map((heading) => (
              <th key={heading} scope="col" className="pr-6 font-normal">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.id}>
              <th scope="row" className="pr-6 text-left font-medium">
                {columnName(record)}
              </th>
              <td className="pr-6">
                <Standing record={record} />
              </td>
              <td className="pr-6">{duration(record.updatedAt - record.createdAt)}</td>
              <td className="pr-6">{tokens(record.usage) ?? '–'}</td>
              <td className="pr-6">{cost(record.usage) ?? '–'}</td>
              <td className="pr-6">
                <Changed record={record} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

function useChangedFiles({ id, head }: Pick<SessionRecord, 'id' | 'head'>) {
  const { changes } = useChanges(id, head)
  return useMemo(() => changedFiles(changes), [changes])
}

/** How many files and lines a session changed. */
function Changed({ record }: { record: SessionRecord }) {
  const files = useChangedFiles(record)
  if (files.length === 0) return '–'
  return (
    <span className="flex gap-2">
      {files.length} {files.length === 1 ? 'file' : 'files'} <Counts {...totalsOf(files)} />
    </span>
  )
}

/** What a session changed, at the end of its column. */
function ColumnChanges({ record }: { record: SessionRecord }) {
  const files = useChangedFiles(record)
  if (files.length === 0 || record.status === 'busy') return null
  return (
    <section aria-label={`Changes of ${columnName(record)}`} className="space-y-1 border-t border-line pt-2">
      {files.flatMap(({ changes }) => changes.map(({ key, diff }) => <DiffView key={key} file={diff} />))}
    </section>
  )
}

function Standing({ record }: { record: SessionRecord }) {
  const { status, lastOutcome } = record
  if (waits(record)) return <Badge look="ask">needs you</Badge>
  if (status === 'busy' || !lastOutcome) return <Badge look="accent">running</Badge>
  return <Badge look={OUTCOMES[lastOutcome].look}>{OUTCOMES[lastOutcome].label}</Badge>
}

function Column({ id }: { id: string }) {
  const [store, view] = useSession(id)
  const { record, timeline, error } = view
  return (
    <Workspace value={record?.cwd ?? ''}>
      <section
        aria-label={record ? columnName(record) : id}
        className="flex min-h-0 min-w-80 flex-1 flex-col border-r border-line"
      >
        <h2 className="flex items-center gap-2 border-b border-line bg-panel px-3 py-1.5 font-medium">
          <a href={sessionHref(id)} className="hover:underline">
            {record ? columnName(record) : id}
          </a>
          {record && (
            <span className="min-w-0 truncate text-xs font-normal text-soft" title={showHidden(record.cwd)}>
              {showHidden(shortPath(record.cwd))}
            </span>
          )}
        </h2>
        <ScrollRegion label="Conversation" className="min-h-0 flex-1 space-y-2 overflow-y-auto p-3">
          {error && <Notice level="error">{error.message}</Notice>}
          {timeline.items.map((item) => (
            <ItemView key={item.key} item={item} />
          ))}
          {record && <ColumnChanges record={record} />}
        </ScrollRegion>
        {record && (
          <div className="px-3">
            <WorkingRow record={record} timeline={timeline} />
          </div>
        )}
        <div className="px-2">
          <RequestDock
            session={id}
            requests={openRequests(view)}
            subagentName={(agent) => subagentName(timeline, agent)}
            onAnswered={() => void store.refresh()}
          />
        </div>
      </section>
    </Workspace>
  )
}
