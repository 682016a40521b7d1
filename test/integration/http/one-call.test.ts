import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordingCoder } from '../../../src/audio/recording/recording-coder.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import type { ApiScope } from '../../../src/http/api/system/api-keys.ts';
import { callEnded } from '../../../src/records/webhooks/webhook-event.ts';
import { callRecord } from '../../../src/records/record.ts';
import { decodeFixture, encodeFixture, reserveFixture } from '../../../src/rehearsal/replay/fixture-file.ts';
import { startApi } from '../../support/api-server.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { keptCall } from '../../unit/rehearsal/replay/kept-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { hangs } from '../../support/patience.ts';

const CALL = 'call_00000000000000000000000000000001';
const BARE = 'call_00000000000000000000000000000002';
const SEALED = 'call_00000000000000000000000000000003';
const FLAC = 'call_00000000000000000000000000000005';
const OLD = 'call_00000000000000000000000000000004';

describe('what the API says of one call', () => {
  let api: Awaited<ReturnType<typeof startApi>>;

  beforeAll(async () => {
    const never = async (): Promise<never> => Promise.reject(new Error('nothing is transcribed here'));
    api = await startApi({ transcribe: never, transcribeMedical: never });
    const recordingPath = join(api.folder, `${CALL}.wav`);
    // A second of silence on both sides, then a second of the caller alone.
    const sound = Int16Array.from({ length: 32_000 }, (_, n) => (n >= 16_000 && n % 2 === 0 ? 16_384 : 0));
    await writeFile(recordingPath, wavFile(sound, 8_000, 2));
    await api.store.calls.upsert(callRecordOf({ id: CALL, recordingPath }));
    for (const id of [BARE, SEALED, OLD])
      await api.store.calls.upsert(callRecordOf({ id, recordingPath: undefined, botName: 'desk' }));
    await mkdir(api.fixturesFolder, { recursive: true });
    const fixture = await keptCall('interrupted');
    await writeFile(join(api.fixturesFolder, `${CALL}.fixture.gz`), await encodeFixture(fixture));
    await writeFile(join(api.fixturesFolder, `${OLD}.fixture.gz`), await encodeFixture({ ...fixture, expiresAtMs: 1 }));
    const keyOf = (tenantId: string, callId: string, make: boolean) => api.store.privacy.audioKey(tenantId, callId, make);
    await using place = await reserveFixture(api.fixturesFolder, { tenantId: 'default', callId: SEALED }, keyOf);
    await place.keep(fixture);
  });
  afterAll(() => api[Symbol.asyncDispose]());

  const keyWith = (...scopes: ApiScope[]): string => api.keys.create({ name: 'test', tenantId: 'default', scopes }, 0).secret;
  const ask = (path: string, body?: object, key = api.key): Promise<Response> =>
    api.send(body === undefined ? 'GET' : 'POST', `/calls/${path}`, body, key);
  const audited = async (action: string): Promise<unknown[]> =>
    (await api.audit())
      .split('\n')
      .filter((line) => line.includes(`"${action}"`))
      .map((line) => JSON.parse(line) as unknown);

  it('draws both sides of a recording', async () => {
    const answer = await ask(`${CALL}/peaks`);
    const { durationMs, intervalMs, caller, bot } = (await answer.json()) as Record<string, string> & { durationMs: number };
    const levels = [...Buffer.from(caller ?? '', 'base64')];
    expect([durationMs, intervalMs, levels.length]).toEqual([2000, 20, 100]);
    expect([levels[49], levels[50], levels[99]]).toEqual([0, 128, 128]);
    expect(Math.max(...Buffer.from(bot ?? '', 'base64'))).toBe(0);
    expect((await ask(`${BARE}/peaks`)).status).toBe(404);
    expect((await ask(`${CALL}/peaks`, undefined, keyWith('calls:read'))).status).toBe(403);
    expect((await ask(`${CALL}/peaks`, undefined, api.otherKey)).status).toBe(404);
  });

  it('draws a recording that was compressed after its call', async () => {
    const inputPath = join(api.folder, `${FLAC}.wav`);
    await writeFile(inputPath, wavFile(new Int16Array(16_000).fill(8_192), 8_000, 2));
    await api.store.calls.upsert(callRecordOf({ id: FLAC, recordingPath: inputPath }));
    const coding = { type: 'compress', format: 'flac', inputPath, outputPath: join(api.folder, `${FLAC}.flac`) } as const;
    await new RecordingCoder().code(coding, hangs());
    const [was, is] = [{ object: undefined, format: 'wav' } as const, { object: undefined, format: 'flac' } as const];
    expect(await api.store.recordings.compressed('default', FLAC, was, is)).toBe(true);
    const { durationMs, bot } = (await (await ask(`${FLAC}/peaks`)).json()) as { durationMs: number; bot: string };
    expect([durationMs, ...new Set(Buffer.from(bot, 'base64'))]).toEqual([1000, 64]);
  });

  it('says where the recording begins on the timeline', async () => {
    expect(await (await ask(CALL)).json()).toMatchObject({ recorded: true, recordingStartsMs: 300 });
    expect(await (await ask(BARE)).json()).toMatchObject({ recorded: false, recordingStartsMs: null });
  });

  it('says whether a call was saved for replay, and with which settings', async () => {
    expect(await (await ask(`${CALL}/fixture`)).json()).toMatchObject({
      state: 'saved',
      keeps: true,
      settings: { endpointingMs: 640, 'interruption.clearAfterMs': 140 },
    });
    expect(await (await ask(`${SEALED}/fixture`)).json()).toMatchObject({ state: 'saved', keeps: false });
    expect(await (await ask(`${BARE}/fixture`)).json()).toMatchObject({ state: 'not-saved', keeps: false, settings: null });
    expect(await (await ask(`${OLD}/fixture`)).json()).toMatchObject({ state: 'expired' });
  });

  it('replays a call with other settings, and says where it decides differently first', async () => {
    expect(await (await ask(`${CALL}/replay`, {})).json()).toMatchObject({ equal: true });
    const other = await ask(`${SEALED}/replay`, { settings: { endpointingMs: 900 } });
    expect(await other.json()).toMatchObject({
      equal: false,
      divergence: { turn: 1, was: { type: 'commit' }, is: { type: 'commit' } },
      turns: [{ standing: 'equal' }, { standing: 'diverges' }, { standing: 'counterfactual' }],
    });
    expect(await audited('call.replay')).toMatchObject([{ subject: CALL }, { subject: SEALED, outcome: 'done' }]);
  });

  it('refuses a replay of a call that was not saved, that has expired, and with settings that no bot has', async () => {
    const refused = async (path: string, body: object, key = api.key): Promise<[number, string]> => {
      const answer = await ask(`${path}/replay`, body, key);
      return [answer.status, ((await answer.json()) as { detail: string }).detail];
    };
    expect(await refused(BARE, {})).toEqual([409, expect.stringContaining('call.keepFixtures')]);
    expect(await refused(OLD, {})).toEqual([409, expect.stringContaining('expired')]);
    expect(await refused(CALL, { settings: { endpointingMs: 3 } })).toEqual([
      422,
      expect.stringContaining('endpointingMs: Too small'),
    ]);
    expect(await refused(CALL, {}, keyWith('analyses:read'))).toEqual([403, expect.any(String)]);
    expect(await refused(CALL, {}, api.otherKey)).toEqual([404, expect.any(String)]);
  });

  it('gives a saved call as a plain file to whoever may hear recordings, and writes it down', async () => {
    const answer = await ask(`${SEALED}/fixture/file`);
    expect(answer.headers.get('content-disposition')).toContain(`${SEALED}.fixture.gz`);
    const fixture = await decodeFixture(new Uint8Array(await answer.arrayBuffer()), Date.now());
    expect(fixture.callerAudio.length).toBeGreaterThan(0);
    expect(await audited('fixture.read')).toMatchObject([{ subject: SEALED, outcome: 'done' }]);
    expect((await ask(`${CALL}/fixture/file`, undefined, keyWith('analyses:write'))).status).toBe(403);
    expect((await ask(`${OLD}/fixture/file`)).status).toBe(409);
    expect((await ask(`${BARE}/fixture/file`)).status).toBe(404);
  });

  it('lists the webhooks of a call without what was in them, and sends one again', async () => {
    const record = await api.store.calls.get('default', CALL);
    await api.dispatcher.announce(callEnded(callRecord.parse(record)));
    await eventually('the delivery', async () => (await (await ask(`${CALL}/webhooks`)).text()).includes('"delivered"'));
    const listed = await ask(`${CALL}/webhooks`);
    const text = await listed.text();
    const [delivery] = (JSON.parse(text) as { deliveries: { id: string }[] }).deliveries;
    expect(delivery).toMatchObject({ type: 'call.ended', endpoint: 'all', attempts: 1, status: 204, nextTryBy: null });
    expect(text).not.toContain('5550001');
    expect((await ask(`../webhooks/${delivery?.id}/send`, {})).status).toBe(202);
    await eventually('the second delivery', () => api.receiver.received.length === 2);
    expect((await ask(`../webhooks/${delivery?.id}/send`, {}, api.otherKey)).status).toBe(404);
    expect((await ask(`${CALL}/webhooks`, undefined, api.otherKey)).status).toBe(200);
    expect(await (await ask(`${CALL}/webhooks`, undefined, api.otherKey)).json()).toEqual({ deliveries: [], next: null });
  });

  it('holds a call for the law, so that nothing erases it, until the hold is lifted', async () => {
    const erase = async (): Promise<unknown> => (await api.send('POST', '/erasures', { call: CALL })).json();
    expect((await ask(`${CALL}/hold`, { on: true }, keyWith('analyses:write'))).status).toBe(403);
    expect(await (await ask(`${CALL}/hold`, { on: true })).json()).toEqual({ legalHold: true });
    expect(await erase()).toMatchObject({ erased: [], held: [CALL] });
    expect(await (await ask(`${CALL}/hold`, { on: false })).json()).toEqual({ legalHold: false });
    expect(await erase()).toMatchObject({ erased: [CALL], held: [] });
    expect((await ask(`${CALL}/peaks`)).status).toBe(404);
    expect(await readdir(api.fixturesFolder)).not.toContain(`${CALL}.fixture.gz`);
    expect((await ask('call_none/hold', { on: true })).status).toBe(404);
    expect(await audited('hold.set')).toMatchObject([{ subject: CALL, outcome: 'done' }, { outcome: 'refused' }]);
    expect(await readFile(join(api.folder, 'audit.jsonl'), 'utf8')).not.toContain('5550001');
  });
});
