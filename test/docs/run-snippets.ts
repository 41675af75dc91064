/** Runs programs of the pages one after another, and prints what each of them printed, as a line of JSON. */
import './fast.mjs'
import { pathToFileURL } from 'node:url'

const write = process.stdout.write.bind(process.stdout)

for (const path of process.argv.slice(2)) {
  let output = ''
  process.stdout.write = (chunk: string | Uint8Array) => {
    output += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
  try {
    await import(pathToFileURL(path).href)
  } finally {
    process.stdout.write = write
  }
  write(`${JSON.stringify([path, output])}\n`)
}
