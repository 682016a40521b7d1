// How often speech of people is turned into words that nobody said. Run: npx tsx bench/recogniser/measure.ts --people
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resample } from '../../src/audio/resample.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { answersOf } from '../../src/platform/engines/recognise/port.ts';
import { startRecogniser } from '../../src/platform/engines/recognise/recogniser.ts';
import { leastConfidence } from '../../src/platform/server/asr/transcribe.ts';

const folder = new URL('../../../shared/audio/human', import.meta.url).pathname;
if (!existsSync(folder)) throw new Error(`there are no recordings in ${folder}`);
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} ]/gu, '')
    .trim();
const clips = readFileSync(join(folder, 'manifest.csv'), 'utf8')
  .split('\n')
  .slice(1)
  .flatMap((line) => {
    const [, name, quoted, bare = ''] = /^([^,]+),(?:"((?:[^"]|"")*)"|([^,]*)),/u.exec(line) ?? [];
    return name === undefined ? [] : [{ name, text: plain(quoted ?? bare) }];
  });
const engine = await startRecogniser({
  vocabularyFolder: new URL('../../config/platform', import.meta.url).pathname,
  cacheFolder: join(tmpdir(), 'offhook-bench'),
  clock: systemClock,
  logger: silentLogger,
});
const counts = { tried: 0, right: 0, inventedInCalls: 0, inventedInRecordings: 0 };
for (const { name, text } of clips) {
  const { samples, rateHz } = parseWav(readFileSync(join(folder, name)));
  const pcm = resample(samples[0] ?? new Int16Array(), rateHz, 8_000);
  for (const language of engine.languages) {
    const heard: { text: string; confidence: number }[] = [];
    const stream = engine.open({ language, rateHz: 8_000, boostPhrases: [] }, (event) => {
      if (event.type === 'segment') heard.push(event.result);
    });
    stream.push(pcm);
    heard.push(...answersOf(await stream.commit()));
    stream.close();
    const words = heard.filter((each) => each.text !== '');
    const isRight = plain(words.map((each) => each.text).join(' ')) === text;
    counts.tried += 1;
    if (words.length === 0) continue;
    if (isRight) counts.right += 1;
    else {
      counts.inventedInCalls += 1;
      if (words.some(({ confidence }) => confidence >= leastConfidence)) counts.inventedInRecordings += 1;
    }
  }
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
await engine[Symbol.asyncDispose]();
