import { join } from 'node:path';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import { readRoleMap } from '../config/console-roles.ts';
import type { LoadedConfig } from '../config/load.ts';
import type {
  CarrierFacts,
  EndpointOrders,
  MemberOrders,
  SettingsOrders,
  VendorFacts,
} from '../http/api/settings/settings-orders.ts';
import { API_KEY_USES_FILE, NotedApiKeys } from '../http/api/system/api-key-uses.ts';
import type { ApiKeyBook } from '../http/api/system/api-keys.ts';
import {
  type ConsoleKey,
  type ConsoleUser,
  LINK_LIFE_MS,
  type SealedLinks,
  type SignInLinks,
} from '../http/session/console-key.ts';
import { endSessionsOf } from '../http/session/sessions.ts';
import type { Clock } from '../kernel/clock.ts';
import type { MemberRepository } from '../records/members.ts';
import { testWebhook } from '../records/webhooks/deliver-webhook.ts';
import type { WebhookBook } from '../records/webhooks/webhook-book.ts';
import { vendors as every } from '../speech/vendors/registry.ts';

export interface SettingsParts {
  readonly config: Pick<LoadedConfig, 'settings' | 'secrets' | 'vendors'>;
  readonly webhooks: WebhookBook;
  readonly keys: ApiKeyBook;
  readonly carriers: OpenCarriers;
  /** Undefined without a console. */
  readonly console: { readonly links: SignInLinks | SealedLinks; readonly key: ConsoleKey } | undefined;
  readonly members: () => MemberRepository;
  readonly check: SettingsOrders['check'];
  readonly models: SettingsOrders['models'];
  readonly trySpeech: SettingsOrders['trySpeech'];
  readonly clock: Clock;
}

/** What the settings pages show and change of this gateway, and its API keys with their last use. */
export function settingsOrders(parts: SettingsParts): { readonly settings: SettingsOrders; readonly keys: ApiKeyBook } {
  const { config, carriers, clock } = parts;
  const { speech, dataDir } = config.settings;
  const keys = new NotedApiKeys(parts.keys, join(dataDir, API_KEY_USES_FILE), clock);
  const settings: SettingsOrders = {
    endpoints: endpointOrders(parts),
    members: memberOrders(parts),
    carriers: () => carrierFacts(carriers),
    speech: { recogniser: speech.recogniser, synthesizer: speech.synthesizer },
    vendors: () => vendorFacts(config.vendors),
    models: parts.models,
    trySpeech: parts.trySpeech,
    check: parts.check,
    keyUsedAtMs: (id) => keys.usedAtMs(id),
  };
  return { settings, keys };
}

function endpointOrders({ webhooks, config: { settings }, clock }: SettingsParts): EndpointOrders {
  const { timeoutMs } = settings.webhooks;
  return {
    readOnly:
      settings.cluster.address === undefined
        ? undefined
        : 'This gateway has several machines: put endpoints into the file of webhooks.endpoints on each of them.',
    all: () => webhooks.all,
    isConfigured: (endpoint) => webhooks.isConfigured(endpoint),
    add: (endpoint) => webhooks.add(endpoint),
    remove: (tenantId, name) => webhooks.remove(tenantId, name),
    test: (endpoint) => testWebhook(endpoint, { clock, timeoutMs }),
  };
}

function memberOrders({ console, members, config: { settings, secrets }, clock }: SettingsParts): MemberOrders | undefined {
  if (console === undefined) return undefined;
  const { links, key } = console;
  const { issuer, roleClaim, roles } = settings.console.openid;
  const mapped = readRoleMap(roles).roles;
  return {
    ways: [
      ...(secrets.adminPassword === undefined ? [] : (['password'] as const)),
      ...(issuer === undefined ? [] : (['openid'] as const)),
      'link',
    ],
    openid: issuer === undefined ? undefined : { issuer, roleClaim, roles: mapped },
    get members() {
      return members();
    },
    hasOtherAdmin: secrets.adminPassword !== undefined || (issuer !== undefined && [...mapped.values()].includes('admin')),
    async invite(user: ConsoleUser) {
      const nowMs = clock.wallMs();
      return { code: await links.make(user, nowMs), untilMs: nowMs + LINK_LIFE_MS };
    },
    endSessions: (name) => endSessionsOf(key, name, clock.wallMs()),
  };
}

/** Carriers of the gateway itself; accounts of tenants are theirs. */
function carrierFacts(carriers: OpenCarriers): CarrierFacts[] {
  return [...carriers.values()]
    .filter(({ carrier }) => !carrier.name.includes('@'))
    .map(({ carrier: { name, title, proof, controlEnvName }, loopbackOnly, control }) => ({
      name,
      title,
      state: loopbackOnly ? 'local' : 'proven',
      hasControl: control !== undefined,
      needs: [...(proof === undefined ? [] : [proof.envName]), ...(controlEnvName === undefined ? [] : [controlEnvName])],
    }));
}

function vendorFacts(configs: LoadedConfig['vendors']): VendorFacts[] {
  return every.map(({ name, title, services, prices, needs }) => ({
    name,
    title,
    services,
    needs,
    prices,
    isConfigured: Object.values(configs.get(name)?.secrets ?? {}).some((secrets) => secrets.length > 0),
  }));
}
