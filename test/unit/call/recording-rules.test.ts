import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { type KeepRule, Recording } from '../../../src/call/recording/recording.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { thorough } from '../../support/thorough.ts';

const FRAME_MS = 20;

/** Feeds both sides with a steady sound for a second at a time; gives the peak of each 100 ms of both channels. */
async function record(rule: KeepRule, during: Readonly<Record<number, (recording: Recording, nowMs: number) => void>>) {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'call.wav');
  const recording = new Recording(path, 'call', { rule });
  const frame = new Int16Array(160).fill(1000);
  for (let atMs = 0; atMs < 2_000; atMs += FRAME_MS) {
    during[atMs]?.(recording, 5_000 + atMs);
    recording.caller(frame, atMs, 5_000 + atMs, 1_000_000 + atMs);
    recording.bot(frame, 5_000 + atMs + 200, 5_000 + atMs);
  }
  await recording.finish(7_000);
  if (!existsSync(path)) return { started: recording.started, kept: [], wav: undefined };
  const sidecarPath = path.replace('.wav', '.recording.json');
  // Both are for nobody but the gateway's own user.
  expect([path, sidecarPath].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  const sidecar = JSON.parse(readFileSync(sidecarPath, 'utf8')) as { kept: unknown };
  const [caller, bot] = parseWav(readFileSync(path)).samples;
  const loud = (samples: Int16Array, fromMs: number, toMs: number): boolean | undefined => {
    const part = samples.subarray(fromMs * 8, toMs * 8);
    if (part.every((sample) => sample === 1000)) return true;
    return part.every((sample) => sample === 0) ? false : undefined;
  };
  const wav = { lengthMs: caller!.length / 8, caller: loud.bind(undefined, caller!), bot: loud.bind(undefined, bot!) };
  return { started: recording.started, kept: sidecar.kept, wav };
}

describe('what is kept of a call', () => {
  it('is everything where the rule says so', async () => {
    const { started, kept, wav } = await record('always', {});
    expect(started).toBe(true);
    expect(kept).toEqual([{ fromMs: 0 }]);
    expect(wav?.caller(0, 1_900)).toBe(true);
    expect(wav?.bot(300, 1_900)).toBe(true);
  });

  it.each(['after-consent', 'after-announcement'] as const)(
    'is nothing, not even a file, when it never came to it: %s',
    async (rule) => {
      const other =
        rule === 'after-consent' ? (recording: Recording, nowMs: number) => recording.announced(nowMs) : () => undefined;
      expect(await record(rule, { 500: other })).toEqual({ started: false, kept: [], wav: undefined });
    },
  );

  it('is what follows the announcement, on the clock of the whole call', async () => {
    const { kept, wav } = await record('after-announcement', { 1_000: (recording, nowMs) => recording.announced(nowMs) });
    expect(kept).toEqual([{ fromMs: 1_020 }]);
    expect(wav?.lengthMs).toBeGreaterThan(1_900);
    expect(wav?.caller(0, 980)).toBe(false);
    expect(wav?.caller(1_000, 1_900)).toBe(true);
    expect(wav?.bot(0, 1_180)).toBe(false);
    expect(wav?.bot(1_220, 1_900)).toBe(true);
  });

  it('stands between a consent and its end, with nothing that was still to be played then', async () => {
    const { kept, wav } = await record('after-consent', {
      600: (recording, nowMs) => recording.consent(true, nowMs),
      1_200: (recording, nowMs) => recording.consent(false, nowMs),
    });
    expect(kept).toEqual([{ fromMs: 620, toMs: 1_220 }]);
    expect(wav?.caller(0, 580)).toBe(false);
    expect(wav?.caller(620, 1_180)).toBe(true);
    expect(wav?.caller(1_220, 1_900)).toBe(false);
    expect(wav?.bot(1_220, 1_900)).toBe(false);
  });

  it('ends with a consent taken back, where everything was kept before', async () => {
    const { wav } = await record('always', { 1_000: (recording, nowMs) => recording.consent(false, nowMs) });
    expect(wav?.caller(0, 980)).toBe(true);
    expect(wav?.caller(1_020, 1_900)).toBe(false);
  });
});

