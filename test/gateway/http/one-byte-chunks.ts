// Reads a body and a line that arrive one byte at a time, three of each at once. Run with a small heap.
import { readBody, readLines } from '../../../src/gateway/http/body/read-body.ts'
import { UploadRoom } from '../../../src/gateway/http/body/upload-room.ts'

const BYTES = 300_000
const uploads = new UploadRoom(64 * 1024 * 1024)
const uploader = { principal: 'ci', ip: '127.0.0.1', headers: {} }

async function* drip(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < BYTES; sent++) yield Buffer.alloc(1, 'x')
}

async function lines(): Promise<number> {
  const upload = uploads.enter({ principal: 'ci', address: '127.0.0.1' }, 'import')
  let size = 0
  for await (const line of readLines(drip(), { limit: BYTES, upload })) size += line.length
  upload.leave()
  return size
}

const bodies = [1, 2, 3].map(
  async () => (await readBody(uploader, drip(), { setting: 'bodyBytes', limit: BYTES, uploads })).length,
)
console.log(JSON.stringify([await Promise.all([...bodies, lines(), lines(), lines()]), uploads.held]))
