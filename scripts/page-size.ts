/** `npm run web:size`: prints what the built page loads, compressed, and fails above the budget of the first load. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const PAGE = resolve(import.meta.dirname, '../dist/web')

/** In bytes: what a browser loads before it shows anything. */
const FIRST_LOAD = 150_000

const document = readFileSync(join(PAGE, 'index.html'), 'utf8')
const sizes = readdirSync(join(PAGE, 'assets')).map((name) => {
  const size = gzipSync(readFileSync(join(PAGE, 'assets', name))).length
  // The document names the licences, and browsers do not load them.
  return { name, size, first: document.includes(name) && !name.endsWith('.txt') }
})
sizes.sort((a, b) => b.size - a.size)
const firstLoad = sizes.reduce((sum, { size, first }) => sum + (first ? size : 0), gzipSync(document).length)
for (const { name, size, first } of sizes)
  console.log(`${(size / 1000).toFixed(1).padStart(7)} kB  ${first ? 'first' : 'later'}  ${name}`)
console.log(`${(firstLoad / 1000).toFixed(1).padStart(7)} kB  first load, of ${FIRST_LOAD / 1000} kB`)
if (firstLoad > FIRST_LOAD) {
  console.error('The first load of the page is over its budget.')
  process.exitCode = 1
}
