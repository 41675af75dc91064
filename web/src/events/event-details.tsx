import { type Entry, escapeInvisible } from 'mainstem/client'
import { jsonText } from '../text/format.ts'
import { CopyButton } from '../ui/copy-button.tsx'

/** One entry: the event on one side, the frame of the agent that it came from on the other. */
export function EventDetails({ entry }: { entry: Entry & { raw?: string } }) {
  const { raw, event, seq, at, native } = entry
  return (
    <article aria-label={`Entry ${seq}`} className="space-y-3">
      <header className="flex flex-wrap items-center gap-3">
        <h2 className="font-mono font-semibold">
          {seq} {event.type}
        </h2>
        <span className="text-xs text-soft">{new Date(at).toISOString()}</span>
        <CopyButton text={() => location.href} label="Copy link" />
      </header>
      <Block title="Event" text={jsonText(event)} />
      {raw === undefined ? (
        <p className="text-xs text-soft">
          {native === undefined
            ? 'Mainstem wrote this entry itself; it came from no frame.'
            : 'The raw frame is no longer kept.'}
        </p>
      ) : (
        <Block title={`Raw frame ${native ?? ''}`} text={prettyJson(raw)} />
      )}
    </article>
  )
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <section aria-label={title}>
      <h3 className="text-xs text-soft">{title}</h3>
      <pre className="max-h-[60vh] overflow-auto rounded border border-line bg-panel p-2 break-words whitespace-pre-wrap">
        {text.length > 200_000
          ? `${text.slice(0, 200_000)}\n… ${text.length - 200_000} more characters`
          : text}
      </pre>
    </section>
  )
}

export function prettyJson(text: string): string {
  try {
    return jsonText(JSON.parse(text))
  } catch {
    // Not every frame is JSON.
    return escapeInvisible(text)
  }
}
