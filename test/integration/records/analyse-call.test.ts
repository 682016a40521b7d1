import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { AnalysisProfiles } from '../../../src/records/analysis/analysis-profiles.ts';
import { analyseCall } from '../../../src/records/after-call/analyse-call.ts';
import { callAnalysis } from '../../../src/records/analysis/document.ts';
import type { BatchTranscriber } from '../../../src/records/analysis/transcriber.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { TranscriptionOptions } from '../../../src/speech/asr/transcription-options.ts';
import { storeOn } from '../../../src/records/database.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { embeddedDatabases, temporaryFolder } from '../../support/databases.ts';
import { hangs } from '../../support/patience.ts';

const RATE_HZ = 8000;
const BOOKING = `
name: booking
bots: [clinic]
redaction: { keywords: [friday], personal: [phone] }
insights: { sentiment: true }
fields: [{ name: day, type: date, by: customer, rules: [{ understand: day }] }]
checklist: [{ id: bye, question: Goodbye?, pass: { said: { phrases: [goodbye], by: agent } } }]
disposition: { outcomes: [{ value: booked, when: { all: [{ field: { name: day } }, { variable: { name: day } }] } }], otherwise: open }
`;
const TEXT = 'on friday no on tuesday call nine eight seven six five four three two one zero';

/** The caller in seconds 1 and 2, the bot in second 3. */
function stereoRecording(): Uint8Array {
  const pcm = new Int16Array(5 * RATE_HZ * 2);
  for (let n = RATE_HZ; n < 4 * RATE_HZ; n += 1) pcm[2 * n + (n < 3 * RATE_HZ ? 0 : 1)] = Math.round(6_000 * Math.sin(n / 4));
  return wavFile(pcm, RATE_HZ, 2);
}

it("takes the profile of the call's bot, and keeps its result when another one is asked for", async () => {
  await using databases = await embeddedDatabases();
  await using folder = await temporaryFolder();
  const database = await databases.open();
  await using store = storeOn(database);
  const profiles = join(folder.path, 'profiles');
  await mkdir(profiles);
  await writeFile(join(profiles, 'booking.yaml'), BOOKING);
  await writeFile(join(profiles, 'strict.yaml'), 'name: strict\nchannels: { roles: [caller, bot] }\n');
  const asked: (TranscriptionOptions | undefined)[] = [];
  const insights = {
    intent: undefined,
    summary: undefined,
    keyterms: undefined,
    normalizedText: undefined,
    sentiment: 'neutral',
  };
  const transcriber: BatchTranscriber = {
    async transcribe(_path, { recognition }) {
      asked.push(recognition);
      const segments = [{ startS: 1, endS: 3, text: TEXT }];
      return { text: TEXT, segments, requestId: 'r', ...(recognition?.sentiment === true ? { analysis: insights } : {}) };
    },
  };
  const workFolder = join(folder.path, 'work');
  await mkdir(workFolder);
  const parts = { store, transcriber, clock: systemClock, profiles: await AnalysisProfiles.load(profiles, {}), workFolder };
  const collected = { variables: { day: '2026-01-06', phone: '+919876543210' }, notes: ['asked for friday'] };
  const recordingPath = join(folder.path, 'call_3.wav');
  await writeFile(recordingPath, stereoRecording());
  await store.calls.upsert(callRecordOf({ id: 'call_3', recordingPath, ...collected }));
  const subject = { tenantId: 'default', callId: 'call_3' };
  const signal = hangs();
  for (const profile of [undefined, 'strict', undefined]) await analyseCall(parts, { ...subject, profile }, signal);

  const found = await store.analyses.list('default', 'call_3');
  expect(found).toHaveLength(2);
  const booking = found.find(({ profile: key }) => key.startsWith('booking@'));
  expect(booking).toMatchObject({ disposition: 'booked', score: 100 });
  const document = callAnalysis.parse(booking?.document);
  expect(document.channels[0]).toMatchObject({ role: 'caller', text: 'on **** no on tuesday call [phone]' });
  expect(JSON.stringify(document)).not.toMatch(/friday|nine/);
  expect(document.fields).toMatchObject([
    { name: 'day', value: '2026-01-06', evidence: [{ text: 'tuesday', role: 'customer' }] },
  ]);
  expect(document).toMatchObject({ variables: { day: '2026-01-06' }, notes: ['asked for ****'] });
  expect(JSON.stringify(document)).not.toContain('9876543210');
  expect(document.insights).toEqual({ sentiment: 'neutral' });
  expect(document.redaction?.hidden.map(({ kind }) => kind)).toEqual(['keyword', 'phone']);
  expect(document.measures).toMatchObject({ totalS: 5, speechS: 3, interruptions: [] });
  expect(document.measures?.roles.map(({ role, speechS }) => [role, speechS])).toEqual([
    ['customer', 2],
    ['agent', 1],
  ]);
  expect(asked[0]).toMatchObject({ language: 'en', hashKeywords: ['friday'], sentiment: true });
  expect(callAnalysis.parse(found.find((each) => each !== booking)?.document).profile?.name).toBe('strict');
  const files = (await readdir(folder.path)).filter((name) => name.startsWith('call_3.') && name !== 'call_3.wav');
  expect(files).toEqual([
    expect.stringMatching(/^call_3\.booking@\w+\.analysis\.json$/),
    expect.stringMatching(/^call_3\.strict@/),
  ]);
  await expect(analyseCall(parts, { ...subject, profile: 'nobody' }, signal)).rejects.toMatchObject({ retryable: false });
});
