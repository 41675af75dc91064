import { isIP } from 'node:net'
import * as z from 'zod'

/** An IP address, or a range of them in CIDR notation. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const most = { 4: 32, 6: 128 }[isIP(address)]
  if (most === undefined || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
}

/** The part of the configuration that is about webhooks. */
export const WebhookSettings = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('where people open the page, for links; `node.url`, or where the server listens, by default'),
  private: z
    .array(z.string().refine(isAddressRange, 'an IP address, or a range such as 10.0.0.0/8'))
    .default([])
    .describe('addresses that webhooks may call although they are not public, also over plain http'),
  contact: z
    .string()
    .regex(/^(mailto:\S+@\S+|https:\/\/\S+)$/, 'a `mailto:` or https URL')
    .optional()
    .describe('whom a push service writes to if something is wrong; the page by default'),
})
