import { describe, expect, it } from 'vitest';
import { proxyCheck } from '../../../src/cli/doctor/carriers.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';

async function checked(...proxies: string[]) {
  const metrics = createMetrics();
  for (const address of proxies) metrics.untrustedProxy(address);
  const { body } = await metrics.render();
  const asked: string[] = [];
  const ask = async (url: unknown): Promise<Response> => {
    asked.push(String(url));
    return new Response(body);
  };
  const outcome = await proxyCheck([{ url: 'http://127.0.0.1:8080' }], ask).run(new AbortController().signal);
  return { asked, outcome };
}

describe('the check of proxies', () => {
  it('says which setting a proxy needs that a running gateway has seen', async () => {
    const { asked, outcome } = await checked('10.0.0.5', 'fd00::5');
    expect(asked).toEqual(['http://127.0.0.1:8080/metrics']);
    expect(outcome).toMatchObject({
      ok: false,
      detail: expect.stringContaining('10.0.0.5, fd00::5'),
      advice: expect.stringContaining('OFFHOOK_HTTP__TRUSTED_PROXIES) to 10.0.0.5, fd00::5'),
    });
  });

  it('is content where no unknown proxy was seen', async () => {
    expect((await checked()).outcome.ok).toBe(true);
  });
});
