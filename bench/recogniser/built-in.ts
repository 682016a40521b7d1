// Accuracy, rejection and cost of the built-in recogniser. Run: npm run bench -- recogniser [-- --json]
// Voices: flite awb and espeak variants that it never learnt from. All speech is synthetic except ../shared/audio/human.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { activeLevelDb, amplify } from '../../src/audio/level.ts';
import { resample } from '../../src/audio/resample.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { answersOf, type RecognitionEngine, type RecognitionResult } from '../../src/platform/engines/recognise/port.ts';
import { readGrammar } from '../../src/platform/engines/recognise/grammar.ts';
import { compileNetwork } from '../../src/platform/engines/recognise/network.ts';
import { startRecogniser } from '../../src/platform/engines/recognise/recogniser.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { sampleUtterances, utteranceText } from '../../src/platform/engines/recognise/training-plan.ts';
import { throughTelephone } from '../../src/platform/engines/recognise/training-audio.ts';
import { EngineProcess } from '../../src/platform/engines/synth/engine-process.ts';

const SENTENCES = 40;
const vocabularyFolder = new URL('../../config/platform', import.meta.url).pathname;
const humanFolder = new URL('../../../shared/audio/human', import.meta.url).pathname;

interface Voice {
  readonly engine: 'espeak' | 'flite';
  readonly voice: string;
  readonly speed: number;
}

const languages: Record<string, { voices: Voice[]; dialog: string[]; unknown: string[] }> = {
  en: {
    voices: [
      { engine: 'flite', voice: 'awb', speed: 0.85 },
      { engine: 'flite', voice: 'awb', speed: 1 },
      { engine: 'flite', voice: 'awb', speed: 1.15 },
      { engine: 'espeak', voice: 'en-us+Annie', speed: 1 },
      { engine: 'espeak', voice: 'en-us+f5', speed: 1 },
      { engine: 'espeak', voice: 'en-gb-scotland+m5', speed: 0.9 },
    ],
    dialog: [
      "I'd like to book an appointment",
      "I'd like an appointment on Tuesday at half past ten",
      'Tuesday at half past ten',
      'Tuesday',
      'on Thursday',
      'tomorrow',
      'day after tomorrow',
      'half past ten',
      'ten thirty',
      'quarter to nine',
      'at three in the afternoon',
      'opening hours',
      'speak to a person',
      'yes',
      'yes please',
      'no',
      'no thank you',
      'help',
      'repeat',
      'stop',
      'wait',
      'goodbye',
      'cancel my appointment',
      'change my appointment',
      'one two three four',
      'zero nine eight seven six',
    ],
    unknown: [
      'I want a pizza with mushrooms',
      'the weather is nice today in London',
      'can you give me your credit card',
      'my dog ate the newspaper',
      'never mind it does not matter',
      'who is the president of France',
      'turn on the lights in the kitchen',
      'she sells sea shells',
      'this is a recording',
      'what is your name',
      'fifty percent discount',
      'I am not sure what you mean',
      'please hold the line',
      'banana',
      'elephant',
      'computer',
      'the number you have dialled is not in service',
      'let me think about it',
      'how are you doing',
      'refrigerator',
    ],
  },
  hi: {
    voices: [
      { engine: 'espeak', voice: 'hi+Annie', speed: 0.85 },
      { engine: 'espeak', voice: 'hi+Annie', speed: 1 },
      { engine: 'espeak', voice: 'hi+Annie', speed: 1.15 },
      { engine: 'espeak', voice: 'hi+f5', speed: 1 },
      { engine: 'espeak', voice: 'hi+m5', speed: 0.9 },
    ],
    dialog: [
      'मुझे अपॉइंटमेंट चाहिए',
      'अपॉइंटमेंट बुक करना है',
      'मंगलवार को साढ़े दस बजे',
      'मंगलवार',
      'कल',
      'परसों',
      'सुबह दस बजे',
      'साढ़े दस बजे',
      'दोपहर दो बजे',
      'हाँ',
      'जी हाँ',
      'नहीं',
      'जी नहीं',
      'मदद',
      'फिर से',
      'रुकिए',
      'बदलना है',
      'रद्द करना है',
      'एक दो तीन चार',
    ],
    unknown: [
      'मुझे पिज़्ज़ा खाना है',
      'आज मौसम बहुत अच्छा है',
      'आपका नाम क्या है',
      'मेरी गाड़ी ख़राब है',
      'भारत का प्रधानमंत्री कौन है',
      'बत्ती जला दो',
      'कंप्यूटर',
      'हाथी',
      'मैं बाज़ार जा रहा हूँ',
      'यह बहुत महँगा है',
      'खाना कब मिलेगा',
      'दुकान बंद है',
    ],
  },
};

