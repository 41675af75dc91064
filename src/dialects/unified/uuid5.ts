const encoder = new TextEncoder()

/**
 * Derives a UUID from a namespace (a UUID) and a name (RFC 9562, version 5): the same inputs give the same id on every
 * replay. Implemented here because projections may not use `node:crypto`.
 */
export function uuid5(namespace: string, name: string): string {
  const text = encoder.encode(name)
  const bytes = new Uint8Array(16 + text.length)
  const digits = namespace.replaceAll('-', '')
  for (let at = 0; at < 16; at++) bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  bytes.set(text, 16)
  const [a, b, c, d] = sha1(bytes)
  const hex = [a, (b & 0xffff0fff) | 0x5000, (c & 0x3fffffff) | 0x80000000, d].map(hexWord).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function hexWord(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}

type Digest = readonly [number, number, number, number, number]

const START: Digest = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
const BLOCK = 64
const ROUNDS = 80

/** Not for secrets: SHA-1 only distributes names over the id space. */
function sha1(message: Uint8Array): Digest {
  const padded = padding(message)
  const words = new Int32Array(ROUNDS)
  let digest = START
  for (let at = 0; at < padded.byteLength; at += BLOCK) {
    for (let i = 0; i < 16; i++) words[i] = padded.getInt32(at + 4 * i)
    digest = compress(digest, words)
  }
  return digest
}

/** Pads with a one bit, zeros, and the length in bits at the end of the last block. */
function padding(message: Uint8Array): DataView {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK) * BLOCK)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 4, message.length * 8)
  return view
}

/** Compresses one block: the first sixteen words are the block, the rest is derived from them. */
function compress([h0, h1, h2, h3, h4]: Digest, words: Int32Array): Digest {
  const word = (index: number) => words[index] ?? 0
  let [a, b, c, d, e] = [h0, h1, h2, h3, h4]
  for (let i = 0; i < ROUNDS; i++) {
    if (i > 15) words[i] = rotate(word(i - 3) ^ word(i - 8) ^ word(i - 14) ^ word(i - 16), 1)
    const next = (rotate(a, 5) + mix(i, b, c, d) + e + word(i)) | 0
    e = d
    d = c
    c = rotate(b, 30)
    b = a
    a = next
  }
  return [(h0 + a) | 0, (h1 + b) | 0, (h2 + c) | 0, (h3 + d) | 0, (h4 + e) | 0]
}

function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
  return (b ^ c ^ d) + 0xca62c1d6
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}
