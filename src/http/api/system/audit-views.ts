import { z } from 'zod';

/** One entry of the audit log. */
export const auditEventView = z.object({
  at: z.iso.datetime(),
  /** The id of a key, `console` and the name of one of its people, or a command. */
  by: z.string(),
  /** For example `live-call.mute`; `look` for a look at personal values. */
  action: z.string(),
  /** The id of a call, or of a look the path in the API. */
  subject: z.string(),
  outcome: z.enum(['done', 'refused', 'failed']),
});
/** `head` is what the gateway itself writes of the log of dialling decisions; it comes only where it is asked for. */
export const AUDIT_KINDS = ['look', 'session', 'change', 'head'] as const;
export const auditPageView = z.object({ events: z.array(auditEventView), next: z.string().nullable() });
