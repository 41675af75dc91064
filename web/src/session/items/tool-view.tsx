import { describeCall, escapeInvisible, type Subagent, type ToolItem } from 'mainstem/client'
import { memo } from 'react'
import { useNow } from '../../app/clock.ts'
import { TerminalText } from '../../text/ansi.tsx'
import { CodeText } from '../../text/code-text.tsx'
import { DiffView } from '../../text/diff-view.tsx'
import { bytes, clockTime, duration } from '../../text/format.ts'
import { showHidden } from '../../text/hidden.ts'
import { OutputView } from '../../text/output-view.tsx'
import { PathText } from '../../text/path-text.tsx'
import { useRelativePaths } from '../../text/workspace.ts'
import { Badge, type BadgeLook } from '../../ui/badge.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { useUnfolded } from '../../ui/kept.ts'
import { keyed } from '../../ui/keyed.ts'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { InputView } from '../input-view.tsx'
import { ItemView } from './item-view.tsx'

/** How a call stands: its status, or who has to decide before it runs. */
type Standing = ToolItem['status'] | NonNullable<ToolItem['waitsFor']>

const LOOKS: Record<Standing, { label: string; look: BadgeLook }> = {
  draft: { label: 'writing', look: 'plain' },
  person: { label: 'waiting for you', look: 'ask' },
  hook: { label: 'waiting for a hook', look: 'plain' },
  policy: { label: 'waiting for the policy', look: 'plain' },
  nobody: { label: 'waiting to be denied', look: 'plain' },
  running: { label: 'running', look: 'accent' },
  success: { label: 'done', look: 'good' },
  error: { label: 'failed', look: 'bad' },
  denied: { label: 'denied', look: 'bad' },
  cancelled: { label: 'cancelled', look: 'plain' },
  unknown: { label: 'no result', look: 'ask' },
}

const ICONS: Readonly<Partial<Record<ToolItem['toolKind'], IconName>>> = {
  read: 'file',
  edit: 'edit',
  delete: 'trash',
  move: 'file',
  search: 'search',
  execute: 'terminal',
  think: 'thought',
  fetch: 'globe',
  mcp: 'plug',
  task: 'agent',
}

/** One call of a tool: what it does while it is folded; input, output, files and sub-agent when it is open. */
export const ToolView = memo(function ToolView({ item }: { item: ToolItem }) {
  const { subagent, files, status, seq, toolId } = item
  // What failed is what people look for.
  const [open, setOpen] = useUnfolded(`${seq} ${toolId}`, status === 'error')
  return (
    <div data-tool={toolId} className="overflow-hidden rounded-md border border-line bg-panel">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-2.5 py-1.5 text-left text-sm hover:bg-raised"
        onClick={() => setOpen(!open)}
      >
        <Icon name={ICONS[item.toolKind] ?? 'dot'} className="text-soft" />
        <CallLine item={item} />
        <ToolStatus item={item} />
      </button>
      {open && <ToolBody item={item} />}
      {!open && status === 'running' && item.output !== '' && <OutputTail text={item.output} />}
      {files.length > 0 && (
        <div className="space-y-1 px-2.5 pb-2">
          {keyed(files, ({ path }) => path).map(([key, file]) => (
            <DiffView key={key} file={file} />
          ))}
        </div>
      )}
      {subagent && <SubagentView subagent={subagent} />}
    </div>
  )
})

/** The call in a line. A command is coloured, a path keeps its file name. */
function CallLine({ item }: { item: ToolItem }) {
  const { cwd } = useRelativePaths()
  const { verb, subject, form } = describeCall(item, cwd)
  const line = (item.status === 'running' ? item.message : undefined) ?? subject
  return (
    <>
      <span className="shrink-0 font-medium" title={escapeInvisible(item.name)}>
        {escapeInvisible(verb)}
      </span>
      <span className={`min-w-0 flex-1 ${form === 'text' ? 'truncate text-soft' : 'font-mono text-xs'}`}>
        {form === 'path' ? (
          <PathText path={line} />
        ) : form === 'command' ? (
          <span className="block truncate">
            <CodeText text={line} language="bash" />
          </span>
        ) : (
          escapeInvisible(line)
        )}
      </span>
    </>
  )
}

