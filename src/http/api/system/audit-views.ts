import { z } from 'zod';

/** One entry of the audit log. */
export const auditEventView = z.object({
  at: z.iso.datetime(),
  /** The id of a key, `console` and a user's name, or a command. */
  by: z.string(),
  /** For example `live-call.mute`; `look` for access to personal values. */
  action: z.string(),
  /** The id of a call; for a look, the API path. */
  subject: z.string(),
  outcome: z.enum(['done', 'refused', 'failed']),
});
/** `head`: the gateway's own entries on the log of dialling decisions; only listed on request. */
export const AUDIT_KINDS = ['look', 'session', 'change', 'head'] as const;
export const auditPageView = z.object({ events: z.array(auditEventView), next: z.string().nullable() });
