import { fileURLToPath } from 'node:url';
import { expect, it, test } from 'vitest';
import { findingsOf, type Heard } from '../../../../src/records/analysis/findings.ts';
import { monoRoles } from '../../../../src/records/analysis/profile.ts';
import { loadProfile, parseProfile } from '../../../../src/records/analysis/analysis-profiles.ts';
import { insightOptions } from '../../../../src/records/analysis/recognise.ts';
import { speakerRoles, talkersOf } from '../../../../src/records/analysis/hear-recording.ts';
import type { ChannelTranscript } from '../../../../src/records/analysis/transcript.ts';

const profileAt = (name: string) =>
  loadProfile(fileURLToPath(new URL(`../../../../config/analysis/${name}.yaml`, import.meta.url)), {});
const signal = new AbortController().signal;
/** What a platform concludes from nothing at all. */
const GUESSED = { intent: 'complaint', sentiment: 'neutral', summary: '', keyterms: [], normalizedText: undefined };

function channel(role: string, text: string, ...[confidence]: [number?]): ChannelTranscript {
  const words = text.split(' ').filter((word) => word !== '');
  const segments = text === '' ? [] : [{ startS: 0, endS: 4, text, confidence }];
  return {
    role,
    source: 'asr',
    text,
    segments,
    words: words.map((word, at) => ({ word, startS: at, endS: at + 1, confidence })),
  };
}

/** A stereo recording: 12 s, of which each side speaks four. */
function stereo(customer: ChannelTranscript, agent: ChannelTranscript): Heard {
  const talkers = [
    { role: customer.role, stretches: [{ startS: 5, endS: 9 }] },
    { role: agent.role, stretches: [{ startS: 0, endS: 4 }] },
  ];
  const insights = GUESSED;
  const none = { speakers: [], emotion: undefined, languages: ['en'], problems: [] };
  return { channels: [customer, agent], talkers, speechS: [4, 4], measuredFrom: 'sound', totalS: 12, insights, ...none };
}

const analysed = async (profile: string, heard: Heard) =>
  findingsOf(heard, { loaded: await profileAt(profile), model: undefined, recordedAtMs: 0 }, signal);

it('says how much the caller talks in a mono recording of the default profile, which was 0', async () => {
  const { profile } = await profileAt('default');
  expect(monoRoles(profile.channels)).toEqual(['bot', 'caller']);
  const turns = [
    { startS: 0, endS: 2, speaker: 'A' },
    { startS: 3, endS: 9, speaker: 'B' },
  ];
  const speakers = speakerRoles(turns, [], profile);
  const mixed: ChannelTranscript = {
    ...channel('mixed', ''),
    text: 'hello I want to move my appointment',
    segments: [
      { startS: 0, endS: 2, text: 'hello', speaker: 'A', confidence: 0.9 },
      { startS: 3, endS: 9, text: 'I want to move my appointment', speaker: 'B', confidence: 0.9 },
    ],
  };
  const talkers = talkersOf(turns, speakers, profile.channels.roles);
  const heard = { ...stereo(mixed, mixed), channels: [mixed], talkers, speakers, speechS: [8] };
  const { talkRatio, findings } = await analysed('default', heard);
  expect([talkRatio, findings.unknown]).toEqual([0.75, []]);
  expect(findings.insights).toMatchObject({ intent: 'complaint', sentiment: 'neutral' });
  const alone = { ...heard, talkers: talkers.slice(1), speakers: speakers.slice(0, 1) };
  const one = await analysed('default', alone);
  expect([one.talkRatio, one.findings.unknown[0]]).toEqual([null, { what: 'talk-ratio', reason: expect.any(String) }]);
});

it('has no score, mood, intent or outcome for a recording of which nothing was understood, and says why', async () => {
  const { findings, talkRatio } = await analysed('support', stereo(channel('customer', ''), channel('agent', '')));
  const reason = 'nothing was understood of 4.0 s of speech';
  expect(findings.problems).toEqual([`customer: ${reason}`, `agent: ${reason}`]);
  expect(findings.insights).toEqual({});
  expect(findings.quality?.score).toBeNull();
  expect(findings.quality?.items.map(({ id, result }) => [id, result])).toEqual([
    ['greeting', 'unknown'],
    ['help', 'unknown'],
    ['apology', 'unknown'],
    ['closing', 'unknown'],
    ['patience', 'pass'],
    ['holding', 'pass'],
  ]);
  expect(findings.disposition).toEqual({ value: null, reason: expect.stringContaining(reason), grounds: [] });
  expect(findings.missing).toEqual([]);
  expect(findings.unknown.map(({ what }) => what)).toEqual([
    'intent',
    'sentiment',
    'summary',
    'keyTerms',
    'field:order',
    'field:solved',
    'field:callBack',
    'score',
    'disposition',
  ]);
  // The sound was heard all the same.
  expect([talkRatio, findings.measures.speechS]).toEqual([0.5, 8]);
});

it('counts what one side said where the other side was not understood', async () => {
  const agent = channel('agent', 'good morning how can I help you today');
  const { findings } = await analysed('support', stereo(channel('customer', 'mm', 0.3), agent));
  const results = Object.fromEntries((findings.quality?.items ?? []).map(({ id, result }) => [id, result]));
  expect(results).toMatchObject({ greeting: 'pass', help: 'pass', closing: 'fail', apology: 'unknown' });
  expect(findings.quality?.score).toBeGreaterThan(50);
  expect(findings.insights).toEqual({});
  expect(findings.problems).toEqual(['customer: one word was understood with a confidence of 0.30, below 0.5']);
});

test.each<[string, string, number | undefined, string | undefined]>([
  ['three words that are unsure', 'book an appointment', 0.65, undefined],
  ['three words that are sure', 'book an appointment', 0.78, 'complaint'],
  ['two words that are quite sure', 'opening hours', 0.8, undefined],
  ['two words that are very sure', 'opening hours', 0.95, 'complaint'],
  ['a sentence that is fairly sure', 'I would like to book an appointment for Tuesday', 0.55, 'complaint'],
  ['a sentence that is a guess', 'I would like to book an appointment for Tuesday', 0.45, undefined],
  ['words without a confidence', 'book an appointment', undefined, 'complaint'],
  ['one word without a confidence', 'book', undefined, undefined],
])('takes %s for an intent only where that is evidence enough', async (_note, text, confidence, intent) => {
  const caller = channel('caller', text, confidence);
  const { findings } = await analysed('default', stereo(caller, channel('bot', 'hello')));
  expect(findings.insights.intent).toBe(intent);
  expect(findings.unknown.some(({ what }) => what === 'intent')).toBe(intent === undefined);
});

test.each([
  { given: 'refund', intent: 'refund', reason: undefined },
  { given: 'other', intent: undefined, reason: 'none of its choices fits' },
])('takes the answer $given of a platform that had to choose for the intent $intent', async ({ given, intent, reason }) => {
  const loaded = parseProfile('name: shop\ninsights: { intent: { choices: [refund, delivery] } }\n', 'shop.yaml', {});
  expect(insightOptions(loaded.profile).intentChoices).toEqual(['refund', 'delivery', 'other']);
  const said = channel('caller', 'I would like to know whether you are open on Sundays at all', 0.9);
  const heard = { ...stereo(said, channel('bot', 'hello', 0.9)), insights: { ...GUESSED, intent: given } };
  const { findings } = await findingsOf(heard, { loaded, model: undefined, recordedAtMs: 0 }, signal);
  expect(findings.insights.intent).toBe(intent);
  expect(findings.unknown.find(({ what }) => what === 'intent')?.reason).toBe(reason);
});
