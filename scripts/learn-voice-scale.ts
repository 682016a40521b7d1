// Measures what the speaker embedding's numbers are on average over the synthetic voices, and how much each wavers within
// one voice, prints both for `src/platform/engines/speakers/embedding.ts`, and then how well voices are told apart:
//   npx tsx scripts/learn-voice-scale.ts [FOLDER]
// FOLDER holds WAV recordings of people that were not learnt from, and a manifest.csv with columns file, text, speaker.
import { readFileSync } from 'node:fs';
import { activeLevelDb, amplify } from '../src/audio/level.ts';
import { resample } from '../src/audio/resample.ts';
import { parseWav } from '../src/audio/wav.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLogger } from '../src/observability/logger.ts';
import { throughTelephone } from '../src/platform/engines/recognise/training-speech.ts';
import { seededRandom } from '../src/audio/tone.ts';
import { embedSpeaker, similarity } from '../src/platform/engines/speakers/embedding.ts';
import { STATISTICS, voiceStatistics, voiceFrames } from '../src/platform/engines/speakers/voice-features.ts';
import { EngineProcess } from '../src/platform/engines/synth/engine-process.ts';

interface Clip {
  readonly speaker: string;
  readonly pcm: Int16Array;
}

const english = [
  'I would like to book an appointment for Tuesday morning, please, and tell the doctor about it.',
  'The weather has been lovely all week but tomorrow there will be rain in the evening.',
  'Could you connect me with somebody in the billing department about my last invoice?',
  'My number is four two seven nine, and the code on the back is one three five eight.',
  'We walked along the river until the lights of the town came into view behind the hill.',
];
const hindi = [
  'मुझे मंगलवार की सुबह डॉक्टर से मिलने का समय चाहिए, कृपया बता दीजिए।',
  'आज मौसम बहुत अच्छा है लेकिन कल शाम को बारिश होगी।',
  'मेरा नंबर चार दो सात नौ है और पीछे का कोड एक तीन पाँच आठ है।',
  'हम नदी के किनारे चलते रहे जब तक शहर की रोशनी दिखाई नहीं दी।',
];
/** espeak variants and their pitches. */
const variants = { m1: 48, m2: 46, m3: 42, m5: 50, m7: 40, f1: 55, f2: 52, f3: 50, f4: 58, f5: 50, Annie: 50, croak: 50 };

async function syntheticClips(): Promise<Clip[]> {
  const clips: Clip[] = [];
  for (const name of ['espeak', 'flite'] as const) {
    const engine = await EngineProcess.start({ engine: name, clock: systemClock, logger: silentLogger });
    if (engine === undefined) continue;
    const plans =
      name === 'flite'
        ? ['kal', 'awb', 'rms', 'slt'].map((voice) => ({ voice, pitch: 50, texts: english }))
        : Object.entries(variants).flatMap(([variant, pitch]) => [
            { voice: `en-us+${variant}`, pitch, texts: english },
            { voice: `hi+${variant}`, pitch, texts: hindi },
          ]);
    for (const { voice, pitch, texts } of plans) {
      for (const text of texts) {
        const { pcm, rateHz } = await engine.render({ text, voice, pitch, speed: 1 });
        clips.push({ speaker: voice, pcm: resample(pcm, rateHz, 16_000) });
      }
    }
    await engine[Symbol.asyncDispose]();
  }
  return clips;
}

/** Clips of at least 4.5 s (2.5 s of whoever said little), short ones joined, at most 30 a speaker. */
function humanClips(folder: string): Clip[] {
  const lines = readFileSync(`${folder}/manifest.csv`, 'utf8').trim().split('\n').slice(1);
  const clips = new Map<string, Int16Array[]>();
  for (const line of lines) {
    const fields = [...line.matchAll(/("[^"]*"|[^,]*)(?:,|$)/g)].map((match) => match[1]!);
    const [file = '', , speaker = ''] = fields;
    const { samples, rateHz } = parseWav(readFileSync(`${folder}/${file}`));
    const pcm = resample(samples[0]!, rateHz, 16_000);
    const list = clips.get(speaker) ?? [];
    const last = list.at(-1);
    if (last !== undefined && last.length < 4.5 * 16_000) list[list.length - 1] = Int16Array.from([...last, ...pcm]);
    else list.push(pcm);
    clips.set(speaker, list);
  }
  return [...clips].flatMap(([speaker, list]) =>
    list
      .filter((pcm) => pcm.length >= 2.5 * 16_000)
      .slice(0, 30)
      .map((pcm) => ({ speaker: `human ${speaker}`, pcm })),
  );
}

/** Each clip at one level, and once more through a noisy telephone. */
function twice(clips: readonly Clip[]): Clip[] {
  return clips.flatMap(({ speaker, pcm }, index) => {
    const level = amplify(pcm, -20 - activeLevelDb(pcm, 16_000));
    const phoned = throughTelephone(resample(level, 16_000, 8_000), 22, seededRandom(index));
    return [level, resample(phoned, 8_000, 16_000)].map((heard) => ({ speaker, pcm: heard }));
  });
}

function mean(vectors: readonly Float64Array[]): Float64Array {
  return Float64Array.from(
    { length: STATISTICS },
    (_, d) => vectors.reduce((sum, vector) => sum + vector[d]!, 0) / vectors.length,
  );
}

const synthetic = twice(await syntheticClips());
const voices = new Map<string, Float64Array[]>();
for (const { speaker, pcm } of synthetic) {
  const statistics = voiceStatistics(voiceFrames(pcm));
  if (statistics !== undefined) voices.set(speaker, [...(voices.get(speaker) ?? []), statistics]);
}
const means = [...voices.values()].map(mean);
const deviations = [...voices.values()].flatMap((vectors, voice) =>
  vectors.map((vector) => vector.map((value, d) => (value - means[voice]![d]!) ** 2)),
);
const round = (vector: Float64Array): string =>
  [...vector]
    .map((value) => value.toPrecision(4))
    .map(Number)
    .join(', ');
process.stdout.write(`average: [${round(mean(means))}]\nwavering: [${round(mean(deviations).map(Math.sqrt))}]\n`);

/** Two espeak languages through one variant are one throat: not counted as strangers. */
const throat = (speaker: string): string => speaker.replace(/^.*\+/, '');
function report(title: string, clips: readonly Clip[]): void {
  const heard = clips.map(({ speaker, pcm }) => ({ speaker, vector: embedSpeaker(pcm) }));
  const same: number[] = [];
  const other: number[] = [];
  for (const [index, a] of heard.entries()) {
    for (const b of heard.slice(index + 1)) {
      if (a.speaker === b.speaker) same.push(similarity(a.vector, b.vector));
      else if (throat(a.speaker) !== throat(b.speaker)) other.push(similarity(a.vector, b.vector));
    }
  }
  const below = same.filter((value) => value < 0.7).length / same.length;
  const above = other.filter((value) => value >= 0.7).length / other.length;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  process.stdout.write(
    `${title}: of ${same.length} pairs of one voice ${percent(below)} fall below 0.7; of ${other.length} pairs of two, ${percent(above)} reach it\n`,
  );
}

report('synthetic voices', synthetic);
const folder = process.argv[2];
if (folder !== undefined) report('people', twice(humanClips(folder)));
