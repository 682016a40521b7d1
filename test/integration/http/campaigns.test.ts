import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { API_SCOPES } from '../../../src/http/api/system/api-keys.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { Disposition } from '../../../src/records/dialling.ts';
import { startApi } from '../../support/api-server.ts';
import { yesToEach } from '../../support/attempt-records.ts';
import { eventually } from '../../support/eventually.ts';

interface Detail {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly contacts: {
    readonly total: number;
    readonly states: Record<string, number>;
    readonly outcomes: Record<string, number>;
  };
  readonly missing: readonly { readonly missing: string }[];
}

const OWN = '+12125550100';
const T = Date.parse('2026-03-02T10:07:00Z');
const FILE = 'phone,name,zone\n+12127365000,Ravi,America/New_York\n98765 43210,Asha,\n12,Bad,\n+12127365000,Twice,\n';

describe('campaigns over the API', () => {
  let api: Awaited<ReturnType<typeof startApi>>;
  beforeAll(async () => {
    api = await startApi({ transcribe: () => Promise.reject(new Error('nothing is transcribed here')) });
    api.work();
  });
  afterAll(async () => api[Symbol.asyncDispose]());

  // A key may ask so often a minute.
  let own: string | undefined;
  beforeEach(() => {
    own = api.keys.create({ name: 'own', tenantId: 'default', scopes: [...API_SCOPES] }, 0).secret;
  });
  const ask = (path: string, more: RequestInit = {}, key = own ?? api.key) =>
    fetch(`${api.url}/api/campaigns${path}`, {
      ...more,
      headers: { authorization: `Bearer ${key}`, ...(more.headers as object) },
    });
  const post = (path: string, body: unknown = {}, headers = {}, key = own ?? api.key) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }, key);
  const made = async (more: object = {}): Promise<Detail> => {
    const answer = await post('', { name: 'March', bot: 'reminder', from: OWN, profile: 'none', ...more });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Detail;
  };
  const csv = (id: string, text: string, query = '', headers = {}) =>
    ask(`/${id}/contacts${query}`, { method: 'POST', body: text, headers: { 'content-type': 'text/csv', ...headers } });
  const json = async <Body = Record<string, unknown>>(answer: Promise<Response>): Promise<Body & { status: number }> => {
    const { status, ...rest } = await answer.then(async (got) => ({ body: (await got.json()) as Body, status: got.status }));
    return { ...rest.body, status };
  };
  const detail = (id: string) => json<Detail>(ask(`/${id}`));

  it('makes a campaign that calls nobody, and says what it lacks', async () => {
    const hours = [{ days: ['mon'], from: '10:00', to: '18:00' }];
    const { id, ...rest } = await made({ narrowing: { windows: [{ hours, source: 'ours' }] } });
    expect(rest).toMatchObject({ state: 'draft', missing: [{ missing: 'contacts-missing' }] });
    expect(await detail(id)).toMatchObject({ status: 200, id, state: 'draft', contacts: { total: 0 } });
    const list = await json<{ campaigns: { id: string }[] }>(ask('?state=draft&limit=200'));
    expect(list.campaigns.map((each) => each.id)).toContain(id);
  });

  test.each([
    { note: 'a bot', body: { name: 'x', from: OWN, profile: 'none' }, says: 'bot' },
    { note: 'a number as caller id', body: { name: 'x', bot: 'b', from: 'me', profile: 'none' }, says: 'from' },
    { note: 'no unknown key', body: { name: 'x', bot: 'b', from: OWN, profile: 'none', ratte: 1 }, says: 'ratte' },
  ])('wants $note', async ({ body, says }) => {
    const answer = await json<{ detail: string }>(post('', body));
    expect(answer).toMatchObject({ status: 400, detail: expect.stringContaining(says) });
  });

  it('adds contacts of a file, names every bad row, and adds none twice', async () => {
    const { id } = await made();
    const report = { rows: 4, duplicates: 1, refused: 1 };
    const accepted = 'a telephone number with + and country code, such as +919876543210, or one of IN without it';
    const problems = [
      { line: 4, reason: 'no such number in the numbering plan of IN', column: 'phone', value: '12', accepted },
      { line: 5, reason: 'the number of line 2 again' },
    ];
    expect(await json(csv(id, FILE))).toEqual({ status: 200, ...report, added: 2, known: 0, problems });
    expect(await json(csv(id, FILE))).toEqual({ status: 200, ...report, added: 0, known: 2, problems });
    const form = new FormData();
    form.set('file', new Blob([`${FILE}+12127365001,New,\n`]), 'march.csv');
    expect(await json(ask(`/${id}/contacts`, { method: 'POST', body: form }))).toMatchObject({ added: 1, known: 2 });
    expect((await detail(id)).contacts.total).toBe(3);
    expect(await readdir(api.uploadFolder)).toEqual([]);
  });

  it('adds contacts of a list', async () => {
    const { id } = await made();
    const contacts = [{ number: '98765 43210', variables: { name: 'Asha' } }, { number: '+1 212 736 5000' }, { number: '+12' }];
    expect(await json(post(`/${id}/contacts?region=IN`, { contacts }))).toMatchObject({
      status: 200,
      rows: 3,
      added: 2,
      refused: 1,
    });
    expect(await json(post(`/${id}/contacts`, { contacts: [{ phone: '1' }] }))).toMatchObject({ status: 400 });
  });

  it('answers a repeated upload with the same numbers, and without words of the file', async () => {
    const { id } = await made();
    const headers = { 'idempotency-key': newId('req') };
    await csv(id, FILE, '', headers);
    const again = await csv(id, FILE, '', headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.json()).toMatchObject({ added: 2, refused: 1, problems: [] });
  });

  test.each([
    { note: 'no CSV', file: 'PK\u0003\u0004xxxx', status: 400, says: 'workbook' },
    { note: 'no numbers', file: 'name\nAsha\n', status: 400, says: 'no column is called' },
    { note: 'nothing', file: '', status: 400, says: 'The file is empty. Accepted is CSV of 1 to 400000 bytes' },
    { note: 'too much', file: `phone\n${'+12127365000\n'.repeat(40_000)}`, status: 413, says: 'The file is too large' },
  ])('refuses a file with $note as a whole', async ({ file, status, says }) => {
    const { id } = await made();
    expect(await json(csv(id, file))).toMatchObject({ status, detail: expect.stringContaining(says) });
    expect((await detail(id)).contacts.total).toBe(0);
  });

  it('takes CSV for contacts alone', async () => {
    const options = { method: 'POST', body: FILE, headers: { 'content-type': 'text/csv', authorization: `Bearer ${api.key}` } };
    expect((await fetch(`${api.url}/api/analyses`, options)).status).toBe(415);
  });

  it('refuses a start with everything that is missing, and dials nobody', async () => {
    const { id } = await made({ bot: 'remindr', from: '+12125550199', profile: 'us', purpose: 'service' });
    const answer = await json<{ detail: string }>(post(`/${id}/start`));
    expect(answer.status).toBe(409);
    for (const name of ['bot-unknown', 'caller-id-not-allowed', 'identity-missing', 'contacts-missing'])
      expect(answer.detail).toContain(name);
    expect((await detail(id)).state).toBe('draft');
  });

  it('starts, pauses, resumes and stops, tells endpoints, and writes an audit log', async () => {
    const { id } = await made();
    await csv(id, FILE);
    const states = [];
    for (const [act, reason] of [['start'], ['pause', 'lunch'], ['resume'], ['stop', 'enough']]) {
      const { state, reason: why } = await json<Detail>(post(`/${id}/${act}`, { reason }));
      states.push([state, why]);
      const type = { start: 'started', pause: 'paused', resume: 'resumed', stop: 'stopped' }[act ?? ''];
      await eventually(`campaign.${type}`, async () =>
        api.receiver.received.some(({ body }) => body.type === `campaign.${type}` && body.data['campaignId'] === id),
      );
    }
    expect(states).toEqual([
      ['running', null],
      ['paused', 'lunch'],
      ['running', null],
      ['stopped', 'enough'],
    ]);
    expect(api.receiver.received.find(({ body }) => body.type === 'campaign.paused')?.body.data).toMatchObject({
      campaignId: id,
      name: 'March',
      botName: 'reminder',
      reason: 'lunch',
      contacts: { pending: 2 },
    });
    expect(await json(post(`/${id}/resume`))).toMatchObject({ status: 409, detail: expect.stringContaining('is stopped') });
    expect(await json(csv(id, FILE))).toMatchObject({ status: 409 });
    const lines = (await api.audit()).split('\n').filter((line) => line.includes(id));
    const acts = lines.map((line) => JSON.parse(line) as { action: string; outcome: string });
    expect(acts.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'campaign.create done',
      'campaign.contacts done',
      ...['start', 'pause', 'resume', 'stop'].map((act) => `campaign.${act} done`),
      'campaign.resume refused',
      'campaign.contacts refused',
    ]);
  });

  it('masks numbers of contacts, in variables too, unless the key may see them', async () => {
    const { id } = await made();
    await csv(id, 'phone,name\n+12127365000,call +12127365000\n');
    const key = api.keys.create({ name: 'm', tenantId: 'default', scopes: ['campaigns:read'] }, 0).secret;
    const page = (secret: string) => json<{ contacts: object[] }>(ask(`/${id}/contacts?state=pending`, {}, secret));
    expect((await page(key)).contacts).toMatchObject([{ number: '**********00', variables: { name: 'call **********00' } }]);
    expect((await page(api.key)).contacts).toMatchObject([{ number: '+12127365000', variables: { name: 'call +12127365000' } }]);
    expect((await post(`/${id}/start`, {}, {}, key)).status).toBe(403);
  });

  it('says what would come of a file, and adds nobody', async () => {
    const { id } = await made();
    await csv(id, 'phone\n+12127365000\n');
    const file = 'Mobile,First name,due date,zone\n+12127365000,Asha,,\n98765 43210,call +919876543210,,\n987654321,Bad,,\n';
    const dry = (key?: string) =>
      json(
        ask(
          `/${id}/contacts?dryRun=true&variables=due_date:`,
          { method: 'POST', body: file, headers: { 'content-type': 'text/csv' } },
          key,
        ),
      );
    const report = { status: 200, rows: 3, added: 1, known: 1, duplicates: 0, refused: 1 };
    const columns = [
      { column: 'mobile', becomes: 'number' },
      { column: 'first_name', becomes: 'variable', variable: 'first_name' },
      { column: 'due_date', becomes: 'nothing' },
      { column: 'zone', becomes: 'zone' },
    ];
    expect(await dry()).toMatchObject({
      ...report,
      problems: [{ line: 4, column: 'mobile', value: '987654321' }],
      preview: {
        columns,
        contacts: [
          { line: 2, number: '+12127365000', zone: null, variables: { first_name: 'Asha' } },
          { line: 3, number: '+919876543210', variables: { first_name: 'call +919876543210' } },
        ],
      },
    });
    const key = api.keys.create({ name: 'w', tenantId: 'default', scopes: ['campaigns:write'] }, 0).secret;
    expect(await dry(key)).toMatchObject({
      ...report,
      problems: [{ value: '*******21' }],
      preview: { contacts: [{ number: '**********00' }, { variables: { first_name: 'call ***********10' } }] },
    });
    expect((await detail(id)).contacts.total).toBe(1);
    expect(await api.audit()).not.toContain('dry');
  });

  it('adds contacts of JSON Lines', async () => {
    const { id } = await made();
    const body = '{"phone": "+12127365000", "name": "Ravi"}\n{"phone": "x"}\n';
    const answer = ask(`/${id}/contacts`, { method: 'POST', body, headers: { 'content-type': 'application/jsonl' } });
    expect(await json(answer)).toMatchObject({ status: 200, added: 1, refused: 1, problems: [{ line: 2, column: 'phone' }] });
  });

  it('names the field of each problem of its settings', async () => {
    const body = { name: '', bot: 'b', from: ['+1'], profile: 'none', attempts: { most: 99 }, ratte: 1 };
    const { issues } = await json<{ issues: { path: string; message: string }[] }>(post('', body));
    expect(issues.map(({ path }) => path)).toEqual(['name', 'from.0', 'attempts.most', '']);
    for (const { message } of issues) expect(message).not.toBe('');
  });

  it('lets a key that only makes campaigns choose neither their profile nor their clock', async () => {
    const scopes = API_SCOPES.filter((scope) => scope !== 'dialling:rules');
    const { secret, key } = api.keys.create({ name: 'maker', tenantId: 'default', scopes }, 0);
    const body = { name: 'March', bot: 'reminder', from: OWN, profile: 'none' };
    for (const rules of [{ profile: 'eu' }, { zoneSource: 'given' }]) {
      const refused = await json<{ detail: string }>(post('', { ...body, ...rules }, {}, secret));
      expect(refused).toMatchObject({ status: 403, detail: expect.stringContaining('dialling:rules') });
      expect(await json(post('', { ...body, ...rules }))).toMatchObject({ status: 201 });
    }
    const made = await json<{ id: string }>(post('', body, {}, secret));
    expect(made).toMatchObject({ status: 201, settings: { zoneSource: 'number' } });
    // Its calls count for whoever made it.
    expect(await api.store.campaigns.get('default', made.id)).toMatchObject({ createdBy: key.id });
    const choices = await json<{ profiles: { name: string }[] }>(ask('/choices', {}, secret));
    expect(choices.profiles.map(({ name }) => name)).toEqual(['none']);
  });

  it('says what a campaign can be made with', async () => {
    const choices = await json<{ profiles: { name: string }[]; schema: { properties: object } }>(ask('/choices'));
    expect(choices).toMatchObject({
      status: 200,
      bots: ['reminder'],
      callerIds: [{ number: '+12125550100', isSeries: false, carrier: null }],
      carriers: ['twilio'],
      defaults: { profile: 'none', region: 'IN' },
      most: { callsPerSecond: 1, concurrency: 10 },
    });
    expect(choices.profiles.map(({ name }) => name)).toEqual(['eu', 'in', 'none', 'us']);
    expect(choices.schema.properties).toMatchObject({ callsPerSecond: { minimum: 0.001, maximum: 1000, default: 1 } });
    const withForm = choices.profiles.find(({ name }) => name === 'none');
    expect(withForm).toMatchObject({ windows: [{ hours: [{ from: '08:00', to: '21:00' }] }] });
  });

  it('finds a contact by its number for who may see numbers', async () => {
    const { id } = await made();
    await csv(id, FILE);
    const found = await json<{ contacts: object[] }>(ask(`/${id}/contacts?number=9876543210`));
    expect(found.contacts).toMatchObject([{ number: '+919876543210' }]);
    const key = api.keys.create({ name: 'm', tenantId: 'default', scopes: ['campaigns:read'] }, 0).secret;
    expect((await ask(`/${id}/contacts?number=9876543210`, {}, key)).status).toBe(403);
    expect((await ask(`/${id}/contacts?number=12`)).status).toBe(400);
  });

  it('says who may be called when', async () => {
    const { id } = await made({ narrowing: { windows: [{ hours: [{ from: '10:00', to: '18:00' }], source: 'ours' }] } });
    await csv(id, FILE);
    const { rows, ...rest } = await json<{ rows: { steps: string; zones: string[]; contacts: number }[] }>(
      ask(`/${id}/hours?from=2026-03-03T00:00:00Z`),
    );
    expect(rest).toEqual({ status: 200, from: '2026-03-03T00:00:00.000Z', stepMinutes: 15, sampled: 2, open: 2 });
    // The number of India came without a zone, and libphonenumber knows the older name.
    const steps = Object.fromEntries(rows.map((row) => [row.zones.join(' ').replace('Calcutta', 'Kolkata'), row.steps]));
    // 10:00 to 18:00 is 04:30 to 12:30 UTC in Kolkata.
    expect(steps['Asia/Kolkata']).toBe(`${'0'.repeat(18)}${'1'.repeat(32)}${'0'.repeat(46)}`);
    expect(steps['America/New_York']?.indexOf('1')).toBe(60);
  });

  it('exports every contact with what came of it, masked for who may not see numbers, and writes that down', async () => {
    const { id } = await made();
    await csv(id, FILE);
    const lines = async (key?: string) => (await (await ask(`/${id}/results`, {}, key)).text()).trim().split('\r\n');
    const [heading, first, ...others] = await lines();
    expect(heading).toMatch(/^number,zone,state,outcome/u);
    expect(first).toMatch(/^\+12127365000,America\/New_York,pending/u);
    expect(others).toHaveLength(1);
    const key = api.keys.create({ name: 'm', tenantId: 'default', scopes: ['campaigns:read'] }, 0).secret;
    expect((await lines(key))[1]).toMatch(/^\*{10}00,/u);
    expect((await api.audit()).split('\n').filter((line) => line.includes(id) && line.includes('campaign.export'))).toHaveLength(
      2,
    );
  });

  it('shows a tenant its own campaigns alone', async () => {
    const { id } = await made();
    for (const path of ['', '/contacts', '/attempts', '/report', '/progress', '/hours', '/results'])
      expect((await ask(`/${id}${path}`, {}, api.otherKey)).status, path).toBe(404);
    expect((await post(`/${id}/start`, {}, {}, api.otherKey)).status).toBe(404);
    expect((await ask(`/${id}`, { method: 'DELETE' }, api.otherKey)).status).toBe(404);
  });

  describe('a campaign with calls', () => {
    let id: string;
    const outcomes: Disposition[] = ['completed', 'busy', 'completed', 'opt-out', 'no-answer'];
    beforeAll(async () => {
      ({ id } = await made());
      for (const [index, disposition] of outcomes.entries()) {
        const number = `+1212736500${index}`;
        const callId = newId('call');
        const atMs = T + index * 3_600_000;
        const lease = { owner: 'test', untilMs: atMs + 1000 };
        const changes = { campaignId: id, contactId: `c${index}`, from: OWN, createdAtMs: atMs };
        await api.store.attempts.decide(
          'default',
          { numbers: [number], sinceMs: 0, lease },
          yesToEach('default', () => callId, changes),
        );
        const isAnswered = disposition === 'completed' || disposition === 'opt-out';
        await api.store.attempts.advance('default', callId, ['queued'], 'ended', {
          placedAtMs: atMs,
          ...(isAnswered ? { answeredAtMs: atMs + 5000 } : {}),
          endedAtMs: atMs + 65_400,
          disposition,
        });
      }
    });

    it('says in one answer how far it is, and how many calls there were when', async () => {
      expect(await json(ask(`/${id}/progress`))).toMatchObject({
        status: 200,
        campaign: { id, state: 'draft', changedBy: null, callsPerSecond: 1 },
        contacts: { total: 0 },
        reached: { called: 5, answered: 3, person: 3 },
        refusals: {},
        putOff: {},
        nextDueAt: null,
        pace: { everySeconds: 1, placed: [] },
      });
      const { campaigns } = await json<{ campaigns: { id: string }[] }>(ask('?limit=200'));
      expect(campaigns.find((each) => each.id === id)).toMatchObject({ contacts: { total: 0 }, placedLastMinute: 0 });
    });

    it('says why the gate decided as it did', async () => {
      const { attempts } = await json<{ attempts: { id: string }[] }>(ask(`/${id}/attempts?limit=1`));
      const path = `${api.url}/api/attempts/${attempts[0]?.id}/decision`;
      const of = (key: string) => fetch(path, { headers: { authorization: `Bearer ${key}` } });
      expect(await json(of(api.key))).toMatchObject({ status: 200, allowed: true, refusals: [], profile: 'in' });
      expect((await of(api.otherKey)).status).toBe(404);
    });

    it('shows its calls', async () => {
      const page = await json<{ attempts: { disposition: string }[] }>(ask(`/${id}/attempts?limit=200`));
      expect(page.attempts.map(({ disposition }) => disposition)).toEqual(outcomes.toReversed());
      const some = await json<{ attempts: object[] }>(ask(`/${id}/attempts?disposition=completed&limit=1`));
      expect(some).toMatchObject({ attempts: [{ disposition: 'completed' }], next: expect.any(String) });
    });

    it('reports what its calls add up to, in JSON and in CSV, before and after it is erased', async () => {
      const report = () =>
        json<{ attempts: object; days: object[]; hours: { hour: number }[] }>(ask(`/${id}/report?zone=Asia/Kolkata`));
      const before = await report();
      expect(before.attempts).toEqual({
        attempts: 5,
        refused: 0,
        answered: 3,
        talkSeconds: 180,
        outcomes: { completed: 2, 'opt-out': 1, busy: 1, 'no-answer': 1 },
      });
      expect(before.hours.map(({ hour }) => hour)).toEqual([15, 16, 17, 18, 19]);
      const answer = await ask(`/${id}/report?format=csv&zone=Asia/Kolkata`);
      expect(answer.headers.get('content-type')).toContain('text/csv');
      const lines = (await answer.text()).trim().split('\r\n').slice(1);
      expect(lines).toHaveLength(5);
      expect(lines[0]).toBe(`2026-03-02,15,reminder,${OWN},completed,1,1,60`);
      const erased = await json(ask(`/${id}`, { method: 'DELETE' }));
      expect(erased).toEqual({ status: 200, erased: 5, held: 0, live: 0, left: false });
      const { attempts, days, hours } = await report();
      expect({ attempts, days, hours }).toEqual({ attempts: before.attempts, days: before.days, hours: before.hours });
      const page = await json<{ attempts: { to: string }[] }>(ask(`/${id}/attempts`));
      expect(page.attempts.map(({ to }) => to)).toEqual(['', '', '', '', '']);
      expect(await detail(id)).toMatchObject({ state: 'stopped', erasedAt: expect.any(String) });
      expect(await json(ask(`/${id}`, { method: 'DELETE' }))).toMatchObject({ status: 200, erased: 0 });
    });
  });
});