it('puts the bot where the ear hears it, though a frame arrives when it is over', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'call.wav');
  const recording = new Recording(path, 'call');
  for (let frame = 0; frame < 100; frame += 1) {
    recording.caller(new Int16Array(160), 102 + 20 * frame, 5_000 + 20 * (frame + 1), 0);
    if (frame === 40) recording.bot(new Int16Array(800).fill(9_000), 6_000, 5_840);
  }
  await recording.finish(7_000);
  const [, bot] = parseWav(readFileSync(path)).samples;
  expect(bot!.findIndex((sample) => sample !== 0)).toBe(1_000 * 8);
  expect(bot).toHaveLength(2_000 * 8);
});

describe('bot audio that is sent before the first frame of the caller', () => {
  /** The bot speaks from 5,000 ms on, in messages of 100 ms; the caller's first frame was spoken at `callerFromMs`. */
  async function begun(callerFromMs: number, { spokenMs = 400, lateMs = 0, clearedMs = Number.POSITIVE_INFINITY } = {}) {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'call.wav');
    const recording = new Recording(path, 'call');
    let stampMs = 0;
    for (let nowMs = 5_000; nowMs <= 10_000; nowMs += FRAME_MS) {
      const isSent = (nowMs - 5_000) % 100 === 0 && nowMs - 5_000 < spokenMs;
      if (isSent && nowMs < clearedMs) recording.bot(new Int16Array(800).fill(9_000), nowMs, nowMs);
      if (nowMs === clearedMs) recording.cleared(nowMs);
      // The first frames wait, and then come all at once.
      const spokenUntilMs = nowMs < callerFromMs + lateMs ? callerFromMs : nowMs;
      for (; callerFromMs + stampMs + FRAME_MS <= spokenUntilMs; stampMs += FRAME_MS)
        recording.caller(new Int16Array(160).fill(1_000), 102 + stampMs, nowMs, 1_000_000 + nowMs);
      recording.tick(nowMs);
    }
    await recording.finish(10_000);
    const { startedAtWallMs } = JSON.parse(readFileSync(path.replace('.wav', '.recording.json'), 'utf8')) as {
      startedAtWallMs: number;
    };
    const [caller = new Int16Array(), bot = new Int16Array()] = parseWav(readFileSync(path)).samples;
    const soundOf = (samples: Int16Array) => ({
      fromMs: samples.findIndex((sample) => sample !== 0) / 8,
      soundMs: samples.filter((sample) => sample !== 0).length / 8,
    });
    return { caller: soundOf(caller), bot: soundOf(bot), startedAtWallMs };
  }

  it('is recorded from its first sample, in time with the caller', async () => {
    const { caller, bot, startedAtWallMs } = await begun(5_300);
    expect(bot).toEqual({ fromMs: 0, soundMs: 400 });
    expect(caller).toEqual({ fromMs: 300, soundMs: 4_700 });
    expect(startedAtWallMs).toBe(1_005_000);
  });

  it.each([240, 1_500])('stands by the least delay of frames of which the first come %i ms late', async (lateMs) => {
    const { caller, bot } = await begun(5_100, { lateMs });
    expect(bot.soundMs).toBe(400);
    expect(caller.soundMs).toBe(4_900);
    // Of a delay that the window has no room for, what remains is an error.
    const errorMs = caller.fromMs - bot.fromMs - 100;
    if (lateMs === 240) expect(errorMs).toBe(0);
    else expect(errorMs).toBeLessThan(lateMs);
  });

  it.each([400, 2_500])(
    'is recorded whole, %i ms of it, on a line that brings nothing of the caller for seconds',
    async (spokenMs) => {
      const { caller, bot } = await begun(8_000, { spokenMs });
      expect(bot).toEqual({ fromMs: 0, soundMs: spokenMs });
      expect(caller).toEqual({ fromMs: 3_000, soundMs: 2_000 });
    },
  );

  it('ends where the carrier was told to drop it', async () => {
    const { bot } = await begun(5_300, { clearedMs: 5_160 });
    expect(bot).toEqual({ fromMs: 0, soundMs: 160 });
  });
});

