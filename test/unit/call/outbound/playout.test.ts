import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../../src/audio/g711.ts';
import { Playout } from '../../../../src/call/outbound/playout.ts';
import type { PlayoutCommand } from '../../../../src/call/outbound/sent-audio.ts';
import { DEFAULT_LEAD } from '../../../../src/call/outbound/playout-pace.ts';

const settings = { ...DEFAULT_LEAD, rateHz: 8_000, marks: 'native', frameSamples: 1 } as const;
const SAMPLES_PER_MS = 8;

/** Samples of speech's size that are never 0, so that padding can be told from audio. */
function speech(ms: number, seed = 1): Int16Array {
  return codes(Uint8Array.from({ length: ms * SAMPLES_PER_MS }, (_, index) => (index * 7 + seed) % 127));
}

/** The samples of these mu-law codes, whose magnitudes are logarithms. */
function codes(bytes: Uint8Array): Int16Array {
  return decodeMulaw(bytes);
}

function audioMs(commands: readonly PlayoutCommand[]): number {
  return commands.reduce((sum, command) => sum + (command.type === 'audio' ? command.pcm.length / SAMPLES_PER_MS : 0), 0);
}

function marks(commands: readonly PlayoutCommand[]): string[] {
  return commands.flatMap((command) => (command.type === 'mark' ? [command.name] : []));
}

function loaded(ms: number): Playout {
  return holding(speech(ms));
}

function holding(audio: Int16Array): Playout {
  const playout = new Playout(settings);
  playout.begin('a');
  playout.push('a', audio);
  playout.end('a');
  return playout;
}

/** What is sent first at 700 ms of a sentence that was held until the carrier had run dry. */
function resumedDry(audio: Int16Array): PlayoutCommand | undefined {
  const playout = holding(audio);
  playout.pump(0);
  playout.hold();
  playout.resume(700);
  return playout.pump(700)[0];
}

