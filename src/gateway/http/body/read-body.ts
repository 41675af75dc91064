import type { FastifyRequest } from 'fastify'
import { MainstemError } from '../../../model/index.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { MergedMessage } from './merged-message.ts'
import type { Upload, UploadRoom } from './upload-room.ts'

const LF = 0x0a

interface BodyLimits {
  limit: number
  /** The name of the limit in the configuration. */
  setting: 'bodyBytes' | 'imageBytes'
  uploads: UploadRoom
}

/** Reads a whole body of at most `limit` bytes. */
export async function readBody(
  { principal, ip, headers }: Pick<FastifyRequest, 'principal' | 'ip' | 'headers'>,
  payload: AsyncIterable<Uint8Array>,
  { limit, setting, uploads }: BodyLimits,
): Promise<Buffer> {
  const length = Number(headers['content-length'])
  if (length > limit) throw bodyTooLarge(setting)
  // Node has the whole body, usually with its head: it takes no more memory, and nothing waits for it.
  if (payload instanceof MergedMessage && payload.readableLength === length) return arrived(payload)
  const upload = uploads.enter({ principal, address: ip }, 'body')
  try {
    const buffer = new ByteBuffer(upload)
    for await (const chunk of arriving(payload, upload)) {
      if (buffer.size + chunk.length > limit) throw bodyTooLarge(setting)
      buffer.append(chunk)
    }
    return buffer.take()
  } finally {
    upload.leave()
  }
}

function arrived(payload: MergedMessage): Buffer {
  const bytes: Buffer = payload.read() ?? Buffer.alloc(0)
  // Its end is noticed only if it is read on.
  payload.resume()
  return bytes
}

/** Reads a body line by line, with or without an end of its last line. A line is valid until the next one is read. */
export async function* readLines(
  payload: AsyncIterable<Uint8Array>,
  { limit, upload }: { limit: number; upload: Upload },
): AsyncGenerator<Buffer> {
  const buffer = new ByteBuffer(upload)
  const add = (bytes: Uint8Array) => {
    if (buffer.size + bytes.length > limit)
      throw new MainstemError('too_large', `a line is longer than ${limit} bytes`)
    buffer.append(bytes)
  }
  for await (const chunk of arriving(payload, upload)) {
    let from = 0
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      add(chunk.subarray(from, at))
      yield buffer.take()
      buffer.settle()
      from = at + 1
    }
    add(chunk.subarray(from))
  }
  if (buffer.size > 0) yield buffer.take()
}

/** A client that disconnects is not an error of the server. One that sends too many chunks is read later. */
async function* arriving(payload: AsyncIterable<Uint8Array>, upload: Upload): AsyncGenerator<Uint8Array> {
  let counted = 0
  try {
    for await (const bytes of payload) {
      yield bytes
      if (!(payload instanceof MergedMessage)) continue
      const { chunks } = payload
      if (upload.arrived(chunks - counted)) await upload.mayGoOn()
      counted = chunks
      payload.goOn()
    }
  } catch (cause) {
    throw new MainstemError('invalid_request', 'the body was cut off', { field: 'body' }, { cause })
  }
}

function bodyTooLarge(setting: BodyLimits['setting']): MainstemError {
  return new MainstemError('too_large', 'the body exceeds the size limit of this server', {
    advice: `Send a smaller body, or have the operator raise \`limits.${setting}\`.`,
  })
}
