import { Marked, type Parser, type Token, type Tokens } from 'marked'
import { memo, useLayoutEffect, useMemo, useRef } from 'react'
import remend from 'remend'
import { decorate } from './decorate.ts'
import { showHiddenIn } from './hidden-in.ts'
import { sanitize } from './sanitize.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)

interface RendererThis {
  parser: Parser
}

/** Markup that an agent writes is text here, and an image is a link: the page loads nothing from elsewhere. */
const renderer = {
  html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
  image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || 'image')}</a>`,
  code: ({ text, lang = '' }: Tokens.Code) =>
    `<pre><code class="language-${escaped(lang.replace(/\s.*/s, ''))}">${escaped(text)}\n</code></pre>`,
  listitem(this: RendererThis, item: Tokens.ListItem) {
    return `<li${item.task ? ' class="task"' : ''}>${this.parser.parse(item.tokens)}</li>`
  },
  checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
}

const marked = new Marked({ gfm: true, breaks: true, renderer })

/** The text of a table without its markup. */
const plainTable = (text: string) => text.replaceAll(/[\s|:\\-]/g, '')

/** Markdown drops the cells of a row beyond the columns of the heading. */
function hasEveryCell({ raw, header, rows }: Tokens.Table): boolean {
  const cells = [header, ...rows].flat().map(({ text }) => text)
  return plainTable(raw) === plainTable(cells.join(''))
}

/** Writes out what markup hides: where links lead, their titles, the rest of the line of a code fence, and cells. */
const whole = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    ...renderer,
    image: ({ raw }: Tokens.Image) => escaped(raw),
    link: ({ raw }: Tokens.Link) => escaped(raw),
    def: ({ raw }: Tokens.Def) => `<p>${escaped(raw)}</p>`,
    table: (token: Tokens.Table) =>
      hasEveryCell(token) ? false : `<pre><code>${escaped(token.raw)}</code></pre>`,
    code: (token: Tokens.Code) => {
      const [, more = ''] = /^\S*\s+(.*)$/s.exec(token.lang ?? '') ?? []
      return `${more === '' ? '' : `<p>${escaped(more)}</p>`}${renderer.code(token)}`
    },
  },
})

interface MarkdownProps {
  text: string
  /** Closes syntax that the stream has left open, such as a code fence. */
  streaming?: boolean
  /** Hides nothing of the text, for something that people decide about. */
  exact?: boolean
}

/** Markdown of an agent. Each block renders once, so a stream renders its last block only. */
export const Markdown = memo(function Markdown({ text, streaming = false, exact = false }: MarkdownProps) {
  const blocks = useMemo(() => blocksOf(streaming ? remend(text) : text), [text, streaming])
  return (
    <div className={exact ? 'prose prose-exact' : 'prose'}>
      {blocks.map(({ start, token }) => (
        <Block key={start} raw={token.raw} token={token} exact={exact} settled={!streaming} />
      ))}
    </div>
  )
})

/** Each block with its place in the text, which stays the same while the text grows at its end. */
function blocksOf(text: string): { start: number; token: Token }[] {
  let end = 0
  return marked.lexer(text).map((token) => {
    const start = end
    end += token.raw.length
    return { start, token }
  })
}

interface BlockProps {
  raw: string
  token: Token
  exact: boolean
  /** Code is coloured once the message is complete: colours that change with each word are restless. */
  settled: boolean
}

const Block = memo(
  function Block({ token, exact, settled }: BlockProps) {
    const place = useRef<HTMLDivElement>(null)
    const fragment = useMemo(() => {
      const made = sanitize((exact ? whole : marked).parser([token]))
      showHiddenIn(made, exact)
      return made
    }, [token, exact])
    useLayoutEffect(() => {
      const { current } = place
      if (!current) return
      current.replaceChildren(fragment.cloneNode(true))
      return decorate(current, settled)
    }, [fragment, settled])
    return token.type === 'space' ? null : <div ref={place} />
  },
  (before, after) =>
    before.raw === after.raw && before.settled === after.settled && before.exact === after.exact,
)
