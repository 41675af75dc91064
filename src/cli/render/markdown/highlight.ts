/** What a piece of code is, as far as its colour needs to know. */
export type CodeToken = 'comment' | 'string' | 'keyword' | 'number' | 'added' | 'removed' | 'plain'

export interface CodePiece {
  text: string
  token: CodeToken
}

/** What a line leaves open for the next one: the end of a block comment that is searched for. */
export interface CodeState {
  commentEnd: string | undefined
}

const STRINGS = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?/.source
const NUMBERS = /\b(?:0x[\da-f]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\b/.source
const WORDS = /[A-Za-z_$][\w$]*/.source

const KEYWORDS = new Set(
  (
    'abstract and as assert async await begin bool boolean break case catch chan char class const continue def default ' +
    'defer del delete do double elif else end enum except export extends extern false final finally float fn for from ' +
    'func function global go goto if impl implements import in instanceof int interface is lambda let long loop match ' +
    'mod module mut namespace new nil none not null of or package pass private protected pub public raise readonly ' +
    'return select self short static string struct super switch then this throw throws trait true try type typeof ' +
    'undefined union unless unsafe until use using val var void where while with yield echo fi done esac export local ' +
    'create table insert into values update set join on group order by limit primary key not'
  ).split(' '),
)

interface Comments {
  line: string
  open?: string
  close?: string
}

const SLASHES: Comments = { line: '//', open: '/*', close: '*/' }
const HASHES: Comments = { line: '#' }
const DASHES: Comments = { line: '--', open: '/*', close: '*/' }
const MARKUP: Comments = { line: '', open: '<!--', close: '-->' }

const COMMENTS: Readonly<Record<string, Comments>> = Object.fromEntries(
  (
    [
      [
        'sh bash zsh shell console fish py python rb ruby yaml yml toml ini dockerfile make makefile r pl',
        HASHES,
      ],
      ['sql lua haskell hs elm', DASHES],
      ['html xml svg vue md markdown', MARKUP],
    ] as const
  ).flatMap(([names, comments]) => names.split(' ').map((name) => [name, comments])),
)

const PLAIN: ReadonlySet<string> = new Set(['', 'text', 'txt', 'plain', 'plaintext', 'log', 'output'])

const quoted = (text: string) => text.replaceAll(/[*/.\-!]/g, '\\$&')

/** The pieces of a line of code. Colours by what most languages share; an unknown language is read like C. */
export function highlight(line: string, language: string, state: CodeState): CodePiece[] {
  if (PLAIN.has(language)) return [{ text: line, token: 'plain' }]
  if (language === 'diff' || language === 'patch') return [{ text: line, token: diffToken(line) }]
  const comments = COMMENTS[language] ?? SLASHES
  const pieces: CodePiece[] = []
  let rest = line
  if (state.commentEnd !== undefined) {
    const end = rest.indexOf(state.commentEnd)
    const length = end === -1 ? rest.length : end + state.commentEnd.length
    pieces.push({ text: rest.slice(0, length), token: 'comment' })
    rest = rest.slice(length)
    if (end !== -1) state.commentEnd = undefined
  }
  for (const piece of piecesOf(rest, comments)) {
    pieces.push(piece)
    const { open, close } = comments
    const isOpen = piece.token === 'comment' && open !== undefined && piece.text.startsWith(open)
    if (isOpen && close !== undefined && !piece.text.slice(open.length).endsWith(close))
      state.commentEnd = close
  }
  return pieces
}

function piecesOf(text: string, { line, open, close }: Comments): CodePiece[] {
  const comments = [
    ...(line === '' ? [] : [line === '#' ? '(?<![^\\s])#.*' : `${quoted(line)}.*`]),
    ...(open === undefined || close === undefined ? [] : [`${quoted(open)}.*?(?:${quoted(close)}|$)`]),
  ].join('|')
  const rule = new RegExp(`(${comments})|(${STRINGS})|(${NUMBERS})|(${WORDS})|[\\s\\S]`, 'gi')
  const pieces: CodePiece[] = []
  for (const [all, comment, string, number, word] of text.matchAll(rule)) {
    const isKeyword = word !== undefined && KEYWORDS.has(word.toLowerCase())
    const token = comment
      ? 'comment'
      : string
        ? 'string'
        : number
          ? 'number'
          : isKeyword
            ? 'keyword'
            : 'plain'
    const last = pieces.at(-1)
    if (last?.token === token) last.text += all
    else pieces.push({ text: all, token })
  }
  return pieces
}

function diffToken(line: string): CodeToken {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('@@') ? 'keyword' : 'plain'
}
