import { createInterface } from 'node:readline'
import type { History } from './history.ts'
import { isRecord, type Native } from './native.ts'

/** Writes lines of JSON to stdout, each noted before it leaves. */
export function lineWriter(history: History): (message: Native) => void {
  return (message) => {
    const text = JSON.stringify(message)
    history.add({ type: 'line', text })
    process.stdout.write(`${text}\n`)
  }
}

/** Every JSON object that arrives on stdin, one a line. */
export async function readLines(take: (message: Native) => void): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const message: unknown = JSON.parse(line)
    if (isRecord(message)) take(message)
  }
}

export async function readAll(): Promise<string> {
  return (await process.stdin.setEncoding('utf8').toArray()).join('')
}
