// Records `mainstem demo` in a pseudo-terminal and writes the recording as an animated SVG: docs/demo.svg.
// Needs `script` of util-linux. node scripts/terminal-picture.ts
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { picture } from './terminal-picture/svg.ts'
import { Terminal } from './terminal-picture/terminal.ts'

const PICTURE = 'docs/demo.svg'
const [COLUMNS, ROWS] = [92, 26]
/** The demo runs ten times as fast as its script; the picture plays it at a pace that can be read. */
const PACE = 4
/** Changes within this many seconds become one, which keeps the file small. */
const STEP = 0.15

interface Chunk {
  at: number
  text: string
}

/** The output of a command in a terminal, with the seconds since its first byte. */
async function recorded(command: string, cwd: string): Promise<Chunk[]> {
  const child = spawn('script', ['-qec', `stty cols ${COLUMNS} rows ${ROWS}; ${command}`, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8')
  const chunks: Chunk[] = []
  let first: number | undefined
  for await (const text of child.stdout) {
    first ??= performance.now()
    chunks.push({ at: (performance.now() - first) / 1_000, text: String(text).replaceAll(cwd, '/project') })
  }
  return chunks
}

const cwd = mkdtempSync(join(tmpdir(), 'shop-'))
const chunks = await recorded(`${process.execPath} ${resolve('src/cli/main.ts')} demo --yes --fast`, cwd)
rmSync(cwd, { recursive: true })

const terminal = new Terminal()
terminal.write('\x1b[32m$ \x1b[39mnpx mainstem demo\r\n\r\n', 0)
for (const { at, text } of chunks) terminal.write(text, 1 + Math.ceil((at * PACE) / STEP) * STEP)
writeFileSync(PICTURE, picture(terminal, { columns: COLUMNS, rows: ROWS, hold: 5 }))
console.log(`${PICTURE}: ${terminal.height} lines, ${terminal.versions.length} changes`)
