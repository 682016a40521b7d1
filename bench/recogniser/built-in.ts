// Accuracy, rejection and cost of the built-in recogniser; see measure.ts.
// Voices: flite awb and espeak variants that it never learnt from. All speech is synthetic except the recordings of people.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { answersOf, type RecognitionResult } from '../../src/platform/engines/recognise/port.ts';
import { readGrammar, compileNetwork } from '../../src/platform/engines/recognise/grammar.ts';
import { startRecogniser } from '../../src/platform/engines/recognise/recogniser.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { sampleUtterances, utteranceText, throughTelephone } from '../../src/platform/engines/recognise/training-speech.ts';
import { CallerVoice } from '../../src/sim/caller/voice.ts';
import { printDocument, round } from '../document.ts';
import { HUMAN_FOLDER, readClips } from '../recordings.ts';

const SENTENCES = 40;
const vocabularyFolder = new URL('../../config/platform', import.meta.url).pathname;

interface Voice {
  readonly engine: 'espeak' | 'flite';
  readonly voice: string;
  readonly speed: number;
}

const at = (engine: Voice['engine'], voice: string, ...speeds: number[]): Voice[] =>
  speeds.map((speed) => ({ engine, voice, speed }));

/** Texts are separated by semicolons. */
const languages: Record<string, { voices: Voice[]; dialog: string; unknown: string }> = {
  en: {
    voices: [
      ...at('flite', 'awb', 0.85, 1, 1.15),
      ...at('espeak', 'en-us+Annie', 1),
      ...at('espeak', 'en-us+f5', 1),
      ...at('espeak', 'en-gb-scotland+m5', 0.9),
    ],
    dialog: `
      I'd like to book an appointment; I'd like an appointment on Tuesday at half past ten; Tuesday at half past ten;
      Tuesday; on Thursday; tomorrow; day after tomorrow; half past ten; ten thirty; quarter to nine;
      at three in the afternoon; opening hours; speak to a person; yes; yes please; no; no thank you; help; repeat;
      stop; wait; goodbye; cancel my appointment; change my appointment; one two three four;
      zero nine eight seven six`,
    unknown: `
      I want a pizza with mushrooms; the weather is nice today in London; can you give me your credit card;
      my dog ate the newspaper; never mind it does not matter; who is the president of France;
      turn on the lights in the kitchen; she sells sea shells; this is a recording; what is your name;
      fifty percent discount; I am not sure what you mean; please hold the line; banana; elephant; computer;
      the number you have dialled is not in service; let me think about it; how are you doing; refrigerator`,
  },
  hi: {
    voices: [...at('espeak', 'hi+Annie', 0.85, 1, 1.15), ...at('espeak', 'hi+f5', 1), ...at('espeak', 'hi+m5', 0.9)],
    dialog: `
      मुझे अपॉइंटमेंट चाहिए; अपॉइंटमेंट बुक करना है; मंगलवार को साढ़े दस बजे; मंगलवार; कल; परसों; सुबह दस बजे;
      साढ़े दस बजे; दोपहर दो बजे; हाँ; जी हाँ; नहीं; जी नहीं; मदद; फिर से; रुकिए; बदलना है; रद्द करना है;
      एक दो तीन चार`,
    unknown: `
      मुझे पिज़्ज़ा खाना है; आज मौसम बहुत अच्छा है; आपका नाम क्या है; मेरी गाड़ी ख़राब है;
      भारत का प्रधानमंत्री कौन है; बत्ती जला दो; कंप्यूटर; हाथी; मैं बाज़ार जा रहा हूँ; यह बहुत महँगा है;
      खाना कब मिलेगा; दुकान बंद है`,
  },
};

const textsOf = (list: string): string[] => list.split(';').map((text) => text.trim());
const random = seededRandom(7);
await using speaker = new CallerVoice();

async function say({ engine, voice, speed }: Voice, text: string): Promise<Int16Array> {
  // The simulated caller's engine is chosen by language: any but English is espeak-ng's.
  return await speaker.say(text, { language: engine === 'flite' ? 'en' : 'hi', voice, rate: speed });
}

const rows: Record<string, string | number>[] = [];
const startMs = performance.now();
const engine = await startRecogniser({
  vocabularyFolder,
  cacheFolder: join(tmpdir(), 'offhook-bench'),
  clock: systemClock,
  logger: silentLogger,
});
const startS = (performance.now() - startMs) / 1_000;