describe('the lead', () => {
  it('sends up to the target at once, in messages of 100 ms', () => {
    const commands = loaded(2_000).pump(0);
    expect(audioMs(commands)).toBe(400);
    expect(commands.filter(({ type }) => type === 'audio')).toHaveLength(4);
  });

  it('sends nothing more until the lead has fallen to its low mark', () => {
    const playout = loaded(2_000);
    playout.pump(0);
    expect(playout.pump(80)).toEqual([]);
    expect(audioMs(playout.pump(100))).toBe(100);
  });

  it('catches up after a stall of the process', () => {
    const playout = loaded(2_000);
    playout.pump(0);
    expect(audioMs(playout.pump(350))).toBe(400);
    expect(playout.counters.starvedByGateway).toBe(0);
  });

  it('counts what is heard of a sentence from where the carrier is through with the sound before it', () => {
    const playout = loaded(2_000);
    playout.ambientEndMs = 70;
    playout.pump(0);
    expect(playout.heard('a', 170).likelySamples).toBe(100 * SAMPLES_PER_MS);
    expect(playout.clear(170)).toEqual([{ unitId: 'a', sureSamples: 0, likelySamples: 100 * SAMPLES_PER_MS }]);
  });

  it('ends early with a short fade, and tells what will never be heard', () => {
    const playout = loaded(2_000);
    const sent = audioMs(playout.pump(0));
    expect(playout.shorten('a')).toBe((2_000 - sent - 20) * SAMPLES_PER_MS);
    const rest = playout.pump(300);
    expect(audioMs(rest)).toBe(20);
    expect(marks(rest).at(-1)).toMatch(/\.end$/u);
    const fade = rest.find((command) => command.type === 'audio');
    const last = fade?.pcm.at(-1);
    expect(Math.abs(last ?? 1_000)).toBeLessThan(200);
  });

  it('counts a hole of its own making, and one of the source', () => {
    const playout = loaded(2_000);
    playout.pump(0);
    playout.pump(450);
    expect(playout.counters.starvedByGateway).toBe(1);
    const slow = new Playout(settings);
    slow.begin('a');
    slow.push('a', speech(200));
    for (let nowMs = 0; nowMs <= 260; nowMs += 20) slow.pump(nowMs);
    slow.push('a', speech(200));
    slow.pump(265);
    expect(slow.counters).toMatchObject({ starvedByGateway: 0, starvedBySource: 1 });
  });

  it('counts a hole as of the source where its audio came before anybody had seen the carrier dry', () => {
    const playout = new Playout(settings);
    playout.begin('a');
    playout.push('a', speech(200));
    for (let nowMs = 0; nowMs < 200; nowMs += 20) playout.pump(nowMs);
    playout.push('a', speech(200));
    playout.pump(209);
    expect(playout.counters).toMatchObject({ starvedByGateway: 0, starvedBySource: 1 });
  });

  describe('where the process stalls', () => {
    /** Has spoken once, with so many stalls of 200 ms in it. */
    function stalled(times = 2): Playout {
      const playout = loaded(900);
      let nowMs = 0;
      for (let stalls = 0; stalls < times; stalls += 1, nowMs += 200) playout.pump(nowMs);
      for (; nowMs < 1_000; nowMs += 20) playout.pump(nowMs);
      playout.begin('b');
      return playout;
    }

    it('once, the first sound is sent at once all the same', () => {
      const playout = stalled(1);
      playout.push('b', speech(200));
      expect(audioMs(playout.pump(1_000))).toBe(200);
    });

    it('the first sound waits for as much as outlasts a stall', () => {
      const playout = stalled();
      playout.push('b', speech(200));
      expect(playout.pump(1_000)).toEqual([]);
      playout.push('b', speech(200));
      expect(audioMs(playout.pump(1_050))).toBe(400);
      expect(playout.pump(1_070)).toEqual([]);
      playout.pump(1_270);
      expect(playout.counters.starvedByGateway).toBe(0);
    });

    it('it waits 60 ms at most, and not for more of a sentence that is whole', () => {
      const slow = stalled();
      slow.push('b', speech(200));
      for (let nowMs = 1_000; nowMs < 1_060; nowMs += 20) expect(slow.pump(nowMs)).toEqual([]);
      expect(audioMs(slow.pump(1_060))).toBe(200);
      const short = stalled();
      short.push('b', speech(120));
      short.end('b');
      expect(audioMs(short.pump(1_000))).toBe(120);
    });

    it('it is sent at once again when ten seconds went by evenly', () => {
      const playout = stalled();
      for (let nowMs = 1_000; nowMs < 11_000; nowMs += 20) playout.pump(nowMs);
      playout.push('b', speech(200));
      expect(audioMs(playout.pump(11_000))).toBe(200);
    });
  });

  it('measures its longest hole, what the carrier had left, and how late marks come back', () => {
    const playout = loaded(4_000);
    expect(playout.measures.summary).toEqual({ longestHoleMs: 0 });
    // 400 ms ahead; then 300, 295 and nothing left, for 60 ms.
    for (const nowMs of [0, 100, 205, 760]) playout.pump(nowMs);
    expect(playout.counters.starvedByGateway).toBe(1);
    expect(playout.measures.summary).toEqual({ longestHoleMs: 60, leadP5Ms: 0 });
    const even = loaded(20_000);
    const due: { name: string; atMs: number }[] = [];
    for (let nowMs = 0; nowMs < 18_000; nowMs += 100)
      for (const name of marks(even.pump(nowMs))) due.push({ name, atMs: Number(name.split('.')[2]) / SAMPLES_PER_MS });
    for (const [index, { name, atMs }] of due.entries())
      even.markReturned(name, atMs + (index < 2 ? 500 : index % 2 === 0 ? 40 : 80));
    expect(even.measures.summary).toEqual({ longestHoleMs: 0, latenessP95Ms: 80, leadP5Ms: 300 });
  });

  it('sends the short end of a sentence whole, padded to what the carrier takes', () => {
    const playout = new Playout({ ...settings, frameSamples: 160 });
    playout.begin('a');
    playout.push('a', speech(33));
    playout.end('a');
    const [audio] = playout.pump(0);
    expect(audio).toMatchObject({ type: 'audio' });
    if (audio?.type === 'audio') {
      expect(audio.pcm).toHaveLength(320);
      expect(audio.pcm.subarray(33 * SAMPLES_PER_MS).every((sample) => sample === 0)).toBe(true);
    }
  });
});

