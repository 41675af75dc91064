/** Passes on each message until the socket closes, fails, does not open, or is abandoned by the caller. */
export function listen(
  socket: WebSocket,
  take: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      signal.removeEventListener('abort', over)
      socket.close()
      resolve()
    }
    socket.binaryType = 'arraybuffer'
    socket.addEventListener('message', ({ data }) => {
      if (!isOver) take(textOf(data))
    })
    socket.addEventListener('error', over)
    socket.addEventListener('close', over)
    signal.addEventListener('abort', over)
    if (signal.aborted) over()
  })
}

function textOf(data: unknown): string {
  return data instanceof ArrayBuffer ? new TextDecoder().decode(data) : String(data)
}
