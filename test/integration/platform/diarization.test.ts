import { describe, expect, it } from 'vitest';
import { embedSpeaker } from '../../../src/platform/engines/speakers/embedding.ts';
import type { SpeakerProfiles } from '../../../src/platform/engines/speakers/port.ts';
import { amplify } from '../../../src/audio/level.ts';
import { buzz } from '../../support/buzz.ts';
import { bright, deep, transcribeLines } from './post-transcription.ts';
import { ScriptedRecogniser } from './scripted-recogniser.ts';
import { testPlatform } from './setup.ts';
import { ToneSynthesizer } from './tone-engines.ts';

const recognition = new ScriptedRecogniser();
const asked: string[] = [];
const profiles: SpeakerProfiles = {
  list: async (project) => {
    asked.push(project);
    const embedding = embedSpeaker(amplify(buzz({ ...bright, seconds: 3, wobble: 2 }), -6));
    return project === 'clinic' ? [{ name: 'Asha', project, kind: 'built-in', embedding }] : [];
  },
};
const test = testPlatform({ engines: { recognition, profiles, synthesis: new ToneSynthesizer() } });

const lines = [
  { text: 'good morning', voice: deep },
  { text: 'hello there', voice: bright },
  { text: 'how are you', voice: deep },
  { text: 'very well', voice: bright },
];
const transcribe = (fields: Readonly<Record<string, string>>) => transcribeLines(test, recognition, lines, fields);

interface Turn {
  readonly start: number;
  readonly end: number;
  readonly speaker: string;
}

describe('diarization', () => {
  it('labels segments, and lists speakers and their turns [64]', async () => {
    const { body } = await transcribe({ num_speakers: '2' });
    expect(body.segments.map(({ speaker, text }) => [speaker, text])).toEqual([
      ['SPEAKER_00', 'good morning'],
      ['SPEAKER_01', 'hello there'],
      ['SPEAKER_00', 'how are you'],
      ['SPEAKER_01', 'very well'],
    ]);
    expect(body['speakers']).toEqual(['SPEAKER_00', 'SPEAKER_01']);
    const turns = body['speaker_turns'] as Turn[];
    expect(turns.map(({ speaker }) => speaker)).toEqual(['SPEAKER_00', 'SPEAKER_01', 'SPEAKER_00', 'SPEAKER_01']);
    for (const [index, wanted] of [0.5, 3.5, 6.5, 9.5].entries()) {
      expect(Math.abs(turns[index]!.start - wanted)).toBeLessThan(0.5);
      expect(Math.abs(turns[index]!.end - wanted - 2)).toBeLessThan(0.5);
    }
  });

  it('adds nothing of it when num_speakers is not sent [64]', async () => {
    const { body } = await transcribe({});
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^speaker/)]));
    expect(body.segments[0]).not.toHaveProperty('speaker');
  });

  it('uses the same labels in segments, turns and speakers for any number sent [197]', async () => {
    for (const num_speakers of ['1', '2', '5']) {
      const { body } = await transcribe({ num_speakers });
      const turns = (body['speaker_turns'] as Turn[]).map(({ speaker }) => speaker);
      const used = new Set([...turns, ...body.segments.map(({ speaker }) => speaker)]);
      expect(used).toEqual(new Set(body['speakers'] as string[]));
      expect(used.size).toBeLessThanOrEqual(Number(num_speakers));
    }
  });

  it('has nobody to name where nobody speaks', async () => {
    const { body } = await transcribeLines(test, recognition, [], { num_speakers: '2' });
    expect([body['speakers'], body['speaker_turns'], body.segments]).toEqual([[], [], []]);
  });
});

describe('speaker identification', () => {
  it('names diarized speakers after the profiles of the project, others unknown [76]', async () => {
    const { body } = await transcribe({ num_speakers: '2', speaker_id: 'true', project: 'clinic' });
    expect(body['speakers_identified']).toEqual([
      { speaker: 'SPEAKER_00', name: 'unknown', confidence: expect.any(Number) },
      { speaker: 'SPEAKER_01', name: 'Asha', confidence: expect.any(Number) },
    ]);
    const [stranger, known] = (body['speakers_identified'] as { confidence: number }[]).map(({ confidence }) => confidence);
    expect(stranger).toBeLessThan(0.7);
    expect(known).toBeGreaterThanOrEqual(0.7);
    expect(asked.at(-1)).toBe('clinic');
  });

  it('identifies no one in a project without profiles, by either name of the flag [76]', async () => {
    const { body } = await transcribe({ num_speakers: '2', enable_speaker_identification: 'true' });
    expect((body['speakers_identified'] as { name: string }[]).map(({ name }) => name)).toEqual(['unknown', 'unknown']);
    expect(asked.at(-1)).toBe('');
  });

  it('is a 400 with fewer than two speakers, and absent when not requested [76]', async () => {
    expect((await transcribe({ speaker_id: 'true' })).status).toBe(400);
    expect((await transcribe({ speaker_id: 'true', num_speakers: '1' })).status).toBe(400);
    expect((await transcribe({ num_speakers: '2' })).body).not.toHaveProperty('speakers_identified');
  });
});

describe('emotion', () => {
  const labels = expect.stringMatching(/^(neutral|happy|sad|angry)$/);

  it('is reported for the whole and each segment, with a distribution of 100 percent [74]', async () => {
    const { body } = await transcribe({ emotion: 'true' });
    expect(body['emotion']).toEqual({ label: labels, score: expect.any(Number) });
    for (const segment of body.segments) {
      expect(segment).toMatchObject({ emotion: labels, emotion_confidence: expect.any(Number) });
      expect(segment.emotion_confidence).toBeLessThanOrEqual(1);
    }
    const summary = body['emotion_summary'] as { emotion_distribution: Record<string, number> };
    expect(summary).toMatchObject({ dominant_emotion: labels, avg_confidence: expect.any(Number) });
    const sum = Object.values(summary.emotion_distribution).reduce((total, percentage) => total + percentage, 0);
    expect(sum).toBeCloseTo(100, 5);
  });

  it('brings segments into the short answer [75]', async () => {
    const { body } = await transcribe({ emotion: 'true', response_format: 'json', num_speakers: '2' });
    expect(Object.keys(body)).toEqual(['text', 'segments']);
    expect(body.segments).toHaveLength(4);
    expect(body.segments[0]).toMatchObject({ text: 'good morning', emotion: labels });
  });

  it('is absent when not requested, and neutral without speech', async () => {
    const { body } = await transcribe({});
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^emotion/)]));
    const silent = await transcribeLines(test, recognition, [], { emotion: 'true' });
    expect(silent.body['emotion']).toEqual({ label: 'neutral', score: 0 });
  });
});
