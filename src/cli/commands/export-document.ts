import { requestText } from '../../client/calls/request-text.ts'
import type { RequestItem, TimelineItem, ToolItem } from '../../client/timeline/items.ts'
import type { ErrorInfo, FileChanged } from '../../model/index.ts'
import { decisionText } from '../render/requests.ts'

type Kind = 'prompt' | 'text' | 'thinking' | 'tool' | 'change' | 'plan' | 'request' | 'notice' | 'outcome'

interface DocumentBlock {
  kind: Kind
  title?: string
  text: string
}

interface SessionDocument {
  title: string
  blocks: readonly DocumentBlock[]
}

/** The readable parts of a conversation. The work of a sub-agent follows the call that started it. */
export function blocksOf(items: readonly TimelineItem[]): DocumentBlock[] {
  return items.flatMap(blocksOfItem).filter(({ title, text }) => title !== undefined || text !== '')
}

function blocksOfItem(item: TimelineItem): DocumentBlock[] {
  switch (item.kind) {
    case 'prompt':
      return [{ kind: 'prompt', text: item.text }]
    case 'text':
    case 'thinking':
      return item.state === 'discarded' ? [] : [{ kind: item.kind, text: item.text }]
    case 'tool':
      return toolBlocks(item)
    case 'file':
      return [changeBlock(item.file)]
    case 'plan':
      return [
        { kind: 'plan', text: item.steps.map(({ text, status }) => `${MARKS[status]} ${text}`).join('\n') },
      ]
    case 'request':
      return [requestBlock(item)]
    case 'notice':
      return [{ kind: 'notice', text: item.message }]
    case 'outcome':
      return [outcomeBlock(item.completed.outcome, item.completed.error)]
    case 'end':
      return item.ended.reason === 'completed' ? [] : [outcomeBlock(item.ended.reason, item.ended.error)]
    case 'output':
      return []
    default:
      return item satisfies never
  }
}

const MARKS = { completed: '[x]', in_progress: '[-]', pending: '[ ]' } as const

function toolBlocks({
  name,
  title,
  status,
  exitCode,
  output,
  error,
  files,
  subagent,
}: ToolItem): DocumentBlock[] {
  const call = [name, title].filter((one) => one !== undefined).join(' ')
  const exit = exitCode === undefined ? status : `exit ${exitCode}`
  const text = [output, error].filter(Boolean).join('\n')
  return [
    { kind: 'tool', title: `${call} (${exit})`, text },
    ...files.map(changeBlock),
    ...(subagent ? blocksOf(subagent.items) : []),
  ]
}

function changeBlock({ change, path, diff = '' }: FileChanged): DocumentBlock {
  return { kind: 'change', title: `${change} ${path}`, text: diff }
}

function requestBlock({ request, resolved, withdrawn }: RequestItem): DocumentBlock {
  const about = requestText(request, '')
  const end = resolved ? decisionText(resolved) : (withdrawn?.reason.replaceAll('_', ' ') ?? 'not answered')
  return { kind: 'request', title: `${about}: ${end}`, text: '' }
}

function outcomeBlock(outcome: string, error: ErrorInfo | undefined): DocumentBlock {
  return { kind: 'outcome', text: `${outcome}${error ? `: ${error.message}` : ''}` }
}

export function toMarkdown({ title, blocks }: SessionDocument): string {
  return `${[`# ${oneLine(title)}`, ...blocks.map(markdownOf)].join('\n\n')}\n`
}

function markdownOf({ kind, title = '', text }: DocumentBlock): string {
  switch (kind) {
    case 'prompt':
      return `## Prompt\n\n${quote(text)}`
    case 'thinking':
      return `*Thinking*\n\n${quote(text)}`
    case 'text':
      return text
    case 'tool':
      return `**${oneLine(title)}**${text === '' ? '' : `\n\n${fence(text)}`}`
    case 'change':
      return `**${oneLine(title)}**${text === '' ? '' : `\n\n${fence(text, 'diff')}`}`
    case 'plan':
      return text.replaceAll(/^/gm, '- ')
    case 'request':
      return `*Request: ${oneLine(title)}*`
    case 'notice':
    case 'outcome':
      return `*${oneLine(text)}*`
    default:
      return kind satisfies never
  }
}

function quote(text: string): string {
  return text.replaceAll(/^/gm, '> ')
}

/** A code fence longer than any in the text, so that output cannot close its block. */
function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${text.trimEnd()}\n${ticks}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}' +
  'pre{white-space:pre-wrap;background:#8882;padding:.5rem}' +
  '.prompt{border-left:3px solid #08c;padding-left:1rem}.thinking,.outcome{opacity:.7;font-style:italic}'

/** One file without scripts or external resources. */
export function toHtml({ title, blocks }: SessionDocument): string {
  const body = blocks.map(({ kind, title: heading, text }) => {
    const above = heading === undefined ? '' : `<strong>${escapeHtml(heading)}</strong>`
    return `<section class="${kind}">${above}<pre>${escapeHtml(text)}</pre></section>`
  })
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(title)}</h1>`,
    ...body,
    '</body></html>\n',
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}
