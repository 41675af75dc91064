/// <reference lib="webworker" />
// Shows what the server sends to this device. It does nothing else: no cache, and no request of the page passes it.

self.addEventListener('push', (event) => {
  const { id, title, body, url } = event.data.json()
  const shown = self.registration.showNotification(title, {
    body,
    tag: id,
    data: { hash: new URL(url).hash },
  })
  event.waitUntil(shown)
})

// The page that registered this worker, at whatever address that is.
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const page = new URL(`../${event.notification.data.hash}`, self.location.href)
  event.waitUntil(open(page))
})

async function open(page) {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const found = windows.find(({ url }) => new URL(url).pathname === page.pathname)
  if (!found) return self.clients.openWindow(page.href)
  found.postMessage({ hash: page.hash })
  return found.focus()
}
