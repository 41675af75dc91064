/** All bytes of a blob that is read in pieces. */
export async function blobBytes(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces))
}
