import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { sine } from '../../../src/audio/tone.ts';
import { type CallerFrame, CarrierLine, type LineFormats, type LineOptions } from '../../../src/sim/carrier-line.ts';
import type { CarrierWire, WireListener } from '../../../src/sim/carrier-wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A wire that ends in this test. */
class TestWire implements CarrierWire {
  open = true;
  readonly sent: (string | Uint8Array)[] = [];
  listener: WireListener | undefined;

  send(data: string | Uint8Array): void {
    this.sent.push(typeof data === 'string' ? data : Uint8Array.from(data));
  }

  close(code: number): void {
    this.open = false;
    this.listener?.closed(code);
  }

  destroy(): void {
    this.close(1006);
  }

  listen(listener: WireListener): void {
    this.listener = listener;
  }
}

/** Bytes are audio, `mark:x` and `clear` are text. */
class TestLine extends CarrierLine {
  readonly frames: CallerFrame[] = [];
  readonly marks: string[] = [];
  readonly cleared: string[] = [];

  constructor(wire: CarrierWire, clock: ManualClock, formats: LineFormats, options?: LineOptions) {
    super(wire, clock, formats, options);
    this.begin();
  }

  protected override sendAudio(payload: Uint8Array, frame: CallerFrame): void {
    this.frames.push(frame);
    this.send(payload);
  }

  protected override sendDigit(digit: string): void {
    this.send(`key:${digit}`);
  }

  protected override received(message: Buffer, isBinary: boolean): void {
    const text = message.toString('latin1');
    if (isBinary) this.play(message);
    else if (text === 'clear') this.cleared.push(...this.clear());
    else this.mark(text.slice(5));
  }

  protected override markPlayed(name: string): void {
    this.marks.push(`${name} at ${this.nowMs}`);
  }

  protected override goodbye(): 'close' {
    this.send('bye');
    return 'close';
  }
}

const MULAW = { encoding: 'mulaw', rateHz: 8_000 } as const;
const ALAW = { encoding: 'alaw', rateHz: 8_000 } as const;
const PCM_16K = { encoding: 'pcm16', rateHz: 16_000 } as const;
const PCM_24K = { encoding: 'pcm16', rateHz: 24_000 } as const;

function open(formats: LineFormats, options: LineOptions = { lineNoise: 0 }) {
  const [wire, clock] = [new TestWire(), new ManualClock()];
  const line = new TestLine(wire, clock, formats, options);
  return { wire, clock, line, audio: () => wire.sent.filter((one) => typeof one !== 'string') };
}

