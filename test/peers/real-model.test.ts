import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinSamples } from '../../src/audio/samples.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/hosts/app.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { temporaryFolder } from '../../src/kernel/temporary.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { ScriptedCaller } from '../../src/sim/caller/caller.ts';
import { WordErrorCount } from '../../src/sim/caller/word-errors.ts';
import { simulatedTwilio } from '../../src/sim/twilio/api.ts';
import { asFiles, startWith } from '../../bench/recogniser/through-platform.ts';
import { type Clip, readClips } from '../../bench/recordings.ts';
import { requireModel } from '../support/requires.ts';
import { noteMissing } from '../support/skipped-table.ts';
import { shared } from '../support/shared.ts';

// People on a telephone line, understood by a published model behind the embedded platform.
const NAME = 'moonshine-v2-tiny-en';
const recordings = process.env.OFFHOOK_TEST_HUMAN_AUDIO ?? join(import.meta.dirname, '../../../shared/audio/human');
const clips = readClips(recordings, -22);
if (clips.length === 0) noteMissing('recordings of people (OFFHOOK_TEST_HUMAN_AUDIO)');
const modelsFolder = clips.length === 0 ? undefined : await requireModel(NAME);

/** Thirty sentences, each of at least five words. */
const sentences = clips.filter(({ text }) => text.split(/\s+/u).length >= 5).slice(0, 30);
const MOST_WRONG_PERCENT = 15;
/** Sent at once, four streams beside each other: that keeps two cores busy. */
const STREAMS = 4;

describe.skipIf(modelsFolder === undefined)('an open model that listens to people', () => {
  const platform = shared(() => startWith(modelsFolder ?? '', NAME, 'en'));

  it('understands thirty recordings as files', async () => {
    const { wordErrorPercent, missed } = await asFiles(platform, sentences, 'en');
    expect(wordErrorPercent, JSON.stringify(missed)).toBeLessThanOrEqual(MOST_WRONG_PERCENT);
  });

  it('understands them as streams', async () => {
    const count = new WordErrorCount();
    const random = seededRandom(11);
    const quiet = (ms: number): Int16Array => noise(ms, 8_000, 0.001, random);
    const waiting = [...sentences];
    const stream = async (): Promise<void> => {
      await using session = platform.speech.recognise({ language: 'en', sampleRateHz: 8_000 }, new AbortController().signal);
      for (let clip = waiting.shift(); clip !== undefined; clip = waiting.shift()) {
        session.send(joinSamples([quiet(300), clip.pcm, quiet(640)]));
        count.add(clip.text, (await session.commit()).text);
      }
    };
    await Promise.all(Array.from({ length: STREAMS }, stream));
    expect(count.percent).toBeLessThanOrEqual(MOST_WRONG_PERCENT);
  });

  it('books an appointment for a caller who is a person', async () => {
    await using folder = await temporaryFolder(tmpdir(), 'offhook-real-model');
    await using account = await simulatedTwilio.open({ clock: systemClock });
    const env = { OFFHOOK_DATA_DIR: folder.path, OFFHOOK_PORT: '0', OFFHOOK_CALL__REFUSE_LAG_MS: '60000', ...account.env };
    const { bots } = loadBots(join(import.meta.dirname, '../../config/bots'));
    await using gateway = await startGateway({
      config: loadConfig({ env, files: [] }),
      bots: bots.filter(({ name }) => name === 'clinic'),
      speech: { ...platform.process.urls, apiKey: platform.process.apiKey },
      clock: systemClock,
      logger: silentLogger,
      worker: false,
    });
    await gateway.prepared;
    const call = await account.place({ url: gateway.url, clock: systemClock, bot: 'clinic' });
    const said = (...names: readonly string[]) => ({
      kind: 'say' as const,
      text: names.join(' '),
      pcm: joinSamples(names.map((name) => clipOf(name).pcm)),
    });
    const caller = new ScriptedCaller(call.line, 60_000);
    const talk = caller.run([
      // A book appointment, while the bot still greets.
      { kind: 'press', digits: '1', afterMs: 300 },
      said('digits-day-2'),
      said('digits-11', 'digits-oclock'),
      { kind: 'press', digits: '1', afterMs: 500 },
      said('vm-no'),
      { kind: 'wait-for-end' },
    ]);
    const session = await new Promise<(typeof gateway.calls.calls)[number]>((resolve) => {
      const look = (): void => {
        const [first] = gateway.calls.calls;
        if (first === undefined) setImmediate(look);
        else resolve(first);
      };
      look();
    });
    await talk;
    const record = await session.ended;
    const heard = record.turns.map(({ callerText }) => callerText);
    expect(record.turns.map(({ botText }) => botText).join(' '), JSON.stringify(heard)).toMatch(
      /We will see you on Tuesday at eleven/u,
    );
    expect(record.endReason).toBe('appointment-booked');
  });
});

function clipOf(name: string): Clip {
  const clip = clips.find((each) => each.name === `prompt-${name}.wav`);
  if (clip === undefined) throw new Error(`${recordings} has no prompt-${name}.wav`);
  return clip;
}
