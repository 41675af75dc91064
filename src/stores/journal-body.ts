import * as zlib from 'node:zlib'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import { integer, type Row } from './row.ts'
import type { JournalFrame } from './store.ts'

/** The encoding of a body, as bit flags. */
const ZSTD = 1
const UTF16 = 2

/** Smaller bodies are not worth compressing. */
const COMPRESSED_ABOVE = 8192
const FASTEST = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }

export interface JournalBody {
  encoding: number
  body: Uint8Array
}

/** Frames as one text: a header line, then the texts. */
export function joinFrames(frames: readonly JournalFrame[]): string {
  const heads: (number | string)[] = []
  // Index 0 is for the header. One join copies the text once.
  const texts = ['']
  for (const { frame, stream, text } of frames) {
    heads.push(frame, stream, text.length)
    texts.push(text)
  }
  texts[0] = `${JSON.stringify(heads)}\n`
  return texts.join('')
}

export function splitFrames(joined: string): JournalFrame[] {
  const end = joined.indexOf('\n')
  const heads: unknown[] = JSON.parse(joined.slice(0, end))
  const frames: JournalFrame[] = []
  let at = end + 1
  for (let index = 0; index < heads.length; index += 3) {
    const length = Number(heads[index + 2])
    const text = joined.slice(at, at + length)
    frames.push({ frame: Number(heads[index]), stream: String(heads[index + 1]), text })
    at += length
  }
  return frames
}

/** UTF-8 cannot encode a lone surrogate, and native text is stored unchanged. */
export function encodeJournal(joined: string): JournalBody {
  const isUtf8 = joined.isWellFormed()
  const plain = Buffer.from(joined, isUtf8 ? 'utf8' : 'utf16le')
  const encoding = isUtf8 ? 0 : UTF16
  // Older versions of Node have no zstd.
  if (plain.length <= COMPRESSED_ABOVE || zlib.zstdCompressSync === undefined)
    return { encoding, body: plain }
  return { encoding: encoding + ZSTD, body: zlib.zstdCompressSync(plain, FASTEST) }
}

export function decodeJournal({ encoding, body }: JournalBody): string {
  const plain = (encoding & ZSTD) === 0 ? body : decompress(body)
  const { buffer, byteOffset, length } = plain
  return Buffer.from(buffer, byteOffset, length).toString((encoding & UTF16) === 0 ? 'utf8' : 'utf16le')
}

function decompress(body: Uint8Array): Uint8Array {
  if (zlib.zstdDecompressSync === undefined) {
    throw new MainstemError(
      'storage_failed',
      'this journal is compressed; reading it needs Node 22.15 or newer',
    )
  }
  return zlib.zstdDecompressSync(body)
}

/** Whether a row of the journal follows the frame `before`. The first one that is read may contain that frame. */
export function isNextFrame(row: Row, before: number, isFirst: boolean): boolean {
  // Rows of older versions do not say what they follow.
  if (row.previous === null) return integer(row, 'last') > before
  const previous = integer(row, 'previous')
  return isFirst ? previous <= before : previous === before
}
