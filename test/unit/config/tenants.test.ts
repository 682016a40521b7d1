import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { placingMeans, wantedAccount } from '../../../src/config/tenants.ts';
import { temporaryFolder } from '../../support/databases.ts';

async function load(text: string) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'tenants.yaml');
  writeFileSync(file, text);
  const env = {
    OFFHOOK_TENANTS__FILE: file,
    OFFHOOK_DIALLING__CALLER_IDS: '+12125550100',
    TOKEN: 'secret',
    OFFHOOK_TWILIO_AUTH_TOKEN: 'own',
  };
  return loadConfig({ env, files: [] });
}

const SOUND = `tenants:
  - id: default
    carriers: { twilio: { publicUrl: "https://voice.operator.example/" } }
  - id: acme
    publicUrl: https://voice.acme.example
    callerIds: ["+12125550101", "+12125550102@twilio"]
    carriers:
      twilio: { secrets: { authToken: TOKEN } }
      plivo: { publicUrl: "https://plivo.acme.example", secrets: { authToken: TOKEN } }
  - { id: brand, calls: 3, callerIds: ["+12125550103@twilio"] }
`;

it("reads each tenant's accounts, addresses, numbers and limit, and keeps the gateway's own accounts", async () => {
  const { tenants, carriers, problems } = await load(SOUND);
  expect(problems).toEqual([]);
  expect(tenants.map(({ id, calls }) => [id, calls])).toEqual([
    ['default', undefined],
    ['acme', undefined],
    ['brand', 3],
  ]);
  const addresses = ['twilio', 'twilio@acme', 'plivo', 'plivo@acme'].map((name) => carriers.get(name)?.publicUrl);
  expect(addresses).toEqual([
    'https://voice.operator.example',
    'https://voice.acme.example',
    undefined,
    'https://plivo.acme.example',
  ]);
  expect(carriers.get('twilio@acme')?.secrets['authToken']?.map((each) => each.reveal())).toEqual(['secret']);
  expect(carriers.get('twilio')?.secrets['authToken']?.map((each) => each.reveal())).toEqual(['own']);
});

it("has a tenant's calls placed by its own accounts and numbers alone", async () => {
  const { tenants, settings } = await load(SOUND);
  const means = placingMeans(settings, tenants, ['twilio', 'plivo', 'twilio@acme']);
  const numbers = (id: string) => means(id).callerIds.map(({ number, carrier }) => [number, carrier]);
  expect([means('default').carriers, numbers('default')]).toEqual([['twilio', 'plivo'], [['+12125550100', undefined]]]);
  expect([means('acme').carriers, numbers('acme')]).toEqual([
    ['twilio@acme'],
    [
      ['+12125550101', undefined],
      ['+12125550102', 'twilio@acme'],
    ],
  ]);
  expect([means('brand').carriers, numbers('brand')]).toEqual([['twilio', 'plivo'], [['+12125550103', 'twilio']]]);
  expect(means('unknown')).toEqual({ callerIds: [], carriers: [], carrier: undefined });
  expect(wantedAccount(means('acme'), { tenantId: 'acme', carrier: 'twilio', from: '' })).toBe('twilio@acme');
  expect(wantedAccount(means('acme'), { tenantId: 'acme', from: '+12125550102' })).toBe('twilio@acme');
  expect(placingMeans(settings, [], ['twilio'])('anyone').callerIds).toHaveLength(1);
});

test.each([
  {
    note: 'an unknown carrier',
    text: '{ id: a, carriers: { twillio: {} } }',
    key: 'tenants.0.carriers.twillio',
    nearest: 'twilio',
  },
  { note: 'a missing proof', text: '{ id: a, carriers: { twilio: {} } }', key: 'tenants.0.carriers.twilio.secrets' },
  {
    note: 'a variable that is not set',
    text: '{ id: a, carriers: { twilio: { secrets: { authToken: NONE } } } }',
    key: 'tenants.0.carriers.twilio.secrets.authToken',
  },
  {
    note: 'a wrong setting of a carrier',
    text: '{ id: a, carriers: { twilio: { settings: { accountSid: x }, secrets: { authToken: TOKEN } } } }',
    key: 'tenants.0.carriers.twilio.settings.accountSid',
  },
  {
    note: "the operator's account",
    text: '{ id: default, carriers: { twilio: { secrets: { authToken: TOKEN } } } }',
    key: 'tenants.0.carriers.twilio',
  },
  { note: 'a tenant that stands twice', text: '{ id: a }\n  - { id: a }', key: 'tenants.1.id' },
  { note: 'a wrong number', text: '{ id: a, callerIds: [me] }', key: 'tenants.0.callerIds' },
  { note: 'an unknown key', text: '{ id: a, call: 3 }', key: 'tenants.0.call', nearest: 'calls' },
])('names $note by its key and line, and configures no tenant then', async ({ text, key, nearest }) => {
  const { tenants, problems } = await load(`tenants:\n  - ${text}\n`);
  expect(problems).toMatchObject([
    { key, where: expect.stringMatching(/tenants\.yaml:\d$/u), ...(nearest === undefined ? {} : { nearest }) },
  ]);
  expect(tenants).toEqual([]);
});
