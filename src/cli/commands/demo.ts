import { setTimeout as sleep } from 'node:timers/promises'
import { wire } from '../../compose/wire.ts'
import { exitCodeOf } from '../../model/index.ts'
import { MAINSTEM } from '../own-command.ts'
import { Printer } from '../render/printer.ts'
import { askingView, showToPeople } from '../render/show.ts'
import { agreeable, askAt } from '../terminal/ask.ts'
import { interrupts } from '../terminal/interrupts.ts'
import { Keyboard } from '../terminal/keyboard.ts'
import { drive } from '../turn/drive.ts'

const PROMPT = 'The product list skips its first page. Find out why and fix it.'

const FAST = 10

const NEXT = `
  That was a script. With an agent that you have installed:

    ${MAINSTEM} run claude "what does this project do?"
    ${MAINSTEM} agents
`

export interface DemoFlags {
  yes?: boolean
  fast?: boolean
}

/** `mainstem demo`: a scripted session. */
export async function demo(flags: DemoFlags): Promise<void> {
  const { stdin, stdout } = process
  using interrupted = interrupts()
  await using wired = wire(flags.fast ? { timers: { sleep: fastSleep } } : {})
  const printer = new Printer(stdout)
  const canAsk = stdin.isTTY && stdout.isTTY && !flags.yes
  using keyboard = canAsk ? new Keyboard({ input: stdin, output: stdout }) : undefined
  const view = askingView(stdout)
  const show = showToPeople(stdout, canAsk ? view : undefined)
  const print = (text: string) => printer.print(text)
  const completed = await drive(wired.sessions, {
    request: { agent: 'demo', cwd: process.cwd() },
    prompt: PROMPT,
    show: (entry) => printer.print(show(entry)),
    answer: keyboard ? askAt({ keyboard, output: stdout, view, print }) : agreeable,
    stop: AbortSignal.any([interrupted, printer.closed]),
  })
  if (completed.outcome === 'completed') await printer.print(NEXT)
  process.exitCode = exitCodeOf(completed.outcome, completed.exit)
}

async function fastSleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms / FAST, undefined, { signal })
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}
