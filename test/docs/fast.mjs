// Loaded before a program of the pages: what plays at human speed plays fifty times as fast.
const { setTimeout } = globalThis
globalThis.setTimeout = (callback, ms, ...args) => setTimeout(callback, ms / 50, ...args)
