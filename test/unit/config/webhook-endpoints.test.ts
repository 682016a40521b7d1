import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWebhookEndpoints, WEBHOOK_EVENTS } from '../../../src/config/webhook-endpoints.ts';
import { temporaryFolder } from '../../support/databases.ts';

async function load(text: string, env: Record<string, string> = {}) {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'hooks.yaml');
  writeFileSync(path, text);
  return loadWebhookEndpoints(path, env);
}

describe('the file of webhook endpoints', () => {
  it('names endpoints, with every event but heads of audit logs, and masked numbers where nothing else is said', async () => {
    const { endpoints, problems } = await load('endpoints: [{ name: crm, url: "https://a.test/x", secretEnv: HOOK }]', {
      HOOK: 's',
    });
    expect(problems).toEqual([]);
    expect(endpoints).toMatchObject([{ name: 'crm', numbers: 'masked', words: false, allowPrivate: false, tenantId: 'default' }]);
    expect(endpoints[0]?.events).toEqual(WEBHOOK_EVENTS.filter((event) => event !== 'audit.head'));
    expect(endpoints[0]?.secret.reveal()).toBe('s');
    expect(JSON.stringify(endpoints)).not.toContain('"s"');
  });

  it('reports every problem and then gives none of them', async () => {
    const text = `endpoints:
      - { name: a, url: "http://a.test", secretEnv: HOOK }
      - { name: a, url: "https://a.test", secretEnv: NONE }`;
    const { endpoints, problems } = await load(text, { HOOK: 's' });
    expect(endpoints).toEqual([]);
    expect(problems.map(({ key }) => key)).toEqual(['endpoints.0.url', 'endpoints.1.name', 'endpoints.1.secretEnv']);
    expect((await load('endpoints: [{ name: A, url: x, secretEnv: HOOK, event: [] }]')).problems.length).toBeGreaterThan(1);
    expect((await load('{')).problems).toMatchObject([{ key: 'webhooks.endpoints' }]);
  });
});
