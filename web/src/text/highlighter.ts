import highlighter from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import markdown from 'highlight.js/lib/languages/markdown'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { TokenLines } from './highlight.ts'
import { sanitize } from './sanitize.ts'

const GRAMMARS = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}

for (const [name, grammar] of Object.entries(GRAMMARS)) highlighter.registerLanguage(name, grammar)

/** The tokens of a text, line by line. Together they are exactly the text. */
export function tokenLines(text: string, language: string): TokenLines | undefined {
  const { value } = highlighter.highlight(text, { language, ignoreIllegals: true })
  const lines: { text: string; look: string }[][] = [[]]
  const walk = (node: Node, look: string) => {
    if (node instanceof Element) for (const child of node.childNodes) walk(child, node.classList[0] ?? look)
    else
      for (const [index, piece] of (node.textContent ?? '').split('\n').entries()) {
        if (index > 0) lines.push([])
        if (piece !== '') lines.at(-1)?.push({ text: piece, look })
      }
  }
  for (const child of sanitize(value).childNodes) walk(child, '')
  const same = lines.map((line) => line.map((token) => token.text).join('')).join('\n') === text
  // Colours must never change what is read.
  return same ? lines : undefined
}
