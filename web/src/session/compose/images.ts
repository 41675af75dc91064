import type { DraftImage } from './drafts.ts'

const TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Images of one prompt in bytes; a request body has a limit. */
const MOST_BYTES = 8 * 1024 * 1024

/** The images among pasted or dropped files. Throws with the reason if one cannot be sent. */
export async function readImages(files: Iterable<File>): Promise<DraftImage[]> {
  const images: DraftImage[] = []
  for (const file of files) {
    if (!file.type.startsWith('image/')) continue
    if (!TYPES.has(file.type))
      throw new Error(`${file.name || 'The image'} is ${file.type}; use PNG, JPEG, GIF or WebP`)
    if (file.size > MOST_BYTES) throw new Error(`${file.name || 'The image'} is larger than 8 MB`)
    images.push({ name: file.name || 'image', mimeType: file.type, data: await base64Of(file) })
  }
  return images
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  // In pieces: a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(binary)
}
