import { z } from 'zod';
import { HEAD_ACTION } from '../../../records/retention/audit-heads.ts';
import type { ApiApp, ApiDeps } from '../api-app.ts';
import { AUDIT_KINDS, auditPageView } from './audit-views.ts';

const auditQuery = z.strictObject({
  kind: z.enum(AUDIT_KINDS).optional(),
  /** A part of the author, the action or the subject. */
  text: z.string().trim().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.coerce.number().int().min(1).optional(),
});

/** Audit log entries, newest first. */
export function auditRoutes(app: ApiApp, { audit }: ApiDeps): void {
  if (audit === undefined) return;
  app.get(
    '/audit',
    {
      config: { scope: 'audit:read' },
      schema: {
        summary: 'Who did what, and who looked at personal values, newest first',
        querystring: auditQuery,
        response: { 200: auditPageView },
      },
    },
    async ({ principal, query: { kind, text, limit, cursor } }) => {
      const part = text?.toLowerCase();
      const { lines, before } = await audit.page(
        ({ tenantId, by, action, subject }) =>
          tenantId === principal.tenantId &&
          (kind === undefined ? kindOf(action) !== 'head' : kindOf(action) === kind) &&
          (part === undefined || [by, action, subject].some((each) => each.toLowerCase().includes(part))),
        { limit, before: cursor },
      );
      const events = lines.map(({ at, by, action, subject, outcome }) => ({ at, by, action, subject, outcome }));
      return { events, next: before === undefined ? null : String(before) };
    },
  );
}

function kindOf(action: string): (typeof AUDIT_KINDS)[number] {
  if (action === 'look') return 'look';
  if (action === HEAD_ACTION) return 'head';
  return action.startsWith('session.') ? 'session' : 'change';
}
