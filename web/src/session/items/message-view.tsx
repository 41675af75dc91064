import type { MessageItem } from 'mainstem/client'
import { showHidden } from '../../text/hidden.ts'
import { Markdown } from '../../text/markdown.tsx'

/** A message of the agent. Thinking is collapsed; a message that the agent dropped stays visible and is marked. */
export function MessageView({ item }: { item: MessageItem }) {
  const { kind, text, state } = item
  if (kind === 'thinking') {
    return (
      <details className="text-soft">
        <summary className="text-xs">
          Thinking
          {state === 'streaming' && <span className="breathing"> …</span>}
          <span className="ml-2 italic">{showHidden(firstLine(text))}</span>
        </summary>
        <div className="mt-1 border-l-2 border-line pl-3 text-sm">
          <Markdown text={text} streaming={state === 'streaming'} />
        </div>
      </details>
    )
  }
  if (state === 'discarded') {
    return (
      <details className="text-xs text-soft">
        <summary>The agent dropped this message and wrote it again</summary>
        <p className="mt-1 whitespace-pre-wrap line-through">{showHidden(text)}</p>
      </details>
    )
  }
  return (
    <div>
      <Markdown text={text} streaming={state === 'streaming'} />
      {state === 'cut' && <p className="mt-1 text-xs text-ask">The message was cut off here.</p>}
    </div>
  )
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 80 ? `${line.slice(0, 80)}…` : line
}
