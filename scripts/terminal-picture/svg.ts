import type { Cell, Color, Look, Terminal, Version } from './terminal.ts'

export interface PictureOptions {
  columns: number
  rows: number
  /** Seconds that the last state stays before the picture starts again. */
  hold: number
}

const FONT = 13
const LINE = 18
const CHARACTER = 7.83
const PADDING = 16
const BAR = 28

const COLORS: Readonly<Record<Color, string>> = {
  red: '#ff7b72',
  green: '#7ee787',
  yellow: '#e3b341',
  blue: '#79c0ff',
  magenta: '#d2a8ff',
  cyan: '#76e3ea',
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string) => text.replaceAll(/[&<>]/g, (character) => ESCAPES[character] ?? character)
const percent = (at: number, total: number) => `${Number(((at / total) * 100).toFixed(2))}%`

/** A terminal session as an animation without scripts, in one file. */
export function picture(terminal: Terminal, { columns, rows, hold }: PictureOptions): string {
  const versions = terminal.versions.filter(({ cells, until }) => cells.length > 0 || until === undefined)
  const total = Math.max(...versions.map(({ from, until = 0 }) => Math.max(from, until))) + hold
  const [width, height] = [Math.ceil(columns * CHARACTER) + 2 * PADDING, rows * LINE + 2 * PADDING + BAR]
  const top = BAR + PADDING / 2
  const spans = new Map<string, string>()
  const lines = versions.map((version) => lineOf(version, nameOf(version, total, spans)))
  const circles = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, index) => `<circle cx="${PADDING + 6 + index * 18}" cy="18" r="5.5" fill="${color}"/>`,
  )
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>A session of mainstem demo in a terminal</title>',
    `<style>${style([...spans.values()], scroll(versions, rows, total), total)}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...circles,
    `<clipPath id="window"><rect x="${PADDING}" y="${top}" width="${width - 2 * PADDING}" height="${rows * LINE + 6}"/></clipPath>`,
    `<g clip-path="url(#window)"><g transform="translate(${PADDING} ${top})"><g id="log">`,
    ...lines,
    '</g></g></g>',
    '</svg>',
  ].join('\n')}\n`
}

/** One animation for each span of time; lines that appear together share it. */
function nameOf({ from, until }: Version, total: number, spans: Map<string, string>): string {
  const key = `${from}-${until ?? ''}`
  const name = `t${[...spans.keys()].indexOf(key) === -1 ? spans.size : [...spans.keys()].indexOf(key)}`
  if (!spans.has(key)) {
    const end = until === undefined ? '' : `${percent(until, total)},100%{visibility:hidden}`
    const start = from === 0 ? '0%' : `0%{visibility:hidden}${percent(from, total)}`
    spans.set(key, `@keyframes ${name}{${start}{visibility:visible}${end}}.${name}{animation-name:${name}}`)
  }
  return until === undefined ? name : `${name} x`
}

/** Moves the lines up as soon as they would leave the window. */
function scroll(versions: readonly Version[], rows: number, total: number): string {
  let bottom = 0
  const offsets = new Map<string, number>()
  for (const { line, from } of versions.toSorted((one, other) => one.from - other.from)) {
    bottom = Math.max(bottom, line)
    const up = Math.max(0, bottom - rows + 1) * LINE
    if (up > 0) offsets.set(percent(from, total), up)
  }
  const steps = [...offsets].map(([at, up]) => `${at}{transform:translateY(-${up}px)}`)
  const end = Math.max(0, bottom - rows + 1) * LINE
  return `@keyframes up{0%{transform:none}${steps.join('')}100%{transform:translateY(-${end}px)}}`
}

function style(spans: readonly string[], moves: string, total: number): string {
  const timing = `${total.toFixed(1)}s step-end infinite`
  const colors = Object.entries(COLORS).map(([name, value]) => `.${name}{fill:${value}}`)
  return [
    `text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e6edf3;white-space:pre}`,
    `text{animation:${timing}}#log{animation:up ${timing}}`,
    '.b{font-weight:600}.d{fill:#8b949e}.i{font-style:italic}.u{text-decoration:underline}',
    ...colors,
    moves,
    ...spans,
    // Without motion, the picture is its last state.
    '@media (prefers-reduced-motion:reduce){text,#log{animation-duration:1ms;animation-iteration-count:1;animation-fill-mode:forwards}.x{display:none}}',
  ].join('\n')
}

function lineOf({ line, cells }: Version, name: string): string {
  const pieces = runs(cells).map(({ text, look }) => {
    const names = classes(look)
    return names === '' ? escaped(text) : `<tspan class="${names}">${escaped(text)}</tspan>`
  })
  return `<text class="${name}" y="${(line + 1) * LINE - 4}" xml:space="preserve">${pieces.join('')}</text>`
}

function classes({ color, bold, dim, italic, underline }: Look): string {
  return [color, bold && 'b', dim && 'd', italic && 'i', underline && 'u'].filter(Boolean).join(' ')
}

/** Neighbouring cells with the same look as one piece. */
function runs(cells: readonly Cell[]): Cell[] {
  const pieces: Cell[] = []
  for (const { text, look } of cells) {
    const last = pieces.at(-1)
    if (last && classes(last.look) === classes(look)) last.text += text
    else pieces.push({ text, look })
  }
  return pieces
}
