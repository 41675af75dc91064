import { extname } from 'node:path'
import type { ToWriter, WriterSettings } from './message.ts'
import { ThreadChannel } from './thread-channel.ts'

/** The channel to the writer thread. */
export type WriterChannel = ThreadChannel<ToWriter, undefined>

/** Resolves when the files are open and locked. */
export async function startWriter(settings: WriterSettings): Promise<WriterChannel> {
  // `.ts` in the source tree, `.js` in the package.
  const script = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url)
  const channel: WriterChannel = new ThreadChannel(script, settings, 'the store cannot be written any more')
  try {
    await channel.answer()
    return channel
  } catch (thrown) {
    await channel.close()
    throw thrown
  }
}
