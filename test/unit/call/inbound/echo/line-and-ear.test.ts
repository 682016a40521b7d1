import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../../../src/audio/format.ts';
import { decodeMulaw, encodeMulaw } from '../../../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../../../src/audio/level.ts';
import { InboundAudio } from '../../../../../src/call/inbound/inbound-audio.ts';
import { EchoGuard } from '../../../../../src/call/inbound/echo/echo-guard.ts';
import { OutboundAudio } from '../../../../../src/call/outbound/outbound-audio.ts';
import { DEFAULT_LEAD } from '../../../../../src/call/outbound/playout-pace.ts';
import type { TurnEvent } from '../../../../../src/call/turn/turn-state.ts';
import type { Attachment } from '../../../../../src/carriers/port.ts';
import { babble } from './babble.ts';

const TEXT = 'I have a free slot on Tuesday at half past ten.';
const DELAY_SAMPLES = 200 * 8;

/** As it sounds over a telephone leg. */
function overMulaw(pcm: Int16Array): Int16Array {
  return decodeMulaw(encodeMulaw(pcm));
}

/** A carrier that plays what it is sent, back to back; what it has played so far. */
class EchoingCarrier implements Attachment {
  readonly id = 'att_0';
  readonly carrier = 'test';
  readonly bufferedBytes = 0;
  readonly capabilities = {
    clear: 'native',
    marks: 'none',
    marksReturnOnClear: 'no',
    pacing: 'burst',
    frameMs: 20,
    dtmfOut: 'none',
  } as const;
  readonly started = {
    type: 'started',
    streamId: 's',
    carrierCallId: 'c',
    inbound: MULAW_8K,
    outbound: MULAW_8K,
    parameters: {},
  } as const;
  readonly rateHz = 8_000;
  readonly speechFormat = MULAW_8K;
  readonly queue: number[] = [];
  readonly played: number[] = Array.from({ length: DELAY_SAMPLES }, () => 0);
  listen(): void {}
  sendAudio(pcm: Int16Array): void {
    this.queue.push(...pcm);
  }
  sendMark(): void {}
  sendClear(): void {
    this.queue.length = 0;
  }
  close(): void {}

  readonly #echoDb: number;

  constructor(echoDb: number) {
    this.#echoDb = echoDb;
  }

  /** Plays 20 ms and gives what comes back of what was played 200 ms ago. */
  frame(): Int16Array {
    for (let index = 0; index < 160; index += 1) this.played.push(this.queue.shift() ?? 0);
    const from = this.played.length - 160 - DELAY_SAMPLES;
    return overMulaw(Int16Array.from(this.played.slice(from, from + 160), (sample) => sample * 10 ** (-this.#echoDb / 20)));
  }
}

/** A sentence goes out by the line, and comes back into the ear. */
function echoedCall(echoDb = 12): { events: TurnEvent[]; ear: InboundAudio; nowMs: number; forWords: Int16Array[] } {
  const carrier = new EchoingCarrier(echoDb);
  const echo = new EchoGuard();
  const events: TurnEvent[] = [];
  const line = new OutboundAudio(carrier, DEFAULT_LEAD, echo);
  const detector = {
    process: (frame: Int16Array) => ({ voiced: rmsLevelDb(frame) > -52, speechLike: 1 }),
    close: () => undefined,
  };
  const ear = new InboundAudio(detector, echo, (event) => events.push(event));
  const forWords: Int16Array[] = [];
  const recogniser = { send: (pcm: Int16Array) => void forWords.push(pcm) };
  let nowMs = 1_000;
  line.begin({ unitId: 'u1', turnIndex: 0, text: TEXT });
  line.push('u1', overMulaw(babble(3_000, 1)), nowMs);
  line.end('u1', nowMs);
  for (let at = 0; at < 3_500; at += 20) {
    nowMs += 20;
    line.pump(nowMs);
    ear.hear(carrier.frame(), at, { nowMs, wallMs: nowMs, silent: false }, recogniser);
  }
  return { events, ear, nowMs, forWords };
}

describe('a sentence that comes back into the ear', () => {
  it('is no voice of a caller', () => {
    const { events } = echoedCall();
    const voiced = events.filter((event) => event.type === 'frame' && event.frame.voiced);
    expect(events.length).toBe(175);
    expect(voiced.length).toBeLessThanOrEqual(1);
  });

  it.each([12, 34, 44])('is silence to the recogniser once it was found, %i dB down', (echoDb) => {
    const { forWords } = echoedCall(echoDb);
    const share = (from: number, to: number): number =>
      forWords.slice(from / 20, to / 20).filter((pcm) => rmsLevelDb(pcm) > -66).length / ((to - from) / 20);
    expect(share(200, 600)).toBeGreaterThan(0.1);
    expect(share(1_200, 3_500)).toBeLessThan(0.03);
  });

  it('has no words for the turn, but tells that they are final', () => {
    const { events, ear, nowMs } = echoedCall();
    events.length = 0;
    ear.words({ type: 'partial', seg: 0, text: 'a free slot on tuesday' }, nowMs);
    ear.words({ type: 'final', seg: 0, text: 'a free slot on tuesday', endOfUtterance: true, language: 'en' }, nowMs);
    ear.words({ type: 'final', seg: 1, text: 'no wednesday please', endOfUtterance: true, language: 'en' }, nowMs);
    expect(events).toEqual([
      { type: 'partial', atMs: nowMs, seg: 0, text: '' },
      { type: 'final', atMs: nowMs, seg: 0, text: '', endOfUtterance: true },
      { type: 'final', atMs: nowMs, seg: 1, text: 'no wednesday please', endOfUtterance: true },
    ]);
  });
});
