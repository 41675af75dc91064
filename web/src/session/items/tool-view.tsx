import { escapeInvisible, type Subagent, type ToolItem } from 'mainstem/client'
import { memo, useState } from 'react'
import { useNow } from '../../app/clock.ts'
import { TerminalText } from '../../text/ansi.tsx'
import { DiffView } from '../../text/diff-view.tsx'
import { bytes, clockTime, duration } from '../../text/format.ts'
import { Badge, type BadgeLook } from '../../ui/badge.tsx'
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

/** One call of a tool: its title while it is folded, input, output, files and sub-agent when it is open. */
export const ToolView = memo(function ToolView({ item }: { item: ToolItem }) {
  const [open, setOpen] = useState(false)
  const { subagent, files } = item
  return (
    <div data-tool={item.toolId} className="overflow-hidden rounded-md border border-line bg-panel">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-2.5 py-1 text-left hover:bg-raised"
        onClick={() => setOpen(!open)}
      >
        <span className="shrink-0 font-mono text-xs text-soft">{item.name}</span>
        <span className="min-w-0 flex-1 truncate">{escapeInvisible(summaryOf(item))}</span>
        <ToolStatus item={item} />
      </button>
      {open && <ToolBody item={item} />}
      {!open && item.status === 'running' && item.output !== '' && <OutputTail text={item.output} />}
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

function summaryOf({ title, input, draft, message, status }: ToolItem): string {
  if (status === 'running' && message !== undefined) return message
  if (title !== undefined) return title
  if (typeof input === 'string') return input
  if (typeof input === 'object' && input !== null) {
    const first = Object.values(input).find((value) => typeof value === 'string')
    if (typeof first === 'string') return first.split('\n', 1)[0] ?? ''
  }
  return draft
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
      <Badge look={LOOKS[own].look}>{LOOKS[own].label}</Badge>
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
          <InputView input={input} />
        </ScrollRegion>
      ) : (
        <pre className="whitespace-pre-wrap text-soft">{draft}</pre>
      )}
      {output !== '' && (
        <div>
          <span className="text-xs text-soft">output</span>
          <ScrollRegion label="Output" className="max-h-96 overflow-auto rounded bg-raised px-2 py-1">
            <TerminalText text={output} />
          </ScrollRegion>
        </div>
      )}
      {error !== undefined && (
        <p className="break-words whitespace-pre-wrap text-bad">{escapeInvisible(error)}</p>
      )}
      {status === 'denied' && <p className="text-xs text-bad">Denied by {deniedBy ?? 'someone'}.</p>}
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
        Sub-agent: <span className="text-ink">{label}</span> {model} {background && '(in the background)'} ·{' '}
        {items.length} items{message !== undefined && status === 'running' ? ` · ${message}` : ''}
      </summary>
      <div className="mt-2 space-y-2 border-l-2 border-line pl-3">
        {items.map((item) => (
          <ItemView key={item.key} item={item} />
        ))}
        {summary !== undefined && <p className="text-soft">{summary}</p>}
      </div>
    </details>
  )
}