const random = seededRandom(7);
const engines = new Map<string, EngineProcess>();

async function say({ engine, voice, speed }: Voice, text: string): Promise<Int16Array> {
  if (!engines.has(engine)) {
    const process = await EngineProcess.start({ engine, clock: systemClock, logger: silentLogger });
    if (process === undefined) throw new Error(`${engine} is not installed`);
    engines.set(engine, process);
  }
  const { pcm, rateHz } = await engines.get(engine)!.render({ text, voice, speed, pitch: 50 });
  const narrow = resample(pcm, rateHz, 8_000);
  return amplify(narrow, -20 - activeLevelDb(narrow, 8_000));
}

let heardS = 0;

async function recognise(engine: RecognitionEngine, language: string, pcm: Int16Array): Promise<RecognitionResult> {
  const segments: RecognitionResult[] = [];
  const stream = engine.open({ language, rateHz: 8_000, boostPhrases: [] }, (event) => {
    if (event.type === 'segment') segments.push(event.result);
  });
  for (let at = 0; at < pcm.length; at += 160) stream.push(pcm.slice(at, at + 160));
  heardS += pcm.length / 8_000;
  const last = await stream.commit();
  stream.close();
  const [first, ...more] = answersOf([...segments, ...last]);
  return { ...first!, text: [first!, ...more].map(({ text }) => text).join(' ') };
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

const rows: Record<string, string | number>[] = [];
const startMs = performance.now();
const engine = await startRecogniser({
  vocabularyFolder,
  cacheFolder: join(tmpdir(), 'offhook-bench'),
  clock: systemClock,
  logger: silentLogger,
});
const startS = (performance.now() - startMs) / 1_000;
const before = process.cpuUsage();
let renderS = 0;

for (const [language, { voices, dialog, unknown }] of Object.entries(languages)) {
  const network = compileNetwork(readGrammar(readFileSync(join(vocabularyFolder, `vocabulary.${language}.yaml`), 'utf8')));
  const sentences = sampleUtterances(network, SENTENCES, seededRandom(999)).map((words) => utteranceText(network, words));
  for (const snrDb of [undefined, 20, 10]) {
    for (const voice of voices) {
      const missed: string[] = [];
      const count = async (texts: readonly string[], right: (text: string, heard: string) => boolean): Promise<number> => {
        let all = 0;
        for (const text of texts) {
          const cpu = process.cpuUsage();
          const pcm = throughTelephone(await say(voice, text), snrDb, random);
          const used = process.cpuUsage(cpu);
          renderS += (used.user + used.system) / 1e6;
          const { text: heard } = await recognise(engine, language, pcm);
          if (right(text, heard)) all += 1;
          else missed.push(`${text} -> ${heard}`);
        }
        return Math.round((all / texts.length) * 1_000) / 10;
      };
      const row = {
        language,
        voice: `${voice.voice} x${voice.speed}`,
        noise: snrDb === undefined ? 'clean' : `${snrDb} dB`,
        'dialog right %': await count(dialog, (text, heard) => heard === text),
        'grammar right %': await count(sentences, (text, heard) => heard === text),
        'unknown refused %': await count(unknown, (_, heard) => heard === ''),
      };
      rows.push(row);
      if (process.argv.includes('--missed')) console.error(row, missed);
    }
  }
}
const used = process.cpuUsage(before);
const cpuShare = ((used.user + used.system) / 1e6 - renderS) / heardS;

let refused = 0;
const accepted: string[] = [];
const others = noises();
if (existsSync(humanFolder)) {
  for (const name of readdirSync(humanFolder)
    .filter((name) => name.endsWith('.wav'))
    .sort()) {
    const { samples, rateHz } = parseWav(readFileSync(join(humanFolder, name)));
    others.push({ name, pcm: resample(samples[0]!, rateHz, 8_000) });
  }
}
for (const { name, pcm } of others) {
  for (const language of Object.keys(languages)) {
    const { text } = await recognise(engine, language, pcm);
    if (text === '') refused += 1;
    else accepted.push(`${name} (${language}): ${text}`);
  }
}
const summary = { startS, cpuPercentOfACore: cpuShare * 100, othersRefused: `${refused} of ${others.length * 2}`, accepted };
if (process.argv.includes('--json')) console.log(JSON.stringify({ rows, summary }));
else {
  console.table(rows);
  console.log(summary);
}
await engine[Symbol.asyncDispose]();
for (const process of engines.values()) await process[Symbol.asyncDispose]();
