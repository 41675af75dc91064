import { Store } from '../../app/store.ts'

/** A comment on a line of a file, which goes to the agent with the next prompt. */
export interface LineComment {
  path: string
  /** The number of the line; with a minus for one that was removed. */
  place: string
  /** The text of the line. */
  line: string
  text: string
}

/** An image of a prompt, as the server takes it. */
export interface DraftImage {
  name: string
  mimeType: string
  /** Base64. */
  data: string
}

/** What someone has written and not sent yet. */
export interface Draft {
  text: string
  comments: readonly LineComment[]
  /** Not kept when the page closes: they are large. */
  images: readonly DraftImage[]
}

export const EMPTY: Draft = { text: '', comments: [], images: [] }

const PREFIX = 'mainstem-draft '

/** The drafts of all sessions. They survive a reload and the way to another session and back. */
class Drafts extends Store<ReadonlyMap<string, Draft>> {
  constructor() {
    super(new Map())
  }

  of(id: string): Draft {
    return this.get().get(id) ?? stored(id)
  }

  change(id: string, change: Partial<Draft>): void {
    const draft = { ...this.of(id), ...change }
    this.set(new Map([...this.get(), [id, draft]]))
    keep(id, draft)
  }

  comment(id: string, comment: LineComment): void {
    this.change(id, { comments: [...this.of(id).comments, comment] })
  }

  attach(id: string, images: readonly DraftImage[]): void {
    this.change(id, { images: [...this.of(id).images, ...images] })
  }

  withdraw(id: string, comment: LineComment): void {
    this.change(id, { comments: this.of(id).comments.filter((one) => one !== comment) })
  }

  clear(id: string): void {
    this.change(id, EMPTY)
  }
}

export const drafts = new Drafts()

/** What was sent last to each session, so that it can be sent again with its images. The server does not return these. */
const lastSent = new Map<string, { prompt: string; images: Draft['images'] }>()

export function rememberSent(id: string, prompt: string, images: Draft['images']): void {
  lastSent.set(id, { prompt, images })
}

/** The images of a prompt, if it was the last one that this page sent to the session. */
export function imagesSentWith(id: string, prompt: string): Draft['images'] {
  const last = lastSent.get(id)
  return last?.prompt === prompt ? last.images : []
}

function keep(id: string, { text, comments }: Draft): void {
  try {
    if (text === '' && comments.length === 0) localStorage.removeItem(PREFIX + id)
    else localStorage.setItem(PREFIX + id, JSON.stringify({ text, comments }))
  } catch {
    // A full or forbidden storage: the draft lives as long as the page.
    return
  }
}

function stored(id: string): Draft {
  try {
    const { text, comments }: Partial<Draft> = JSON.parse(localStorage.getItem(PREFIX + id) ?? '{}')
    return { ...EMPTY, text: text ?? '', comments: comments ?? [] }
  } catch {
    return EMPTY
  }
}

/** The prompt with the comments on lines, each with its place and the line itself. */
export function promptOf({ text, comments }: Draft, nameOf: (path: string) => string): string {
  const notes = comments.map(({ path, place, line, text: comment }) => {
    const where = place.startsWith('-')
      ? `${nameOf(path)}, removed line ${place.slice(1)}`
      : `${nameOf(path)}:${place}`
    return `${where}\n> ${line.trim()}\n${comment}`
  })
  return [text.trim(), ...notes].filter(Boolean).join('\n\n')
}