let [heardS, coreS] = [0, 0];

async function textOf(language: string, pcm: Int16Array): Promise<string> {
  const before = process.cpuUsage();
  const segments: RecognitionResult[] = [];
  const stream = engine.open({ language, rateHz: 8_000, boostPhrases: [] }, (event) => {
    if (event.type === 'segment') segments.push(event.result);
  });
  for (let at = 0; at < pcm.length; at += 160) stream.push(pcm.slice(at, at + 160));
  segments.push(...(await stream.commit()));
  stream.close();
  const { user, system } = process.cpuUsage(before);
  coreS += (user + system) / 1e6;
  heardS += pcm.length / 8_000;
  return answersOf(segments)
    .map(({ text }) => text)
    .join(' ');
}

/** Noises a line carries, 2 s each. */
function noises(): { name: string; pcm: Int16Array }[] {
  const burst = (name: string, sample: (n: number) => number): { name: string; pcm: Int16Array } => ({
    name,
    pcm: Int16Array.from({ length: 16_000 }, (_, n) => Math.max(-32_768, Math.min(32_767, sample(n)))),
  });
  const white = (): number => random() * 2 - 1;
  let low = 0;
  const cough = (n: number): number => {
    low += 0.35 * (white() - low);
    const at = (n - 4_000) % 6_000;
    return at < 0 || n < 4_000 || at > 2_600 ? 0 : low * 22_000 * Math.exp(-at / 900);
  };
  return [
    burst('silence', () => 0),
    ...[300, 1_500, 6_000].map((amplitude) => burst(`white noise ${amplitude}`, () => white() * amplitude)),
    ...Array.from({ length: 10 }, (_, index) => burst(`cough ${index}`, cough)),
    burst('tone 425 Hz', (n) => 6_000 * Math.sin((2 * Math.PI * 425 * n) / 8_000)),
    burst('key 5', (n) => 5_000 * (Math.sin((2 * Math.PI * 770 * n) / 8_000) + Math.sin((2 * Math.PI * 1_336 * n) / 8_000))),
    burst('G.711 read as linear', () => Math.floor(random() * 65_536) - 32_768),
  ];
}

for (const [language, { voices, dialog, unknown }] of Object.entries(languages)) {
  const network = compileNetwork(readGrammar(readFileSync(join(vocabularyFolder, `vocabulary.${language}.yaml`), 'utf8')));
  const sentences = sampleUtterances(network, SENTENCES, seededRandom(999)).map((words) => utteranceText(network, words));
  for (const snrDb of [undefined, 20, 10]) {
    for (const voice of voices) {
      const missed: string[] = [];
      const count = async (texts: readonly string[], right: (text: string, heard: string) => boolean): Promise<number> => {
        let all = 0;
        for (const text of texts) {
          const heard = await textOf(language, throughTelephone(await say(voice, text), snrDb, random));
          if (right(text, heard)) all += 1;
          else missed.push(`${text} -> ${heard}`);
        }
        return round((100 * all) / texts.length);
      };
      const row = {
        language,
        voice: `${voice.voice} x${voice.speed}`,
        noise: snrDb === undefined ? 'clean' : `${snrDb} dB`,
        'dialog right %': await count(textsOf(dialog), (text, heard) => heard === text),
        'grammar right %': await count(sentences, (text, heard) => heard === text),
        'unknown refused %': await count(textsOf(unknown), (_, heard) => heard === ''),
      };
      rows.push(row);
      if (process.argv.includes('--missed')) console.error(row, missed);
    }
  }
}
let refused = 0;
const accepted: string[] = [];
const others = [...noises(), ...readClips(HUMAN_FOLDER, -20)];
for (const { name, pcm } of others) {
  for (const language of Object.keys(languages)) {
    const text = await textOf(language, pcm);
    if (text === '') refused += 1;
    else accepted.push(`${name} (${language}): ${text}`);
  }
}
const summary = {
  startS,
  cpuPercentOfACore: (100 * coreS) / heardS,
  othersRefused: `${refused} of ${others.length * 2}`,
  accepted,
};
printDocument({ rows, summary });
await engine[Symbol.asyncDispose]();