describe('a simulated carrier line', () => {
  it.each([
    { from: MULAW, ptimeMs: 20, bytes: 160, messages: 50 },
    { from: ALAW, ptimeMs: 20, bytes: 160, messages: 50 },
    { from: PCM_16K, ptimeMs: 20, bytes: 640, messages: 50 },
    { from: PCM_24K, ptimeMs: 100, bytes: 4_800, messages: 10 },
    { from: { encoding: 'pcm16', rateHz: 8_000 }, ptimeMs: 10, bytes: 160, messages: 100 },
  ] as const)('sends $from.encoding at $from.rateHz Hz in messages of $ptimeMs ms', ({ from, ptimeMs, bytes, messages }) => {
    const { clock, line, audio } = open({ from, to: MULAW, ptimeMs });
    const voice = sine(300, 500, 8_000, 0.3);
    expect(line.say(voice)).toBe(0);
    clock.advance(1_000);
    expect(audio().map(({ length }) => length)).toEqual(Array.from({ length: messages }, () => bytes));
    expect(line.frames.at(-1)).toMatchObject({ index: messages - 1, atMs: 1_000 - ptimeMs, durationMs: ptimeMs });
    const heard = decodeAudio(from.encoding, Buffer.concat(audio()));
    const half = heard.length / 2;
    expect(Math.max(...heard.subarray(0, half))).toBeGreaterThan(9_000);
    expect(Math.max(...heard.subarray(half + from.rateHz / 100))).toBeLessThan(20);
    expect(line.silent).toBe(true);
  });

  it.each([MULAW, ALAW, PCM_16K, PCM_24K])('lets the caller hear $encoding of $rateHz Hz at 8 kHz', (to) => {
    const { clock, wire, line } = open({ from: MULAW, to });
    clock.advance(100);
    const loud = to.encoding === 'pcm16' ? Buffer.alloc(to.rateHz / 5, 0x20) : Buffer.alloc(800, 0x10);
    wire.listener?.message(loud, true);
    clock.advance(200);
    const { heard } = line.buffer;
    expect(heard).toHaveLength(2_400);
    const levels = [0, 1, 2].map((part) => Math.max(...heard.subarray(part * 800, part * 800 + 800).map(Math.abs)));
    expect(levels.map((level) => level > 1_000)).toEqual([false, true, false]);
  });

  it('plays marks in their order, and gives back those that a clear takes', () => {
    const { clock, wire, line } = open({ from: MULAW, to: MULAW });
    const tell = (text: string): void => wire.listener?.message(Buffer.from(text), false);
    tell('mark:at-once');
    wire.listener?.message(Buffer.alloc(800, 0x10), true);
    tell('mark:played');
    wire.listener?.message(Buffer.alloc(8_000, 0x10), true);
    tell('mark:cleared');
    clock.advance(200);
    tell('clear');
    clock.advance(2_000);
    expect(line.marks).toEqual(['at-once at 0', 'played at 100']);
    expect(line.cleared).toEqual(['cleared']);
    expect(line.playout.queuedMs).toBe(0);
  });

  it('sends both sides of a call interleaved, or each on a track of its own', () => {
    const stereo = open({ from: MULAW, to: MULAW, sides: 'stereo' });
    stereo.line.say(new Int16Array(160).fill(8_000));
    stereo.line.say(new Int16Array(160).fill(-8_000), 8_000, 'other');
    stereo.clock.advance(20);
    const both = decodeAudio('mulaw', stereo.audio()[0] as Uint8Array);
    expect([both.length, both[0]! > 7_000, both[1]! < -7_000, both[318]! > 7_000]).toEqual([320, true, true, true]);
    const tracks = open({ from: ALAW, to: MULAW, sides: 'tracks' });
    tracks.clock.advance(40);
    expect(tracks.line.frames.map(({ index, side }) => `${index} ${side}`)).toEqual([
      '0 caller',
      '0 other',
      '1 caller',
      '1 other',
    ]);
    expect(() => open({ from: MULAW, to: MULAW }).line.say(new Int16Array(1), 8_000, 'other')).toThrow(RangeError);
  });

  it('loses frames, alters messages and delays them as it is told', () => {
    const lossy = open({ from: MULAW, to: MULAW }, { loses: () => lossy.line.nowMs > 30 && lossy.line.nowMs < 50 });
    lossy.clock.advance(60);
    expect(lossy.line.frames.map(({ index }) => index)).toEqual([0, 2]);
    const altered = open(
      { from: MULAW, to: MULAW },
      { tamper: (message) => (typeof message === 'string' ? [message, message] : []) },
    );
    altered.clock.advance(60);
    altered.line.press('5');
    expect(altered.wire.sent).toEqual(['key:5', 'key:5']);
    const late = open({ from: MULAW, to: MULAW }, { toGatewayDelayMs: () => 50 });
    late.line.press('1');
    expect(late.wire.sent).toEqual([]);
    late.clock.advance(60);
    expect(late.wire.sent[0]).toBe('key:1');
  });

  it('says goodbye once, and tells who ended it', async () => {
    const left = open({ from: MULAW, to: MULAW });
    left.line.stop();
    left.line.stop();
    expect(left.wire.sent).toEqual(['bye']);
    expect(await left.line.ended).toEqual({ byGateway: false, code: 1000 });
    const ended = open({ from: MULAW, to: MULAW });
    ended.wire.close(1000);
    expect(await ended.line.ended).toEqual({ byGateway: true, code: 1000 });
    const dropped = open({ from: MULAW, to: MULAW });
    dropped.line.drop();
    expect(await dropped.line.ended).toEqual({ byGateway: false, code: 1006 });
  });

  it('keeps nothing of what it says and hears in light mode', () => {
    const { clock, wire, line, audio } = open({ from: MULAW, to: MULAW }, { light: true });
    line.say(new Int16Array(800).fill(8_000));
    wire.listener?.message(Buffer.alloc(800, 0x10), true);
    clock.advance(1_000);
    expect(audio().map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 800));
    expect([line.buffer.heard.length, line.spoken.length]).toEqual([0, 0]);
  });
});
