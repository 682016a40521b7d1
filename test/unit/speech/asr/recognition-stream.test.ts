import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecognitionStream, type RecognitionStreamOptions } from '../../../../src/speech/asr/recognition-stream.ts';
import type { RecognitionEvent } from '../../../../src/speech/port.ts';

function streaming(options: Partial<RecognitionStreamOptions> = {}) {
  const clock = new ManualClock();
  const did: string[] = [];
  let tell: (event: RecognitionEvent) => void = () => undefined;
  const recogniser: RecognitionStreamOptions['recogniser'] = {
    capabilities: PLATFORM_RECOGNITION,
    open(_options, listener) {
      tell = listener;
      return {
        send: () => did.push('send'),
        commit: () => did.push('commit'),
        async end() {
          did.push('end');
          listener({ type: 'closed', error: undefined });
        },
        abort: () => did.push('abort'),
      };
    },
  };
  const stream = new RecognitionStream({ language: 'en', sampleRateHz: 8_000 }, { recogniser, clock, ...options });
  const final = (seg: number, text: string, endOfUtterance?: boolean): void =>
    tell({ type: 'final', seg, text, endOfUtterance, language: undefined });
  return { stream, clock, did, final, tell: (event: RecognitionEvent) => tell(event) };
}

async function read(stream: RecognitionStream): Promise<RecognitionEvent[]> {
  const events: RecognitionEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('a recognition stream', () => {
  it('settles a commit on the end mark, with every final of the turn [128]', async () => {
    const { stream, final } = streaming();
    const turn = stream.commit();
    final(0, 'one', false);
    final(1, '', false);
    final(2, 'two', true);
    expect(await turn).toMatchObject({ text: 'one two', finals: [{ seg: 0 }, { seg: 1 }, { seg: 2 }] });
  });

  it('settles a commit without an end mark after the quiet [128]', async () => {
    const { stream, clock, final } = streaming({ quietMs: 500 });
    let settled = false;
    const turn = stream.commit().finally(() => (settled = true));
    final(0, 'one');
    clock.advance(499);
    final(1, 'two');
    clock.advance(499);
    await Promise.resolve();
    expect(settled).toBe(false);
    clock.advance(1);
    expect((await turn).text).toBe('one two');
  });

  it('begins a turn with the finals that came before its commit [128]', async () => {
    const { stream, final } = streaming();
    final(0, 'one', false);
    final(1, 'two', false);
    const turn = stream.commit();
    final(2, 'three', true);
    expect((await turn).text).toBe('one two three');
    const next = stream.commit();
    final(3, 'four', true);
    expect((await next).text).toBe('four');
  });

  it('keeps the last thousand finals for a commit that may never come', async () => {
    const { stream, final } = streaming({ maxEvents: 2_000 });
    for (let seg = 0; seg < 1_500; seg += 1) final(seg, 'word');
    const turn = stream.commit();
    final(1_500, 'last', true);
    expect((await turn).finals.map(({ seg }) => seg)).toEqual(Array.from({ length: 1_001 }, (_, index) => 500 + index));
  });

  it('answers commits in their order [128]', async () => {
    const { stream, final } = streaming();
    const turns = Promise.all([stream.commit(), stream.commit()]);
    final(0, 'one', true);
    final(1, 'two', true);
    expect((await turns).map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('tells that a final never came although the socket lives', async () => {
    const { stream, clock } = streaming({ finalTimeoutMs: 1_000 });
    const turn = stream.commit();
    clock.advance(1_000);
    await expect(turn).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
  });

  it('gives events in order and ends after the close', async () => {
    const { stream, final, tell } = streaming();
    tell({ type: 'ready' });
    final(0, 'one');
    await stream.end();
    expect((await read(stream)).map(({ type }) => type)).toEqual(['ready', 'final', 'closed']);
  });

  it('drops partials first when it is not read, and no final without an error', async () => {
    const { stream, final, tell, did } = streaming({ maxEvents: 2 });
    for (let index = 0; index < 5; index += 1) tell({ type: 'partial', seg: 0, text: `${index}` });
    final(0, 'one');
    final(1, 'two');
    expect(did).not.toContain('abort');
    final(2, 'three');
    expect(did).toContain('abort');
    const texts: string[] = [];
    const reading = (async () => {
      for await (const event of stream) if (event.type === 'final') texts.push(event.text);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'OFFHOOK_SPEECH_OVERLOADED' });
    expect(texts).toEqual(['one', 'two']);
  });

  it('closes the socket and ends with the reason when aborted, commits included', async () => {
    const leaving = new AbortController();
    const { stream, did } = streaming({ signals: [leaving.signal] });
    const [turn, reading] = [stream.commit(), read(stream)];
    leaving.abort(new Error('hung up'));
    await expect(turn).rejects.toThrow('hung up');
    await expect(reading).rejects.toThrow('hung up');
    expect(did).toEqual(['commit', 'abort']);
  });

  it('closes the socket when the reader leaves', async () => {
    const { stream, tell, did } = streaming();
    tell({ type: 'ready' });
    for await (const _event of stream) break;
    expect(did).toEqual(['abort']);
  });
});