describe('marks', () => {
  it('stand every 450 ms and at the end of a sentence', () => {
    const playout = loaded(1_000);
    const names = [0, 100, 200, 300, 400, 500, 600].flatMap((nowMs) => marks(playout.pump(nowMs)));
    expect(names).toEqual(['0.a.4000', '0.a.8000.end']);
  });

  it('prove what was heard, and that a sentence was played to its end', () => {
    const playout = loaded(200);
    const [name] = marks(playout.pump(0));
    expect(playout.takePlayed()).toEqual([]);
    playout.markReturned(name!, 200);
    expect(playout.takePlayed()).toEqual([{ unitId: 'a', byMark: true }]);
    playout.pump(200);
    expect(playout.idle).toBe(true);
  });

  it('from before a clear are unknown, never played', () => {
    const playout = loaded(200);
    const [name] = marks(playout.pump(0));
    playout.clear(100);
    playout.markReturned(name!, 210);
    expect(playout.takePlayed()).toEqual([]);
    expect(playout.counters.marksUnknown).toBe(1);
  });

  it('tell how late the carrier is, by the least late of the last four', () => {
    const playout = loaded(4_000);
    expect(playout.lateMs).toBe(0);
    const lates = [5, 60, 90, 70, 80];
    let playedMs = 0;
    for (let nowMs = 0; nowMs <= 3_000; nowMs += 20) {
      for (const command of playout.pump(nowMs)) {
        if (command.type === 'audio') playedMs = command.startMs + command.pcm.length / SAMPLES_PER_MS;
        else playout.markReturned(command.name, playedMs + (lates.shift() ?? 95));
      }
      if (lates.length === 0) break;
    }
    expect(playout.lateMs).toBe(60);
  });

  it('that never come back do not hold the call up', () => {
    const playout = loaded(200);
    playout.pump(0);
    playout.pump(1_699);
    expect(playout.takePlayed()).toEqual([]);
    playout.pump(1_700);
    expect(playout.takePlayed()).toEqual([{ unitId: 'a', byMark: false }]);
  });
});

