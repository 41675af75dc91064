import { escapeInvisible, type RawFrame } from 'mainstem/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { VList } from 'virtua'
import { client, leftOut, messageOf } from '../app/client.ts'
import { Badge } from '../ui/badge.tsx'
import { Notice } from '../ui/notice.tsx'
import { prettyJson } from './event-details.tsx'

const PAGE = 500

interface RawFramesProps {
  id: string
  filter: string
  head: number
}

/** What the agent wrote and what was sent to it, in one order. Reads on while the log grows. */
export function RawFrames({ id, filter, head }: RawFramesProps) {
  const [frames, setFrames] = useState<readonly RawFrame[]>([])
  const [error, setError] = useState<string>()
  const next = useRef<number>(undefined)
  const reading = useRef(false)
  const isDue = useRef(false)
  const read = useCallback(async () => {
    isDue.current = true
    if (reading.current) return
    reading.current = true
    try {
      while (isDue.current) {
        isDue.current = false
        const after = next.current
        const page = await client.frames(id, { limit: PAGE, ...(after !== undefined && { after }) })
        next.current = page.next
        if (page.frames.length > 0) isDue.current = true
        setFrames((known) => [...known, ...page.frames])
      }
    } catch (thrown) {
      if (!leftOut(thrown)) setError(messageOf(thrown))
    } finally {
      reading.current = false
    }
  }, [id])
  useEffect(() => {
    if (head > 0) void read()
  }, [read, head])
  const shown = frames.filter(({ stream, text }) => stream === filter || text.includes(filter))
  return (
    <div className="min-h-0 flex-1">
      {error !== undefined && <Notice level="error">{error}</Notice>}
      <VList className="h-full" aria-label="Raw frames" tabIndex={0}>
        {shown.map(({ frame, stream, text }) => (
          <details
            key={frame}
            data-frame={frame}
            className="border-b border-line px-3 py-0.5 font-mono text-xs"
          >
            <summary className="truncate">
              <Badge>{frame}</Badge>{' '}
              <span className="text-accent">{stream === 'sent' ? '→ to the agent' : `← ${stream}`} </span>
              <span className="text-soft">{escapeInvisible(text.slice(0, 160))}</span>
            </summary>
            <pre className="p-2 break-words whitespace-pre-wrap">{prettyJson(text)}</pre>
          </details>
        ))}
      </VList>
    </div>
  )
}
