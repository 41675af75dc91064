import type { FastifyRequest } from 'fastify'
import { MainstemError } from '../../../model/index.ts'
import { ByteBuffer } from './byte-buffer.ts'
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
  if (Number(headers['content-length']) > limit) throw bodyTooLarge(setting)
  const upload = uploads.enter({ principal, address: ip }, 'body')
  try {
    const buffer = new ByteBuffer(upload)
    for await (const chunk of arriving(payload)) {
      if (buffer.size + chunk.length > limit) throw bodyTooLarge(setting)
      buffer.append(chunk)
    }
    return buffer.take()
  } finally {
    upload.leave()
  }
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
  for await (const chunk of arriving(payload)) {
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

/** A client that disconnects is not an error of the server. */
async function* arriving(payload: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* payload
  } catch (cause) {
    throw new MainstemError('invalid_request', 'the body was cut off', { field: 'body' }, { cause })
  }
}

function bodyTooLarge(setting: BodyLimits['setting']): MainstemError {
  return new MainstemError('too_large', 'the body exceeds the size limit of this server', {
    advice: `Send a smaller body, or have the operator raise \`limits.${setting}\`.`,
  })
}
