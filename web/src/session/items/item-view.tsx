import type { TimelineItem } from 'mainstem/client'
import { memo } from 'react'
import { TerminalText } from '../../text/ansi.tsx'
import { DiffView } from '../../text/diff-view.tsx'
import { MessageView } from './message-view.tsx'
import { NoticeView } from './notice-view.tsx'
import { EndView, OutcomeView } from './outcome-view.tsx'
import { PlanView } from './plan-view.tsx'
import { PromptView } from './prompt-view.tsx'
import { RequestView } from './request-view.tsx'
import { ToolView } from './tool-view.tsx'

/** One item of a conversation. Items change by identity, so an item that is the same renders once. */
export const ItemView = memo(function ItemView({ item }: { item: TimelineItem }) {
  switch (item.kind) {
    case 'prompt':
      return <PromptView item={item} />
    case 'text':
    case 'thinking':
      return <MessageView item={item} />
    case 'tool':
      return <ToolView item={item} />
    case 'request':
      return <RequestView item={item} />
    case 'plan':
      return <PlanView item={item} />
    case 'notice':
      return <NoticeView item={item} />
    case 'outcome':
      return <OutcomeView item={item} />
    case 'end':
      return <EndView item={item} />
    case 'file':
      return <DiffView file={item.file} />
    case 'output':
      return (
        <details className="text-xs text-soft">
          <summary>Output on {item.stream} outside of the protocol</summary>
          <TerminalText text={item.text} />
        </details>
      )
    default:
      return item satisfies never
  }
})
