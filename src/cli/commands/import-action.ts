import { Readable } from 'node:stream'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { connect, type ServerFlags } from '../contexts/connect.ts'
import { openNamed } from '../named-path.ts'
import { MAINSTEM } from '../own-command.ts'
import { shortId } from '../turn/session-ref.ts'

export async function importSession(file: string, flags: ServerFlags): Promise<void> {
  const exported = file === '-' ? process.stdin : (await openNamed(file)).createReadStream()
  const { client } = await connect(flags)
  try {
    const { id, entries, isNew } = await client.import(Readable.toWeb(exported))
    // Alone on its line, so that a script can use it.
    console.log(id)
    console.error(
      `${isNew ? `imported ${entries} entries` : 'already there'}: ${MAINSTEM} logs ${shortId(id)}`,
    )
  } catch (thrown) {
    if (!(thrown instanceof MainstemError)) throw thrown
    const { code, message, details } = thrown
    throw new MainstemError(code, `${file}: ${message}`, details, { cause: thrown })
  } finally {
    exported.destroy()
  }
}
