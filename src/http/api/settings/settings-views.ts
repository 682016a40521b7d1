import { z } from 'zod';
import { ROLES } from '../../../config/console-roles.ts';
import { WEBHOOK_EVENTS } from '../../../config/webhook-endpoints.ts';
import { API_SCOPES } from '../system/api-keys.ts';

const wallTime = z.iso.datetime();

const apiKeyView = z.object({
  id: z.string(),
  name: z.string(),
  tenant: z.string(),
  scopes: z.array(z.enum(API_SCOPES)),
  createdAt: wallTime,
  /** As this machine saw it, to the minute; null for one that it never saw. */
  lastUsedAt: wallTime.nullable(),
});
export const apiKeysView = z.object({ keys: z.array(apiKeyView) });
/** `key` is shown once: null in the answer to a repeated request. */
export const newApiKeyView = apiKeyView.extend({ key: z.string().nullable() });

const endpointView = z.object({
  name: z.string(),
  /** Without credentials and query. */
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  numbers: z.enum(['masked', 'full']),
  words: z.boolean(),
  /** `settings`: changed in the file of `webhooks.endpoints` alone. */
  from: z.enum(['settings', 'console']),
});
export const endpointsView = z.object({
  endpoints: z.array(endpointView),
  /** Every event that an endpoint can be sent. */
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  /** Why none is added here; null where they are. */
  readOnly: z.string().nullable(),
});
/** `secret` is shown once: null in the answer to a repeated request. */
export const newEndpointView = endpointView.extend({ secret: z.string().nullable() });
export const testView = z.object({ ok: z.boolean(), status: z.int().nullable(), problem: z.string().nullable() });

export const memberView = z.object({
  /** Null for a member by the settings. */
  id: z.string().nullable(),
  /** A name, an e-mail address, or a value of the issuer's claim. */
  name: z.string(),
  role: z.enum(ROLES),
  /** The setting that makes them a member, which is the only place to change that; null for one who was added here. */
  setting: z.string().nullable(),
  createdBy: z.string().nullable(),
  createdAt: wallTime.nullable(),
});
export const membersView = z.object({
  ways: z.array(z.enum(['password', 'openid', 'link'])),
  /** Values of the issuer's claim, and the role of each. */
  openid: z
    .object({ issuer: z.string(), roleClaim: z.string(), roles: z.array(z.object({ value: z.string(), role: z.enum(ROLES) })) })
    .nullable(),
  roles: z.array(z.object({ role: z.enum(ROLES), scopes: z.array(z.enum(API_SCOPES)) })),
  /** By the settings first, then oldest first. */
  members: z.array(memberView),
  /** People who signed in lately, each with the last time; newest first. */
  seen: z.array(z.object({ name: z.string(), way: z.string(), at: wallTime })),
});
/** `path` signs in once, below the console's address; null in the answer to a repeated request. */
export const invitationView = z.object({ path: z.string().nullable(), expiresAt: wallTime });

export const newMemberView = invitationView.extend({ member: memberView });

export const carriersView = z.object({
  carriers: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      state: z.enum(['proven', 'local']),
      hasControl: z.boolean(),
      needs: z.array(z.string()),
    }),
  ),
  /** Masked without `numbers:read`. */
  numbers: z.array(z.object({ number: z.string(), bot: z.string() })),
  /** The bot of every other number. */
  defaultBot: z.string().nullable(),
  /** Whether checks can be run here. */
  hasChecks: z.boolean(),
});
export const checksView = z.object({
  checks: z.array(
    z.object({ name: z.string(), ok: z.boolean(), detail: z.string(), advice: z.string().nullable(), ms: z.int() }),
  ),
});

export const speechView = z.object({
  recogniser: z.string(),
  synthesizer: z.string(),
  /** Whether a sentence can be tried, and models fetched, from here. */
  canTry: z.boolean(),
  canGet: z.boolean(),
  vendors: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      services: z.array(z.string()),
      isConfigured: z.boolean(),
      needs: z.string(),
      prices: z.array(z.object({ service: z.string(), model: z.string(), price: z.string(), asOf: z.string() })),
    }),
  ),
  models: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      role: z.string(),
      languages: z.array(z.string()),
      licence: z.string(),
      licenceFrom: z.string(),
      note: z.string().nullable(),
      bytes: z.int().nullable(),
      isInstalled: z.boolean(),
      usedFor: z.array(z.string()),
      /** Words wrong in streams, on recordings of people at 8 kHz. */
      wordErrors: z.object({ percent: z.number(), recordings: z.int(), words: z.int(), on: z.string() }).nullable(),
      /** Memory and processor time, in words. */
      measured: z.string().nullable(),
    }),
  ),
});
/** `done` and `all` are bytes of the step. */
export const modelJobView = z.object({
  job: z
    .object({
      model: z.string(),
      state: z.enum(['running', 'done', 'failed', 'cancelled']),
      step: z.enum(['begin', 'download', 'check', 'unpack', 'library', 'open']),
      done: z.int(),
      all: z.int().nullable(),
      problem: z.string().nullable(),
      startedAt: wallTime,
      endedAt: wallTime.nullable(),
    })
    .nullable(),
});
/** `wav` is in base64: mono, 8 kHz. */
export const speechTrialView = z.object({
  wav: z.string(),
  heard: z.string(),
  synthesizer: z.string(),
  recogniser: z.string(),
  firstAudioMs: z.int(),
  finalMs: z.int().nullable(),
});

export type ApiKeysView = z.output<typeof apiKeysView>;
export type NewApiKeyView = z.output<typeof newApiKeyView>;
export type EndpointsView = z.output<typeof endpointsView>;
export type NewEndpointView = z.output<typeof newEndpointView>;
export type TestView = z.output<typeof testView>;
export type MembersView = z.output<typeof membersView>;
export type MemberView = z.output<typeof memberView>;
export type NewMemberView = z.output<typeof newMemberView>;
export type InvitationView = z.output<typeof invitationView>;
export type CarriersView = z.output<typeof carriersView>;
export type ChecksView = z.output<typeof checksView>;
export type SpeechView = z.output<typeof speechView>;
export type ModelJobView = z.output<typeof modelJobView>;
export type SpeechTrialView = z.output<typeof speechTrialView>;
