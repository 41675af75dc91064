import DOMPurify from 'dompurify'

const MARKDOWN_TAGS = [
  'p',
  'br',
  'strong',
  'em',
  'del',
  'code',
  'pre',
  'a',
  'ul',
  'ol',
  'li',
  'blockquote',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'span',
]

const SAFE_LINK = /^(?:https?|mailto):/i

/** Output of agents as DOM: a short list of tags, no styles, no forms, and nothing that loads. */
export function sanitize(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    ALLOWED_TAGS: MARKDOWN_TAGS,
    ALLOWED_ATTR: ['href', 'class', 'start', 'align'],
    ALLOWED_URI_REGEXP: SAFE_LINK,
    // Its value is a word, and no address.
    ADD_URI_SAFE_ATTR: ['align'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  })
  for (const link of fragment.querySelectorAll('a')) {
    const href = link.getAttribute('href')
    if (href === null) {
      link.replaceWith(...link.childNodes)
      continue
    }
    link.target = '_blank'
    link.rel = 'noopener noreferrer'
    // Shows where a link leads before it is followed.
    link.title = href
  }
  return fragment
}