function ToolStatus({ item }: { item: ToolItem }) {
  const { exitCode, durationMs, endedAt, runningSince } = item
  const own = statusOf(item)
  const took = durationMs ?? (endedAt === undefined ? undefined : endedAt - runningSince)
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-xs text-soft">
      {own === 'running' ? (
        <Elapsed from={runningSince} />
      ) : (
        took !== undefined && took >= 100 && <span>{duration(took)}</span>
      )}
      {exitCode !== undefined && exitCode !== 0 && <span className="text-bad">exit {exitCode}</span>}
      {own === 'success' ? (
        <span className="text-good" title="done">
          <Icon name="check" />
          <span className="sr-only">done</span>
        </span>
      ) : (
        <Badge look={LOOKS[own].look}>{LOOKS[own].label}</Badge>
      )}
    </span>
  )
}

function statusOf({ status, waitsFor, subagent, toolId }: ToolItem): Standing {
  if (waitsFor && (status === 'running' || status === 'draft')) return waitsFor
  return toolId.startsWith('agent ') && subagent ? subagent.status : status
}

function Elapsed({ from }: { from: number }) {
  return <span className="tabular-nums">{clockTime(useNow() - from)}</span>
}

function ToolBody({ item }: { item: ToolItem }) {
  const { input, draft, output, error, blob, deniedBy, status } = item
  return (
    <div className="space-y-2 border-t border-line px-2.5 py-2">
      {draft === '' ? (
        <ScrollRegion label="Input" className="max-h-96 space-y-1.5 overflow-y-auto">
          <InputView request={{ input }} />
        </ScrollRegion>
      ) : (
        <pre className="whitespace-pre-wrap text-soft">{escapeInvisible(draft)}</pre>
      )}
      {output !== '' && <OutputView text={output} />}
      {error !== undefined && (
        <p className="break-words whitespace-pre-wrap text-bad">{escapeInvisible(error)}</p>
      )}
      {status === 'denied' && (
        <p className="text-xs text-bad">Denied by {showHidden(deniedBy ?? 'someone')}.</p>
      )}
      {blob && <p className="text-xs text-soft">The whole result ({bytes(blob.bytes)}) is kept as a file.</p>}
      {input === undefined && draft === '' && output === '' && error === undefined && (
        <p className="text-xs text-soft">
          The call has no input and no output here; earlier entries may show more.
        </p>
      )}
    </div>
  )
}

/** The last lines of a running command. */
function OutputTail({ text }: { text: string }) {
  const tail = text.slice(-2_000).split('\n').slice(-4).join('\n')
  return (
    <div className="border-t border-line px-2.5 py-1 text-soft">
      <TerminalText text={tail} />
    </div>
  )
}

function SubagentView({ subagent }: { subagent: Subagent }) {
  const { label, model, background, status, items, summary, message } = subagent
  return (
    <details open={status === 'running'} className="border-t border-line px-2.5 py-1.5">
      <summary className="text-xs text-soft">
        Sub-agent: <span className="text-ink">{showHidden(label)}</span> {showHidden(model ?? '')}{' '}
        {background && '(in the background)'} · {items.length} items
        {message !== undefined && status === 'running' ? ` · ${showHidden(message)}` : ''}
      </summary>
      <div className="mt-2 space-y-2 border-l-2 border-line pl-3">
        {items.map((item) => (
          <ItemView key={item.key} item={item} />
        ))}
        {summary !== undefined && <p className="text-soft">{showHidden(summary)}</p>}
      </div>
    </details>
  )
}
