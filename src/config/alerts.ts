import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { errorText } from '../kernel/errors.ts';
import type { Environment } from './env.ts';
import { complaint, type Problem } from './problem.ts';
import type { Secret } from './secrets.ts';
import { optionalText } from './setting.ts';
import { secretOf } from './webhook-endpoints.ts';
import { readYaml } from './yaml-document.ts';

/** What a rule looks at; see docs/costs.md. Shares are 0 to 1. */
export const ALERT_FIGURES = [
  'reply-p50-ms',
  'reply-p95-ms',
  'cut-off-share',
  'interrupted-share',
  'failed-share',
  'not-understood-share',
  'given-up-share',
  'transferred-share',
  'calls',
  'spend-today',
  'problems',
] as const;

/** Where alert channels and rules are. */
export const alertSettings = z.object({
  file: optionalText('YAML file of alert channels (webhook, mail, Slack) and rules (docs/costs.md#alerts); unset: no alerts'),
});

const channelName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens, at most 63');
const envName = z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'the name of an environment variable, in capitals');
/** Whether it may be on this machine or in a private network, and spoken to without TLS. */
const allowPrivate = z.boolean().default(false);

const channel = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('webhook'),
    name: channelName,
    url: z.url({ protocol: /^https?$/ }),
    /** Environment variable (or `<NAME>_FILE`) of the signing secret. */
    secretEnv: envName,
    allowPrivate,
  }),
  z.strictObject({
    kind: z.literal('mail'),
    name: channelName,
    host: z.hostname(),
    port: z.int().min(1).max(65_535).default(587),
    /** `tls` from the first byte, `starttls` before anything is said, or `none`. */
    security: z.enum(['tls', 'starttls', 'none']).default('starttls'),
    user: z.string().min(1).max(200).optional(),
    /** Environment variable (or `<NAME>_FILE`) of the password; required with `user`. */
    passwordEnv: envName.optional(),
    from: z.email(),
    to: z.array(z.email()).min(1).max(20),
    allowPrivate,
  }),
  z.strictObject({
    kind: z.literal('slack'),
    name: channelName,
    /** Environment variable (or `<NAME>_FILE`) of the incoming webhook's address, which is a secret. */
    urlEnv: envName,
    allowPrivate,
  }),
]);

const rule = z
  .strictObject({
    name: z.string().min(1).max(100),
    figure: z.enum(ALERT_FIGURES),
    /** Fires above, or below, this value. */
    above: z.number().optional(),
    below: z.number().optional(),
    /** Calls that began within this time, and have ended. */
    windowMinutes: z.int().min(1).max(1440).default(15),
    /** With fewer calls nothing is decided. */
    minimumCalls: z.int().min(0).max(1_000_000).optional(),
    /** Only calls of this bot. */
    bot: z.string().min(1).max(63).optional(),
    /** Problems of this severity or worse; for `problems`. */
    severity: z.enum(['warning', 'error']).default('error'),
    /** After a notice, the same rule is silent for this long. */
    coolDownMinutes: z.int().min(0).max(10_080).default(60),
    /** Whether the end is told too. */
    resolved: z.boolean().default(true),
    /** All channels when absent. */
    channels: z.array(channelName).min(1).optional(),
  })
  .refine(({ above, below }) => (above === undefined) !== (below === undefined), 'needs either above or below, and not both');

const alertsFile = z.strictObject({ channels: z.array(channel).min(1).max(20), rules: z.array(rule).max(100).default([]) });

type Written = z.output<typeof channel>;
export type AlertRule = z.output<typeof rule>;
export type WebhookChannel = Written & { readonly kind: 'webhook' } & { readonly secret: Secret };
export type MailChannel = Written & { readonly kind: 'mail' } & { readonly password: Secret | undefined };
export type SlackChannel = Written & { readonly kind: 'slack' } & { readonly url: Secret };
export type AlertChannel = WebhookChannel | MailChannel | SlackChannel;

export interface Alerts {
  readonly channels: readonly AlertChannel[];
  readonly rules: readonly AlertRule[];
}

export const NO_ALERTS: Alerts = { channels: [], rules: [] };

/** Reads the file of alert channels and rules. @returns no alerts where it has problems */
export function loadAlerts(path: string, env: Environment): { readonly alerts: Alerts; readonly problems: readonly Problem[] } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const message = `cannot be read: ${errorText(error)}`;
    return { alerts: NO_ALERTS, problems: [{ key: 'alerts.file', where: path, message }] };
  }
  const document = readYaml(text, path);
  if ('problem' in document) return { alerts: NO_ALERTS, problems: [document.problem] };
  const problem = (keys: readonly PropertyKey[], message: string): Problem => ({
    key: keys.map(String).join('.') || 'alerts',
    where: document.whereOf(keys),
    message,
  });
  const parsed = alertsFile.safeParse(document.written);
  if (!parsed.success)
    return {
      alerts: NO_ALERTS,
      problems: parsed.error.issues.map(({ path: keys, message }) => problem(keys, complaint(message, {}).message)),
    };
  const problems: Problem[] = [];
  const channels = parsed.data.channels.flatMap((each, at) => {
    const opened = openedChannel(each, env, (key, message) => problems.push(problem(['channels', at, key], message)));
    return opened === undefined ? [] : [opened];
  });
  const names = parsed.data.channels.map(({ name }) => name);
  for (const [at, name] of names.entries())
    if (names.indexOf(name) !== at) problems.push(problem(['channels', at, 'name'], `${name} stands twice`));
  for (const [at, { name, channels: wanted = [] }] of parsed.data.rules.entries()) {
    const unknown = wanted.find((each) => !names.includes(each));
    if (unknown !== undefined) problems.push(problem(['rules', at, 'channels'], `there is no channel ${unknown}`));
    if (parsed.data.rules.findIndex((each) => each.name === name) !== at)
      problems.push(problem(['rules', at, 'name'], `${name} stands twice`));
  }
  return { alerts: problems.length === 0 ? { channels, rules: parsed.data.rules } : NO_ALERTS, problems };
}

/** A channel with its secrets. @returns undefined where one is missing, which was told */
function openedChannel(each: Written, env: Environment, tell: (key: string, message: string) => void): AlertChannel | undefined {
  const secret = (key: string, name: string): Secret | undefined => {
    const found = secretOf(name, env);
    if (found === undefined) tell(key, `neither ${name} nor ${name}_FILE gives a secret`);
    return found;
  };
  switch (each.kind) {
    case 'webhook': {
      if (!each.allowPrivate && !each.url.startsWith('https:')) tell('url', 'only https, unless allowPrivate says otherwise');
      const found = secret('secretEnv', each.secretEnv);
      return found && { ...each, secret: found };
    }
    case 'mail': {
      if (each.user === undefined) return { ...each, password: undefined };
      if (each.security === 'none' && !each.allowPrivate)
        tell('security', 'a password is only sent over TLS, unless allowPrivate says otherwise');
      if (each.passwordEnv === undefined) tell('passwordEnv', 'is required with user');
      const password = each.passwordEnv === undefined ? undefined : secret('passwordEnv', each.passwordEnv);
      return password && { ...each, password };
    }
    case 'slack': {
      const url = secret('urlEnv', each.urlEnv);
      const address = url === undefined ? null : URL.parse(url.reveal());
      if (url !== undefined && (address === null || (address.protocol !== 'https:' && !each.allowPrivate)))
        tell('urlEnv', `${each.urlEnv} is no https address`);
      return url && { ...each, url };
    }
  }
}