describe('a cut', () => {
  /** The line's clock, 5 s ahead of ours; audio takes 80 ms to the carrier, and marks are sent 30 ms late. */
  const lineMs = (dueMs: number): number => dueMs + 5_000 + 80 + 30;

  /** Plays up to a moment, with the marks coming back. */
  function playedUntil(untilMs: number): Playout {
    const playout = loaded(3_000);
    const due: { name: string; dueMs: number }[] = [];
    let endMs = 0;
    for (let nowMs = 0; nowMs <= untilMs; nowMs += 20) {
      for (const command of playout.pump(nowMs)) {
        if (command.type === 'mark') due.push({ name: command.name, dueMs: endMs });
        else endMs = command.startMs + command.pcm.length / SAMPLES_PER_MS;
      }
      while (due[0] !== undefined && due[0].dueMs + 150 <= nowMs) {
        const { name, dueMs } = due.shift()!;
        playout.markReturned(name, nowMs, lineMs(dueMs));
      }
    }
    return playout;
  }

  it('is placed anew when its mark tells when the carrier obeyed', () => {
    const playout = playedUntil(1_200);
    expect(playout.clear(1_200)).toEqual([{ unitId: 'a', sureSamples: 1_000 * 8, likelySamples: 1_200 * 8 }]);
    expect(playout.takePlaced()).toEqual([]);
    // The clear took 200 ms to the carrier, 120 ms longer than the audio had taken.
    playout.markReturned(playout.cutMark, 1_500, lineMs(1_200 + 120));
    expect(playout.takePlaced()).toEqual([{ unitId: 'a', sureSamples: 1_000 * 8, likelySamples: 1_320 * 8 }]);
    expect(playout.takePlaced()).toEqual([]);
    expect(playout.counters.marksUnknown).toBe(0);
  });

  it('stays where the clock put it without timestamps, before any mark, and when speech goes on', () => {
    for (const [playout, atMs] of [
      [playedUntil(1_200), undefined],
      [playedUntil(300), lineMs(400)],
    ] as const) {
      playout.clear(1_200);
      playout.markReturned(playout.cutMark, 1_500, atMs);
      expect(playout.takePlaced()).toEqual([]);
    }
    const restored = playedUntil(1_200);
    restored.clear(1_200);
    restored.restore();
    restored.markReturned(restored.cutMark, 1_500, lineMs(1_320));
    expect(restored.takePlaced()).toEqual([]);
  });

  it('is told of a sentence that was over by the clock, though its last mark was not back', () => {
    const playout = loaded(300);
    playout.pump(0);
    playout.begin('b');
    playout.push('b', speech(1_000));
    playout.pump(20);
    const places = playout.clear(350);
    expect(places).toEqual([
      { unitId: 'a', sureSamples: 0, likelySamples: 300 * 8 },
      { unitId: 'b', sureSamples: 0, likelySamples: 50 * 8 },
    ]);
    playout.restore();
    expect(marks(playout.pump(350)).some((name) => name.includes('.a.'))).toBe(false);
  });
});

