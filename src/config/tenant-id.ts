import { z } from 'zod';

/** The tenant of an installation that serves one company, and the one that operates the gateway where there are several. */
export const DEFAULT_TENANT = 'default';

export const tenantId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens, at most 63');

/** What a tenant's own account at a carrier is called wherever carriers are named: `twilio@acme`. The gateway's own account is `twilio`. */
export function accountName(carrier: string, tenant: string): string {
  return tenant === DEFAULT_TENANT ? carrier : `${carrier}@${tenant}`;
}

/** Tenant of an account; undefined for the gateway's own, which all tenants' numbers may be on. */
export function tenantOfAccount(account: string): string | undefined {
  const at = account.indexOf('@');
  return at === -1 ? undefined : account.slice(at + 1);
}
