import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles.css'
import { App } from './app/app.tsx'
import { enter } from './app/client.ts'
import { takeTicket } from './app/navigation.ts'
import { applyTheme } from './app/theme.ts'

applyTheme()
void enter(takeTicket())
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
