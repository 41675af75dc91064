import type { DraftImage } from './drafts.ts'

const TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Images of one prompt together. In base64 they are a third larger, and the server takes 16 MiB. */
const MOST_BYTES = 11 * 1024 * 1024

/** The number of images that a prompt can have. */
const MOST = 20

/** The images among pasted or dropped files. Throws with the reason if they cannot be sent with those of the draft. */
export async function readImages(
  before: readonly DraftImage[],
  files: Iterable<File>,
): Promise<DraftImage[]> {
  const images: DraftImage[] = []
  let bytes = before.reduce((sum, { data }) => sum + (data.length * 3) / 4, 0)
  for (const file of files) {
    if (!file.type.startsWith('image/')) continue
    if (!TYPES.has(file.type))
      throw new Error(`${file.name || 'The image'} is ${file.type}; use PNG, JPEG, GIF or WebP`)
    bytes += file.size
    if (bytes > MOST_BYTES) throw new Error('The images of one prompt can have 11 MB together')
    if (before.length + images.length === MOST) throw new Error(`A prompt can have ${MOST} images`)
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
