import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { buzz } from '../../support/buzz.ts';
import { bright, deep, type Voice } from './post-transcription.ts';
import { startTestPlatform, type TestPlatform } from './setup.ts';

const clip = (voice: Voice, seconds = 5, wobble = 1): Uint8Array => wavFile(buzz({ ...voice, seconds, wobble }), 16_000);
const clips = { deep: clip(deep), deepAgain: clip(deep, 3, 2), bright: clip(bright) };

describe('speaker profiles', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-speakers-'));
  let test: TestPlatform;
  beforeAll(async () => {
    test = await startTestPlatform({ dataDir });
  });
  afterAll(async () => {
    await test[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  type Fields = Record<string, string | Uint8Array>;
  const formOf = (fields: Fields): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      form.append(name, typeof value === 'string' ? value : new Blob([Buffer.from(value)]));
    }
    return form;
  };
  const call = async (on: TestPlatform, variant: 'primary' | 'b', method: string, path: string, fields?: Fields) => {
    const [base, credential] =
      variant === 'b' ? [on.platform.asrAltUrl, on.platform.apiKey] : [on.platform.asrUrl, await on.token()];
    const response = await fetch(`${base}/v1/speakers/${path}`, {
      method,
      headers: { authorization: `Bearer ${credential}` },
      ...(fields === undefined ? {} : { body: formOf(fields) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const register = (fields: Fields, variant: 'primary' | 'b' = 'primary') => call(test, variant, 'POST', 'register', fields);
  const remove = (fields: Fields, variant: 'primary' | 'b' = 'primary') => call(test, variant, 'DELETE', 'delete', fields);
  const list = async (project: string, on = test) =>
    (await call(on, 'b', 'GET', `list?project=${project}`)).body['speakers'] as Record<string, string>[];
  const identify = (fields: Fields) => call(test, 'b', 'POST', 'identify', fields);

  it('registers with name, file and project; a name and a file are required [140]', async () => {
    for (const variant of ['primary', 'b'] as const) {
      expect(await register({ name: 'Asha', file: clips.deep, project: variant }, variant)).toEqual({
        status: 200,
        body: { success: true, speaker: 'Asha', message: expect.any(String) },
      });
      expect((await register({ file: clips.deep }, variant)).status).toBe(400);
      expect((await register({ name: ' ', file: clips.deep }, variant)).status).toBe(400);
      expect((await register({ name: 'Asha' }, variant)).status).toBe(400);
    }
  });

  it('refuses the name unknown, a clip without a voice, and a file that is no audio', async () => {
    expect((await register({ name: 'Unknown', file: clips.deep })).status).toBe(400);
    expect((await register({ name: 'Asha', file: wavFile(new Int16Array(80_000), 16_000) })).status).toBe(400);
    expect((await register({ name: 'Asha', file: Buffer.from('no sound') })).status).toBe(415);
  });

  it('takes no project as one of its own; one name in two projects is two profiles [141]', async () => {
    await register({ name: 'Ravi', file: clips.deep });
    await register({ name: 'Ravi', file: clips.bright, project: 'north' });
    expect((await list('')).map(({ name, project }) => [name, project])).toEqual([['Ravi', '']]);
    expect((await list('north')).map(({ name, project }) => [name, project])).toEqual([['Ravi', 'north']]);
    await remove({ name: 'Ravi' });
    expect(await list('')).toEqual([]);
    expect(await list('north')).toHaveLength(1);
  });

  it('deletes by a multipart body; an unknown one is a 404 [142]', async () => {
    await register({ name: 'Mira', file: clips.bright, project: 'gone' });
    expect(await remove({ name: 'Mira', project: 'gone' })).toEqual({ status: 200, body: { success: true } });
    expect((await remove({ name: 'Mira', project: 'gone' })).status).toBe(404);
    expect(await remove({ name: 'Mira', project: 'gone' }, 'b')).toEqual({
      status: 404,
      body: { success: false, error: { code: 'not_found', message: expect.any(String) } },
    });
    expect((await remove({ project: 'gone' })).status).toBe(400);
  });

  it("lists one project's profiles, registered at a time without a zone [143]", async () => {
    await register({ name: 'One', file: clips.deep, project: 'listed' });
    await register({ name: 'Two', file: clips.bright, project: 'listed' });
    await register({ name: 'Other', file: clips.bright, project: 'else' });
    expect(await list('listed')).toEqual(
      ['One', 'Two'].map((name) => ({
        name,
        project: 'listed',
        registered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/),
      })),
    );
    expect((await call(test, 'primary', 'GET', 'list')).status).toBe(404);
  });

  it('replaces a profile that is registered again', async () => {
    await register({ name: 'Twice', file: clips.bright, project: 'twice' });
    await register({ name: 'Twice', file: clips.deep, project: 'twice' });
    expect(await list('twice')).toHaveLength(1);
    expect((await identify({ file: clips.deepAgain, project: 'twice' })).body['speaker']).toBe('Twice');
  });

  it('identifies a voice with a confidence, and a stranger as unknown [144]', async () => {
    await register({ name: 'Deep', file: clips.deep, project: 'known' });
    const known = await identify({ file: clips.deepAgain, project: 'known' });
    expect(known.body).toEqual({ success: true, speaker: 'Deep', confidence: expect.any(Number) });
    expect(known.body['confidence']).toBeGreaterThan(0.7);
    expect(known.body['confidence']).toBeLessThanOrEqual(1);
    const stranger = await identify({ file: clips.bright, project: 'known' });
    expect(stranger.body).toEqual({ success: true, speaker: 'unknown', confidence: expect.any(Number) });
    expect((await identify({ file: clips.deep, project: 'empty' })).body).toEqual({
      success: true,
      speaker: 'unknown',
      confidence: 0,
    });
    expect((await identify({ project: 'known' })).status).toBe(400);
  });

  it('registers clips shorter and longer than advised [145]', async () => {
    for (const seconds of [1, 40]) {
      expect((await register({ name: `for ${seconds} s`, file: clip(deep, seconds), project: 'lengths' })).status).toBe(200);
    }
  });

  it('names the speakers of a transcription after them, and keeps them over a restart', async () => {
    await register({ name: 'Deep', file: clips.deep, project: 'kept' });
    const kept = JSON.parse(readFileSync(join(dataDir, 'speakers.json'), 'utf8')) as { profiles: unknown[] };
    expect(kept.profiles.length).toBeGreaterThan(0);
    await using again = await startTestPlatform({ dataDir });
    expect((await list('kept', again)).map(({ name }) => name)).toEqual(['Deep']);
  });
});
