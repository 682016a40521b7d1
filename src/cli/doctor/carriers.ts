import type { Carrier } from '../../carriers/carrier.ts';
import { controlOf, isConfigured } from '../../carriers/open-carriers.ts';
import { carriers as every } from '../../carriers/registry.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import type { Clock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { isPublicAddress, type ResolveName, resolveName } from '../../kernel/public-address.ts';
import { UNTRUSTED_PROXIES } from '../../observability/metrics.ts';
import type { RunningGateway } from '../running-gateways.ts';
import type { Check, CheckOutcome } from './check.ts';

/** Signatures with a time in them are believed for minutes; a clock that is off by this much is wrong and will be more so. */
const MOST_SKEW_MS = 30_000;
const ANSWERS_WITHIN_MS = 10_000;

/** What a check asks of the world. */
export interface CarrierChecksWorld {
  readonly clock: Clock;
  readonly resolve?: ResolveName;
  readonly fetch?: typeof fetch;
}

/** For each configured carrier: its account and its clock; and once, whether carriers reach this gateway's address. */
export function carrierChecks(
  { settings, carriers: configs }: Pick<LoadedConfig, 'settings' | 'carriers'>,
  world: CarrierChecksWorld,
  carriers: readonly Carrier[] = every,
): readonly Check[] {
  const configured = carriers.filter((carrier) => isConfigured(carrier, configs) || controlOf(carrier, configs) !== undefined);
  if (configured.length === 0) return [];
  return [
    ...configured.map((carrier) => accountCheck(carrier, configs, world)),
    addressCheck(settings.publicUrl, configured, world),
  ];
}

/** Whether the carriers of a running gateway return playout marks, as their latest calls have shown. */
export function marksCheck(gatewayUrl: string, { fetch: ask = fetch }: Pick<CarrierChecksWorld, 'fetch'> = {}): Check {
  return {
    name: 'playout marks',
    advice:
      'have whatever stands between carrier and gateway return each mark under its name; until then, what was heard is estimated',
    async run(signal): Promise<CheckOutcome> {
      const late = AbortSignal.timeout(ANSWERS_WITHIN_MS);
      let numbers: string;
      try {
        numbers = await (await ask(`${gatewayUrl}/metrics`, { signal: AbortSignal.any([signal, late]) })).text();
      } catch (error) {
        return { ok: true, detail: `are not known: ${gatewayUrl} does not answer: ${errorTextWithCause(error)}` };
      }
      const missing = [...numbers.matchAll(/^offhook_carrier_marks_missing\{carrier="([\w-]+)"\} [1-9]/gmu)].map(
        ([, name = '']) => name,
      );
      const titles = missing.map((name) => every.find((carrier) => carrier.name === name)?.title ?? name);
      if (titles.length > 0)
        return { ok: false, detail: `the latest call of ${titles.join(', ')} got too few of its marks back` };
      return { ok: true, detail: 'no carrier of the running gateway was seen to lose them' };
    },
  };
}

function accountCheck(carrier: Carrier, configs: LoadedConfig['carriers'], { clock }: CarrierChecksWorld): Check {
  const { title, controlEnvName } = carrier;
  return {
    name: `${title} account`,
    advice: `check ${controlEnvName} and its secret against the carrier's console`,
    async run(signal): Promise<CheckOutcome> {
      const control = controlOf(carrier, configs, clock);
      if (control === undefined) {
        const missing =
          carrier.offers.transfer === 'rest' || carrier.offers.dials ? `; ${controlEnvName} would let bots act on them` : '';
        return { ok: true, detail: `calls are believed by their proof${missing}` };
      }
      if (control.check === undefined)
        return { ok: true, detail: 'is configured; nothing at the carrier can be asked without a call' };
      const askedMs = clock.wallMs();
      const { carrierWallMs } = await control.check(signal);
      // The answer's date is in whole seconds, and came at some time between.
      const [earliestMs, latestMs] = [askedMs - 1_000, clock.wallMs()];
      const skewMs = carrierWallMs < earliestMs ? earliestMs - carrierWallMs : Math.max(0, carrierWallMs - latestMs);
      const seconds = Math.round(skewMs / 1000);
      if (skewMs <= MOST_SKEW_MS)
        return { ok: true, detail: `credentials are accepted, and the clocks agree to ${seconds || 1} s` };
      const which = carrierWallMs < earliestMs ? 'ahead of' : 'behind';
      const detail = `credentials are accepted, but this machine's clock is ${seconds} s ${which} the carrier's`;
      return { ok: false, detail, advice: 'set the clock by NTP: signatures carry times, and are refused' };
    },
  };
}

