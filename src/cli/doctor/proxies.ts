import { readText } from '../../kernel/bounded-reading.ts';
import { UNTRUSTED_PROXIES } from '../../observability/metrics.ts';
import type { RunningGateway } from '../running-gateways.ts';
import type { Check, CheckOutcome } from './check.ts';

const ANSWERS_WITHIN_MS = 5_000;
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
        const late = AbortSignal.timeout(ANSWERS_WITHIN_MS);
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
