import { Marked, type Token, type Tokens } from 'marked'
import { memo, useLayoutEffect, useMemo, useRef } from 'react'
import remend from 'remend'
import { sanitize } from './sanitize.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)

/** Markup that an agent writes is text here, and an image is a link: the page loads nothing from elsewhere. */
const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || 'image')}</a>`,
    code: ({ text }: Tokens.Code) => `<pre><code>${escaped(text)}</code></pre>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
  },
})

interface MarkdownProps {
  text: string
  /** Closes syntax that the stream has left open, such as a code fence. */
  streaming?: boolean
}

/** Markdown of an agent. Each block renders once, so a stream renders its last block only. */
export const Markdown = memo(function Markdown({ text, streaming = false }: MarkdownProps) {
  const blocks = useMemo(() => blocksOf(streaming ? remend(text) : text), [text, streaming])
  return (
    <div className="prose">
      {blocks.map(({ start, token }) => (
        <Block key={start} raw={token.raw} token={token} />
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

const Block = memo(
  function Block({ token }: { raw: string; token: Token }) {
    const place = useRef<HTMLDivElement>(null)
    const fragment = useMemo(() => sanitize(marked.parser([token])), [token])
    useLayoutEffect(() => place.current?.replaceChildren(fragment.cloneNode(true)), [fragment])
    return token.type === 'space' ? null : <div ref={place} />
  },
  (before, after) => before.raw === after.raw,
)