function addressCheck(
  publicUrl: string | undefined,
  configured: readonly Carrier[],
  { resolve = resolveName, fetch: ask = fetch }: CarrierChecksWorld,
): Check {
  const remote = configured.filter(({ offers }) => offers.ownPremises !== true);
  const titles = (remote.length > 0 ? remote : configured).map(({ title }) => title).join(', ');
  return {
    name: 'address for carriers',
    advice: `set OFFHOOK_PUBLIC_URL to the address that ${titles} can reach`,
    async run(signal): Promise<CheckOutcome> {
      if (publicUrl === undefined)
        return remote.length === 0
          ? { ok: true, detail: 'OFFHOOK_PUBLIC_URL is not set: only this machine reaches the gateway' }
          : { ok: false, detail: 'OFFHOOK_PUBLIC_URL is not set' };
      const { protocol, hostname } = new URL(publicUrl);
      if (protocol !== 'https:' && remote.length > 0)
        return {
          ok: false,
          detail: `${publicUrl} is not https`,
          advice: `${titles} ask for https and wss: put a proxy in front that ends TLS`,
        };
      const host = hostname.replace(/^\[|\]$/gu, '');
      let addresses: readonly string[];
      try {
        addresses = (await resolve(host)).map(({ address }) => address);
      } catch (error) {
        return {
          ok: false,
          detail: `${host} does not resolve: ${errorTextWithCause(error)}`,
          advice: 'correct the name, or its DNS record',
        };
      }
      const hidden = addresses.filter((address) => !isPublicAddress(address));
      if (hidden.length > 0 && remote.length > 0)
        return { ok: false, detail: `${host} is ${hidden.join(', ')}, which ${titles} cannot reach from outside` };
      return healthAt(publicUrl, signal, ask);
    },
  };
}

/** Asks the gateway through its public address, as a carrier would: name, TLS and proxy have to be right for it. */
async function healthAt(publicUrl: string, signal: AbortSignal, ask: typeof fetch): Promise<CheckOutcome> {
  const start = 'start the gateway, let the proxy in front of it pass /healthz, and run this again';
  try {
    const late = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const url = `${publicUrl.replace(/\/+$/u, '')}/healthz`;
    const response = await ask(url, { signal: AbortSignal.any([signal, late]), redirect: 'manual' });
    const body = (await response.text()).slice(0, 200);
    if (response.ok && body.replaceAll(/\s/gu, '') === '{"status":"ok"}')
      return { ok: true, detail: `${publicUrl} answers as this gateway` };
    return { ok: false, detail: `${url} answered ${response.status}, and not as a gateway`, advice: start };
  } catch (error) {
    const detail = `${publicUrl} does not answer: ${errorTextWithCause(error)}`;
    return { ok: false, detail, advice: `${start}; where only this network cannot reach it, ask from another one` };
  }
}

const METRICS_WITHIN_MS = 5_000;
const MOST_BYTES = 4 * 1024 ** 2;
const PROXY = new RegExp(`^${UNTRUSTED_PROXIES}\\{address="([^"]+)"\\} 1$`, 'gmu');

/** Whether requests came to a running gateway through a proxy that `http.trustedProxies` does not have. */
export function proxyCheck(gateways: readonly Pick<RunningGateway, 'url'>[], ask: typeof fetch = fetch): Check {
  return {
    name: 'proxies',
    advice: 'restart the gateway and run this again',
    async run(signal): Promise<CheckOutcome> {
      const found = new Set<string>();
      for (const { url } of gateways) {
        const late = AbortSignal.timeout(METRICS_WITHIN_MS);
        const response = await ask(`${url}/metrics`, { signal: AbortSignal.any([signal, late]) });
        const text = await readText(response, MOST_BYTES);
        for (const [, address = ''] of text.matchAll(PROXY)) found.add(address);
      }
      if (found.size === 0) return { ok: true, detail: 'no proxy is unknown to the running gateway' };
      const addresses = [...found].join(', ');
      return {
        ok: false,
        detail: `requests came through ${addresses}, and all visitors behind it count as one address`,
        advice: `if that is your proxy, set http.trustedProxies (OFFHOOK_HTTP__TRUSTED_PROXIES) to ${addresses}; else find out who sends X-Forwarded-For from there`,
      };
    },
  };
}
