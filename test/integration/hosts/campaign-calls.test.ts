import { expect, it } from 'vitest';
import { type SimulatedCallee, zoneAtNoon } from '../../../src/sim/caller/callee.ts';
import { eventually } from '../../support/eventually.ts';
import { sayHello, startOutboundBench } from './outbound-bench.ts';
import { shared } from '../../support/shared.ts';

interface Contact {
  readonly number: string;
  readonly state: string;
  readonly disposition: string;
  readonly lastAttemptId: string;
}

const ASHA = '+442079460101';
const people: Readonly<Record<string, SimulatedCallee>> = {
  [ASHA]: { ringMs: 200, outcome: { kind: 'answered', fullMedia: true, talk: sayHello } },
  '+442079460102': { ringMs: 100, outcome: { kind: 'busy' } },
  '+442079460103': {
    ringMs: 200,
    outcome: { kind: 'answered', fullMedia: true, talk: (line) => sayHello(line, '9') },
  },
};

const bench = shared(() => startOutboundBench(1, ({ to }) => people[to] ?? { outcome: { kind: 'failed', sip: 404 } }));

it('runs a campaign of calls with sound, and its report adds up', async () => {
  const settings = { name: 'March', bot: 'reminder', from: '+442079460001', profile: 'none', attempts: { most: 1 } };
  const made = await bench.api<{ id: string; missing: object[] }>('/campaigns', { ...settings, callsPerSecond: 20 });
  expect(made).toMatchObject({ status: 201, body: { missing: [{ missing: 'contacts-missing' }] } });
  const { id } = made.body;
  const contacts = Object.keys(people).map((number) => ({ number, timeZone: zoneAtNoon(), variables: { name: 'Asha' } }));
  expect((await bench.api(`/campaigns/${id}/contacts`, { contacts })).body).toMatchObject({ rows: 3, added: 3 });
  expect((await bench.api(`/campaigns/${id}/start`, {})).body).toMatchObject({ state: 'running', missing: [] });
  const state = async () => (await bench.api<{ state: string }>(`/campaigns/${id}`)).body.state;
  await eventually('the end of the campaign', async () => (await state()) === 'finished');

  const page = await bench.api<{ contacts: Contact[] }>(`/campaigns/${id}/contacts`);
  expect(page.body.contacts.map(({ state: stands, disposition }) => [stands, disposition])).toEqual([
    ['done', 'completed'],
    ['done', 'busy'],
    ['done', 'opt-out'],
  ]);
  const asha = page.body.contacts[0]?.lastAttemptId ?? '';
  expect((await bench.api(`/calls/${asha}`)).body).toMatchObject({
    to: ASHA,
    turns: [{ botHeardText: 'Hello Asha.' }],
    outbound: { campaignId: id, answeredBy: 'person' },
  });
  expect(bench.carrier.dialled.calls.map(({ phone }) => phone.order.to).sort()).toEqual(Object.keys(people).sort());
  expect((await bench.api(`/campaigns/${id}/report`)).body).toMatchObject({
    contacts: { total: 3, outcomes: { completed: 1, busy: 1, 'opt-out': 1 } },
    attempts: { attempts: 3, refused: 0, answered: 2, outcomes: { completed: 1, busy: 1, 'opt-out': 1 } },
  });

  // The one who wanted no more calls is refused in another campaign, which finishes all the same.
  const again = await bench.api<{ id: string }>('/campaigns', { ...settings, name: 'Again' });
  await bench.api(`/campaigns/${again.body.id}/contacts`, { contacts: contacts.slice(2) });
  await bench.api(`/campaigns/${again.body.id}/start`, {});
  const refused = async () =>
    (await bench.api<{ contacts: { cause: string | null }[] }>(`/campaigns/${again.body.id}/contacts`)).body.contacts[0]?.cause;
  await eventually('the refusal', async () => (await refused()) === 'suppressed');
  expect(bench.carrier.dialled.calls).toHaveLength(3);
});
