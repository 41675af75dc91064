import { randomBytes } from 'node:crypto'
import { type Frame, jsonFrame } from '../framing/frame.ts'

/** The login of one run. A server hands its environment to the tools it runs, so what they print may repeat it. */
export class ServerSecret {
  readonly password = randomBytes(32).toString('base64url')
  /** As basic authentication wants it. */
  readonly auth: string
  /** Every form in which the login may appear in text. */
  readonly forms: readonly string[]

  constructor(user: string) {
    this.auth = `${user}:${this.password}`
    this.forms = [this.password, Buffer.from(this.auth).toString('base64')]
  }

  /** The frame without the password, in place of which stands its length. */
  mask(frame: Frame): Frame {
    let { text } = frame
    for (const secret of this.forms) text = text.replaceAll(secret, `[masked:${secret.length}]`)
    if (text === frame.text) return frame
    return frame.stream === 'stderr' ? { stream: 'stderr', text } : jsonFrame(frame.stream, text)
  }
}
