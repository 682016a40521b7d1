import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallFixture } from '../../../../src/rehearsal/replay/fixture.ts';
import {
  decodeFixture,
  deleteExpiredFixtures,
  encodeFixture,
  FixtureExpiredError,
  FixtureInvalidError,
  readFixture,
  reserveFixture,
  writeFixture,
  type FixtureKey,
} from '../../../../src/rehearsal/replay/fixture-file.ts';
import { recordCall } from './recorded-call.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-fixtures-'));
let fixture: CallFixture;

beforeAll(async () => {
  fixture = await recordCall({
    caller: [{ quietMs: 400 }, { voiceMs: 300 }, { quietMs: 300 }],
    async *dialog() {
      yield { type: 'say', text: 'Hello there.' };
    },
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function keep(...[inFolder, ref, kept, keyOf]: [string, Parameters<typeof reserveFixture>[1], CallFixture, FixtureKey]) {
  await using place = await reserveFixture(inFolder, ref, keyOf);
  const path = await place.keep(kept);
  if (path === undefined) throw new Error('erased');
  return path;
}

describe('a fixture file', () => {
  it('gives back what was written, audio and all', async () => {
    const read = await decodeFixture(await encodeFixture(fixture), 0);
    expect(JSON.parse(JSON.stringify({ ...read, callerAudio: 0, botAudio: 0 }))).toEqual(
      JSON.parse(JSON.stringify({ ...fixture, callerAudio: 0, botAudio: 0 })),
    );
    expect(Buffer.compare(read.callerAudio, fixture.callerAudio)).toBe(0);
    expect(Buffer.compare(read.botAudio, fixture.botAudio)).toBe(0);
    expect(fixture.callerAudio.length).toBe(8_000);
  });

  it('is its owner’s alone, whatever was there before', async () => {
    const path = await writeFixture(join(folder, 'own'), 'call_1', fixture);
    writeFileSync(`${path}.new`, '', { mode: 0o644 });
    await writeFixture(join(folder, 'own'), 'call_1', fixture);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'own')).mode & 0o777).toBe(0o700);
  });

  it('is refused from the moment it expires, and one without an end is not', async () => {
    const path = await writeFixture(folder, 'call_2', { ...fixture, expiresAtMs: 1_000 });
    await expect(readFixture(path, 999)).resolves.toMatchObject({ expiresAtMs: 1_000 });
    await expect(readFixture(path, 1_000)).rejects.toThrow(FixtureExpiredError);
    await expect(decodeFixture(await encodeFixture({ ...fixture, expiresAtMs: null }), Date.now())).resolves.toBeDefined();
  });

  it('is deleted when it has expired, and what cannot be read is told of and left', async () => {
    const old = join(folder, 'old');
    await writeFixture(old, 'expired', { ...fixture, expiresAtMs: 1_000 });
    await writeFixture(old, 'alive', { ...fixture, expiresAtMs: 3_000 });
    await writeFixture(old, 'for-ever', { ...fixture, expiresAtMs: null });
    const ref = (callId: string) => ({ tenantId: 'default', callId });
    await keep(old, ref('expired'), { ...fixture, expiresAtMs: 1_000 }, async () => randomBytes(32));
    await keep(old, ref('alive'), { ...fixture, expiresAtMs: 3_000 }, async () => randomBytes(32));
    writeFileSync(join(old, 'broken.fixture.gz'), 'no gzip');
    writeFileSync(join(old, 'notes.txt'), 'mine');
    const problems: string[] = [];
    expect(await deleteExpiredFixtures(old, 2_000, (name) => problems.push(name))).toBe(2);
    expect(problems).toEqual(['broken.fixture.gz']);
    expect(readdirSync(old).sort()).toEqual([
      'alive.fixture.gz',
      'alive.fixture.sealed',
      'broken.fixture.gz',
      'for-ever.fixture.gz',
      'notes.txt',
    ]);
    expect(await deleteExpiredFixtures(join(folder, 'nowhere'), 2_000, () => undefined)).toBe(0);
  });

  it('opens under its call’s key alone when it is sealed, and shows nothing of the call without it', async () => {
    const keys = new Map([['call_3', randomBytes(32)]]);
    const keyOf: FixtureKey = async (tenantId, callId) => (tenantId === 'default' ? keys.get(callId) : undefined);
    const ref = { tenantId: 'default', callId: 'call_3' };
    const path = await keep(folder, ref, { ...fixture, expiresAtMs: 1_000 }, keyOf);
    expect(path).toBe(join(folder, 'call_3.fixture.sealed'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(readFileSync(path, 'latin1').split('\n')[0]!))).toEqual([
      'format',
      'version',
      'tenantId',
      'callId',
      'expiresAtMs',
    ]);
    const read = await readFixture(path, 999, keyOf);
    expect(read.decisions).toEqual(fixture.decisions);
    expect(Buffer.compare(read.callerAudio, fixture.callerAudio)).toBe(0);
    await expect(readFixture(path, 1_000, keyOf)).rejects.toThrow(FixtureExpiredError);
    await expect(readFixture(path, 999, async () => randomBytes(32))).rejects.toMatchObject({ code: 'OFFHOOK_STORE_KEY' });
    // Nobody can give it a longer life.
    writeFileSync(path, Buffer.from(readFileSync(path).toString('latin1').replace('1000}', '9999}'), 'latin1'));
    await expect(readFixture(path, 1_500, keyOf)).rejects.toMatchObject({ code: 'OFFHOOK_STORE_KEY' });
    // The key is destroyed with the call's sound.
    keys.clear();
    await expect(readFixture(path, 999, keyOf)).rejects.toThrow(FixtureExpiredError);
    await expect(keep(folder, ref, fixture, keyOf)).rejects.toThrow('erased');
  });

  it('writes no fixture of a call that was erased after its end and before the fixture was made', async () => {
    const erased = join(folder, 'erased');
    await using place = await reserveFixture(erased, { tenantId: 'default', callId: 'call_4' });
    for (const name of readdirSync(erased)) rmSync(join(erased, name));
    expect(await place.keep(fixture)).toBeUndefined();
    expect(readdirSync(erased)).toEqual([]);
  });

  it('says what is wrong with a file that is none', async () => {
    const bytes = gunzipSync(await encodeFixture(fixture));
    const broken: readonly (readonly [string, Uint8Array])[] = [
      ['no fixture', Buffer.from('hello')],
      ['header is no JSON', gzipSync('hello\n')],
      ['header cannot be used', gzipSync('{"format":"other"}\n{}\n')],
      ['cut short', gzipSync(bytes.subarray(0, bytes.length - 100))],
      ['body', gzipSync(bytes.subarray(0, 400))],
    ];
    for (const [message, file] of broken) {
      const failure: unknown = await decodeFixture(file, 0).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(FixtureInvalidError);
      expect(String(failure)).toContain(message);
    }
  });
});
