import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { errorText } from '../kernel/errors.ts';
import type { Environment } from './env.ts';
import type { Problem } from './problem.ts';
import { Secret } from './secrets.ts';

/** Event types an endpoint can subscribe to. */
export const WEBHOOK_EVENTS = [
  'call.started',
  'turn.completed',
  'call.ended',
  'call.voicemail',
  'analysis.completed',
  'analysis.failed',
  'attempt.refused',
  'attempt.placed',
  'attempt.ringing',
  'attempt.answered',
  'attempt.ended',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.finished',
  'campaign.stopped',
  'audit.head',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** Events of endpoints without a list. Heads of the audit logs are only for an endpoint that stores them. */
const USUAL_EVENTS = WEBHOOK_EVENTS.filter((event) => event !== 'audit.head');

const endpointSettings = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens, at most 63'),
  url: z.url({ protocol: /^https?$/ }),
  /** All of them but `audit.head` where absent. */
  events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).default(USUAL_EVENTS),
  /** Environment variable (or `<NAME>_FILE`) of the signing secret: `whsec_` and base64, or any other text. */
  secretEnv: z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'the name of an environment variable, in capitals'),
  numbers: z.enum(['masked', 'full']).default('masked'),
  /** Whether what was said goes along with `turn.completed`. */
  words: z.boolean().default(false),
  /** Whether it may be on this machine or in a private network, and spoken to without TLS. */
  allowPrivate: z.boolean().default(false),
  tenantId: z.string().min(1).max(200).default('default'),
});

const endpointsFile = z.strictObject({ endpoints: z.array(endpointSettings).max(100) });

export interface WebhookEndpoint extends z.infer<typeof endpointSettings> {
  readonly secret: Secret;
}

/** Reads the file of webhook endpoints. @returns those that are sound, and every problem of the others */
export function loadWebhookEndpoints(path: string, env: Environment): { endpoints: WebhookEndpoint[]; problems: Problem[] } {
  const problem = (key: string, message: string): Problem => ({ key, where: path, message });
  let written: unknown;
  try {
    written = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return { endpoints: [], problems: [problem('webhooks.endpoints', `cannot be read: ${errorText(error)}`)] };
  }
  const parsed = endpointsFile.safeParse(written);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => problem(issue.path.map(String).join('.') || 'endpoints', issue.message));
    return { endpoints: [], problems };
  }
  const problems: Problem[] = [];
  const endpoints = parsed.data.endpoints.flatMap((endpoint, index) => {
    const key = `endpoints.${index}`;
    if (parsed.data.endpoints.findIndex(({ name }) => name === endpoint.name) !== index) {
      problems.push(problem(`${key}.name`, `${endpoint.name} stands twice`));
    }
    if (!endpoint.allowPrivate && !endpoint.url.startsWith('https:')) {
      problems.push(problem(`${key}.url`, 'only https, unless allowPrivate says otherwise'));
    }
    const secret = secretOf(endpoint.secretEnv, env);
    if (secret === undefined) {
      problems.push(problem(`${key}.secretEnv`, `neither ${endpoint.secretEnv} nor ${endpoint.secretEnv}_FILE gives a secret`));
      return [];
    }
    return [{ ...endpoint, secret }];
  });
  return { endpoints: problems.length === 0 ? endpoints : [], problems };
}

/** The secret in this variable, or in the file that `<NAME>_FILE` names; undefined where neither has one. */
export function secretOf(name: string, env: Environment): Secret | undefined {
  const file = env[`${name}_FILE`];
  try {
    const text = env[name] ?? (file === undefined ? '' : readFileSync(file, 'utf8').trim());
    return text === '' ? undefined : new Secret(text);
  } catch {
    return undefined;
  }
}