/** What the carrier sends next: how long it is, what was lost before it, how late it comes, and how long after it there is a tick. */
const message = fc.record({
  lengthMs: fc.constantFrom(20, 20, 20, 30),
  lostMs: fc.constantFrom(0, 0, 0, 0, 20, 500),
  lateMs: fc.nat({ max: 60 }),
  stamped: fc.boolean(),
  tickMs: fc.constantFrom(undefined, 0, 0, 20),
});

it('puts all that comes of the caller where its timestamps say, whatever is lost or late', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 60, maxLength: 100 }), async (messages) => {
      await using folder = await temporaryFolder();
      const recording = new Recording(join(folder.path, 'call.wav'), 'call');
      const expected: number[] = [];
      let nowMs = 5_000;
      let stampMs = 0;
      for (const { lengthMs, lostMs, lateMs, stamped, tickMs } of messages) {
        if (stamped && expected.length > 0) {
          expected.push(...Array.from({ length: lostMs * 8 }, () => 0));
          stampMs += lostMs;
        }
        const pcm = Int16Array.from({ length: lengthMs * 8 }, (_, index) => 1 + ((expected.length + index) % 30_000));
        nowMs = Math.max(nowMs, 5_000 + stampMs + lengthMs + lateMs);
        recording.caller(pcm, stamped || expected.length === 0 ? 102 + stampMs : undefined, nowMs, 0);
        expected.push(...pcm);
        stampMs += lengthMs;
        if (tickMs === undefined) continue;
        nowMs += tickMs;
        recording.tick(nowMs);
      }
      await recording.finish(5_000 + stampMs + 1_000);
      const [caller] = parseWav(readFileSync(recording.path)).samples;
      expect(expected.findIndex((sample, index) => caller![index] !== sample)).toBe(-1);
    }),
    { numRuns: thorough(20, 60) },
  );
});

it.each([600, 10_100])(
  'keeps all that the carrier is sent up to %i ms before it is played, although ticks were late',
  async (aheadMs) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'call.wav');
    const recording = new Recording(path, 'call', { aheadMs });
    const callerUntil = (untilMs: number): void => {
      for (; atMs < untilMs; atMs += FRAME_MS) recording.caller(new Int16Array(160), atMs, 5_020 + atMs, 0);
    };
    let atMs = 0;
    callerUntil(1_000);
    // Nothing came and nobody ticked for half a second.
    for (let sentMs = 0; sentMs < aheadMs; sentMs += 100) recording.bot(new Int16Array(800).fill(9_000), 6_520 + sentMs, 6_520);
    callerUntil(2_000 + aheadMs);
    await recording.finish(7_000 + aheadMs);
    const [, bot] = parseWav(readFileSync(path)).samples;
    expect(bot!.filter((sample) => sample !== 0)).toHaveLength(aheadMs * 8);
  },
);

it.each([
  { note: 'comes faster than real time', stampOf: (): number | undefined => undefined, samples: 16_000 },
  { note: 'counts ten seconds for each frame', stampOf: (frame: number): number => frame * 9_900, samples: 160 },
  { note: 'has timestamps that go to and fro', stampOf: (frame: number): number => (frame % 2) * 9_900, samples: 16_000 },
])('holds a recording to the clock where the audio $note', async ({ stampOf, samples }) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'call.wav');
  const recording = new Recording(path, 'call');
  const pcm = new Int16Array(samples);
  // Two thousand messages within two seconds.
  for (let frame = 0; frame < 2_000; frame += 1) {
    const stampMs = stampOf(frame);
    recording.caller(pcm, stampMs, 5_000 + frame, 0);
  }
  await recording.finish(7_000);
  const wav = parseWav(readFileSync(path));
  expect(wav.samples[0]!.length / 8_000).toBeLessThan(15);
});
