import type { LaunchFile, Start } from './agent.ts'
import { filePath, unsupported } from './option.ts'

/** Programs know a picture by the ending of its name. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

/** So many paths fit into one argument, wherever the files are. */
const MOST_PICTURES = 20

/** The pictures of a prompt, for a program that takes them from files. */
export function pictureFiles(agent: string, { prompt }: Start): LaunchFile[] {
  const images = prompt?.images ?? []
  if (images.length > MOST_PICTURES) throw unsupported(agent, 'images', `more than ${MOST_PICTURES}`)
  return images.map(({ mimeType, data }, index) => {
    const ending = ENDINGS.get(mimeType)
    if (ending === undefined) throw unsupported(agent, 'images', `it takes no ${mimeType} from a file`)
    return { name: `picture-${index + 1}.${ending}`, text: data, encoding: 'base64' }
  })
}

/** `--flag=path` for each of them. */
export function pictureArgs(agent: string, flag: string, start: Start): string[] {
  return pictureFiles(agent, start).map(({ name }) => `${flag}=${filePath(name)}`)
}
