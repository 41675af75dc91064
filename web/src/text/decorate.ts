import { copyText } from '../ui/copy-text.ts'
import { highlight, type TokenLines } from './highlight.ts'
import { languageOf } from './languages.ts'

const SAID_MS = 1_500

/** Gives rendered Markdown what its markup lacks: code with a label, colours and a copy button, tables that scroll. */
export function decorate(root: HTMLElement, colours: boolean): () => void {
  let isCurrent = true
  for (const pre of root.querySelectorAll('pre')) frameCode(pre, colours, () => isCurrent)
  for (const table of root.querySelectorAll('table')) frameTable(table)
  return () => {
    isCurrent = false
  }
}

function frameCode(pre: HTMLPreElement, colours: boolean, isCurrent: () => boolean): void {
  const code = pre.querySelector('code')
  if (!code) return
  const named = /^language-(.+)/.exec(code.className)?.[1]
  const text = (code.textContent ?? '').replace(/\n$/, '')
  const head = element('div', 'code-head')
  head.append(element('span', 'code-label', named ?? 'text'), copyButton(text))
  const frame = element('div', 'code-block')
  pre.replaceWith(frame)
  frame.append(head, pre)
  reachable(pre, 'Code')
  const language = languageOf(named)
  if (colours) void highlight(text, language).then((lines) => lines && isCurrent() && colour(code, lines))
}

function colour(code: Element, lines: TokenLines): void {
  const nodes = lines.flatMap((tokens, index) => [
    ...(index > 0 ? ['\n'] : []),
    ...tokens.map(({ text, look }) => (look === '' ? text : element('span', look, text))),
  ])
  code.replaceChildren(...nodes)
}

function frameTable(table: HTMLTableElement): void {
  const frame = element('div', 'table-scroll')
  table.replaceWith(frame)
  frame.append(table)
  reachable(frame, 'Table')
}

/** A part that scrolls takes the focus, so that the keyboard can scroll it. */
function reachable(part: HTMLElement, label: string): void {
  if (part.scrollWidth <= part.clientWidth) return
  part.tabIndex = 0
  part.role = 'region'
  part.ariaLabel = label
}

function copyButton(text: string): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'code-copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    const say = (word: string) => {
      button.textContent = word
      setTimeout(() => {
        button.textContent = 'Copy'
      }, SAID_MS)
    }
    copyText(text).then(
      () => say('Copied'),
      () => say('The browser refused'),
    )
  })
  return button
}

function element(name: 'div' | 'span', className: string, text?: string): HTMLElement {
  const made = document.createElement(name)
  made.className = className
  if (text !== undefined) made.textContent = text
  return made
}
