import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import { describe, expect, it } from 'vitest';
import { KeyedRecogniser } from '../../../../src/speech/asr/realtime.ts';
import type { Recogniser, RecognitionEvent } from '../../../../src/speech/port.ts';
import { Slots } from '../../../../src/speech/client/slots.ts';

const options = { language: 'en', sampleRateHz: 8_000 };

/** Recognisers that note on which of them a session was opened. */
function recognisers(count: number) {
  const opened: number[] = [];
  const listeners: ((event: RecognitionEvent) => void)[] = [];
  const all = Array.from({ length: count }, (_, lane): Recogniser => ({
    capabilities: PLATFORM_RECOGNITION,
    open(_options, listener) {
      opened.push(lane);
      listeners.push(listener);
      return { send: () => undefined, commit: () => undefined, end: async () => undefined, abort: () => undefined };
    },
  }));
  return { all, opened, listeners };
}

describe('keyed recogniser', () => {
  it('opens each session on the key whose slot was reserved for it', () => {
    const slots = new Slots(1, { lanes: 3 });
    const { all, opened } = recognisers(3);
    const keyed = new KeyedRecogniser(all, slots);
    for (let call = 0; call < 3; call += 1) {
      slots.tryReserve();
      keyed.open(options, () => undefined);
    }
    expect(new Set(opened)).toEqual(new Set([0, 1, 2]));
  });

  it('opens the next session of a call on the same key, however the first one ended', async () => {
    const slots = new Slots(1, { lanes: 2 });
    const { all, opened, listeners } = recognisers(2);
    const keyed = new KeyedRecogniser(all, slots);
    slots.tryReserve();
    const aborted = keyed.open(options, () => undefined);
    aborted.abort();
    aborted.abort();
    await keyed.open(options, () => undefined).end();
    const heard: string[] = [];
    keyed.open(options, ({ type }) => heard.push(type));
    listeners[2]!({ type: 'closed', error: undefined });
    keyed.open(options, () => undefined);
    expect(opened).toEqual([0, 0, 0, 0]);
    expect(heard).toEqual(['closed']);
  });
});
