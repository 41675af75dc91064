import type { Entry } from '../model/index.ts'

type Kind = 'prompt' | 'text' | 'thinking' | 'tool' | 'change' | 'outcome'

interface Block {
  kind: Kind
  title?: string
  text: string
}

interface SessionDocument {
  title: string
  blocks: readonly Block[]
}

/** Collects the readable parts of a session: prompts, messages, calls, changes and outcomes. */
export function blocksOf(): { list: Block[]; take(entry: Entry): void } {
  const list: Block[] = []
  const names = new Map<string, string>()
  return {
    list,
    take({ event }) {
      switch (event.type) {
        case 'turn.started':
          if (event.prompt !== undefined) list.push({ kind: 'prompt', text: event.prompt })
          break
        case 'text.completed':
          if (event.text !== '') list.push({ kind: 'text', text: event.text })
          break
        case 'thinking.completed':
          if (event.text !== '') list.push({ kind: 'thinking', text: event.text })
          break
        case 'tool.started':
          names.set(event.toolId, [event.name, event.title].filter((one) => one !== undefined).join(' '))
          break
        case 'tool.completed': {
          const exit = event.exitCode === undefined ? event.status : `exit ${event.exitCode}`
          const title = `${names.get(event.toolId) ?? 'tool'} (${exit})`
          list.push({ kind: 'tool', title, text: event.output ?? '' })
          break
        }
        case 'file.changed':
          list.push({ kind: 'change', title: `${event.change} ${event.path}`, text: event.diff ?? '' })
          break
        case 'turn.completed':
          list.push({
            kind: 'outcome',
            text: `${event.outcome}${event.error ? `: ${event.error.message}` : ''}`,
          })
          break
        default:
      }
    },
  }
}

export function toMarkdown({ title, blocks }: SessionDocument): string {
  return `${[`# ${oneLine(title)}`, ...blocks.map(markdownOf)].join('\n\n')}\n`
}

function markdownOf({ kind, title = '', text }: Block): string {
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
