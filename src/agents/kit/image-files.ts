import type { LaunchFile, Start } from '../agent.ts'
import { filePath, unsupported } from './option.ts'

/** Programs recognise an image by its file extension. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

/** This many paths fit into one argument in every directory. */
const MAX_IMAGES = 20

/** The images of a prompt, for a program that reads them from files. */
export function imageFiles(agent: string, { prompt }: Start): LaunchFile[] {
  const images = prompt?.images ?? []
  if (images.length > MAX_IMAGES) throw unsupported(agent, 'images', `more than ${MAX_IMAGES}`)
  return images.map(({ mimeType, data }, index) => {
    const ending = ENDINGS.get(mimeType)
    if (ending === undefined) throw unsupported(agent, 'images', `it does not accept ${mimeType} from a file`)
    return { name: `picture-${index + 1}.${ending}`, text: data, encoding: 'base64' }
  })
}

/** `--flag=path` for each image. */
export function imageArgs(agent: string, flag: string, start: Start): string[] {
  return imageFiles(agent, start).map(({ name }) => `${flag}=${filePath(name)}`)
}
