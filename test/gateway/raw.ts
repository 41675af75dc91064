import { connect } from 'node:net'

/** Sends bytes as they are and returns everything that comes back until the server closes. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

export function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1])
}