describe('an interruption', () => {
  it('yields how far the caller heard: proven by marks, likely by the clock', () => {
    const playout = loaded(2_000);
    const names: string[] = [];
    for (let nowMs = 0; nowMs <= 600; nowMs += 20) names.push(...marks(playout.pump(nowMs)));
    playout.markReturned(names[0]!, 560);
    expect(playout.clear(620)).toEqual([{ unitId: 'a', sureSamples: 500 * SAMPLES_PER_MS, likelySamples: 620 * SAMPLES_PER_MS }]);
  });

  it('fades out what a hold leaves the carrier with, and goes on from before it', () => {
    const playout = loaded(2_000);
    playout.pump(0);
    playout.hold();
    expect(playout.pump(340)).toEqual([]);
    const [tail] = playout.pump(360);
    if (tail?.type !== 'audio') throw new Error('no audio was sent');
    const { pcm } = tail;
    expect(pcm).toHaveLength(160);
    expect(tail).toMatchObject({ offsetSamples: 3_200, startMs: 400 });
    expect(Math.max(...pcm.subarray(150).map(Math.abs))).toBeLessThan(0.1 * Math.max(...pcm.subarray(0, 40).map(Math.abs)));
    expect(playout.pump(380)).toEqual([]);
    playout.resume(390);
    const [next] = playout.pump(390);
    expect(next?.type === 'audio' ? next.offsetSamples : Infinity).toBeLessThanOrEqual(3_200);
  });

  it('holds without a trace when it is shorter than the lead', () => {
    const playout = loaded(2_000);
    const first = playout.pump(0);
    playout.hold();
    expect(playout.pump(200)).toEqual([]);
    playout.resume(300);
    const [next] = playout.pump(300);
    expect(next).toMatchObject({ offsetSamples: audioMs(first) * SAMPLES_PER_MS, startMs: 400 });
  });

  it('goes back to the quietest place before the cut when the carrier ran dry', () => {
    const audio = speech(1_000);
    audio.fill(0, 240 * SAMPLES_PER_MS, 280 * SAMPLES_PER_MS);
    const next = resumedDry(audio);
    expect(next).toMatchObject({ type: 'audio', startMs: 700 });
    if (next?.type === 'audio') {
      expect(next.offsetSamples / SAMPLES_PER_MS).toBeGreaterThanOrEqual(240);
      expect(next.offsetSamples / SAMPLES_PER_MS).toBeLessThan(280);
    }
  });

  it.each([
    ['of a pause to its end', 0xff, 340],
    // A low voice is no pause: from its quietest frame on nothing is left out.
    ['of a voice that is only lower for a while to where it is lowest', 0xa5, 200],
  ])('goes back, %s', (_, lower, expectedMs) => {
    const audio = new Uint8Array(1_000 * SAMPLES_PER_MS).fill(0x90);
    audio.fill(lower, 200 * SAMPLES_PER_MS, 360 * SAMPLES_PER_MS);
    if (lower !== 0xff) audio.fill(lower + 1, 200 * SAMPLES_PER_MS, 220 * SAMPLES_PER_MS);
    expect(resumedDry(codes(audio))).toMatchObject({ offsetSamples: expectedMs * SAMPLES_PER_MS });
  });

  it('speaks on with all that was not heard when it is restored, new sentences last', () => {
    const playout = loaded(1_000);
    playout.pump(0);
    playout.clear(200);
    playout.begin('b');
    playout.push('b', speech(100, 3));
    playout.end('b');
    expect(playout.pump(300)).toEqual([]);
    expect(playout.idle).toBe(false);
    playout.restore();
    const offsets = new Map<string, number>();
    for (let nowMs = 300; nowMs < 3_000; nowMs += 20) {
      for (const command of playout.pump(nowMs)) {
        if (command.type === 'audio' && !offsets.has(command.unitId)) offsets.set(command.unitId, command.offsetSamples);
      }
    }
    expect([...offsets.keys()]).toEqual(['a', 'b']);
    expect(offsets.get('a')).toBeLessThanOrEqual(200 * SAMPLES_PER_MS);
  });

  it('speaks on, sample for sample, late in a sentence whose beginning is no longer kept', () => {
    const whole = speech(60_000);
    const playout = loaded(60_000);
    for (let nowMs = 0; nowMs < 40_000; nowMs += 20) playout.pump(nowMs);
    playout.clear(40_000);
    playout.restore();
    const [faded, ...next] = playout.pump(40_100).filter((command) => command.type === 'audio');
    expect(faded!.offsetSamples / SAMPLES_PER_MS).toBeGreaterThanOrEqual(39_600);
    expect(faded!.offsetSamples / SAMPLES_PER_MS).toBeLessThanOrEqual(40_000);
    for (const { pcm, offsetSamples } of next) expect(pcm).toEqual(whole.subarray(offsetSamples, offsetSamples + pcm.length));
    expect(next.length).toBeGreaterThan(0);
  });
});

it('loses, repeats and reorders no sample, whatever the chunks and however late the ticks', () => {
  const chunks = fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(chunks, fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 40 }), (sizes, delays) => {
      const whole = speech(Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / SAMPLES_PER_MS));
      const playout = new Playout(settings);
      playout.begin('a');
      const sent: number[] = [];
      let nowMs = 0;
      let given = 0;
      const pump = (): void => {
        let endMs = Number.NEGATIVE_INFINITY;
        for (const command of playout.pump(nowMs)) {
          if (command.type !== 'audio') continue;
          expect(command.startMs).toBeGreaterThanOrEqual(endMs);
          endMs = command.startMs + command.pcm.length / SAMPLES_PER_MS;
          expect(endMs - nowMs).toBeLessThanOrEqual(500);
          sent.push(...command.pcm);
        }
      };
      for (const [index, size] of sizes.entries()) {
        playout.push('a', whole.subarray(given, given + size));
        given += size;
        pump();
        nowMs += delays[index] ?? 20;
      }
      playout.end('a');
      for (let index = 0; index < 5_000 && !playout.idle; index += 1) {
        nowMs += delays[(sizes.length + index) % Math.max(1, delays.length)] ?? 20;
        pump();
      }
      expect(Int16Array.from(sent)).toEqual(whole.subarray(0, given));
    }),
    { numRuns: 60 },
  );
});
