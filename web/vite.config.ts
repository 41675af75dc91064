import { join } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { licenseNotices } from './license-notices.ts'

const root = import.meta.dirname

export default defineConfig({
  root,
  // Relative, so that the page also works below a path of a reverse proxy.
  base: './',
  plugins: [react(), tailwindcss(), licenseNotices()],
  resolve: { alias: { 'mainstem/client': join(root, '../src/client/index.ts') } },
  build: {
    outDir: join(root, '../dist/web'),
    emptyOutDir: true,
    target: 'es2023',
    // The content security policy has no place for inline scripts or data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
