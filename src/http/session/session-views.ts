import { z } from 'zod';
import { ROLES, type Role } from '../../config/console-roles.ts';
import { API_SCOPES, type ApiScope } from '../api/system/api-keys.ts';

export { ROLES, type Role };

const viewer: readonly ApiScope[] = [
  'calls:read',
  'analyses:read',
  'campaigns:read',
  'dialling:read',
  'bots:read',
  'system:read',
];
const listener: readonly ApiScope[] = [...viewer, 'calls:review', 'recordings:read', 'calls:listen'];
const operator: readonly ApiScope[] = [
  ...listener,
  'numbers:read',
  'calls:talk',
  'calls:control',
  'calls:dial',
  'campaigns:write',
  'dialling:write',
  'analyses:write',
  'bots:write',
  'settings:read',
];

/** Scopes of each role; numbers are masked without `numbers:read`. */
export const SCOPES_OF: Readonly<Record<Role, readonly ApiScope[]>> = { viewer, listener, operator, admin: API_SCOPES };

/** The signed-in user and the ways to sign in: the answer of `GET /api/session`, with or without a session. */
export const sessionView = z.object({
  user: z.object({ name: z.string(), role: z.enum(ROLES) }).nullable(),
  /** The user's scopes; empty without one. */
  scopes: z.array(z.enum(API_SCOPES)),
  /** For the header `x-csrf-token` of changing requests; null without a session. */
  csrf: z.string().nullable(),
  /** `link`: by an address that `offhook console` prints. */
  ways: z.array(z.enum(['password', 'openid', 'link'])),
  /** Version of Offhook. */
  version: z.string(),
});
export type Session = z.output<typeof sessionView>;
