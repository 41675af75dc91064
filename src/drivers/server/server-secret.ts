import { randomBytes } from 'node:crypto'
import { type Frame, jsonFrame } from '../../framing/frame.ts'

/** The login of one run. A server passes its environment to its tools, so their output may contain the login. */
export class ServerSecret {
  readonly password: string
  /** The value for HTTP basic authentication. */
  readonly auth: string
  /** Every form in which the login may appear in text. */
  readonly forms: readonly string[]

  constructor(user: string, password = randomBytes(32).toString('base64url')) {
    this.password = password
    this.auth = `${user}:${this.password}`
    this.forms = [this.password, Buffer.from(this.auth).toString('base64')]
  }

  /** Replaces the login in a frame with `[masked:<length>]`. */
  mask(frame: Frame): Frame {
    let { text } = frame
    for (const secret of this.forms) text = text.replaceAll(secret, `[masked:${secret.length}]`)
    if (text === frame.text) return frame
    const masked = frame.stream === 'stderr' ? { text } : jsonFrame(frame.stream, text)
    return { ...frame, ...masked }
  }
}
