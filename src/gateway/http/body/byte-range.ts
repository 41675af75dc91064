import type { ByteRange } from '../../../model/text/byte-range.ts'

const RANGE = /^bytes=(\d*)-(\d*)$/

/**
 * Parses a `Range` header with one range. Returns undefined for anything else, which a server answers with the whole
 * content.
 */
export function byteRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = RANGE.exec(header ?? '') ?? []
  if (from === '' && to === '') return undefined
  const start = from === '' ? Math.max(0, bytes - Number(to)) : Number(from)
  const end = from === '' || to === '' ? bytes : Math.min(bytes, Number(to) + 1)
  return start < end ? { start, end } : undefined
}
