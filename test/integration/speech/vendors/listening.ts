import { joinSamples } from '../../../../src/audio/samples.ts';
import { noise, seededRandom, sine } from '../../../../src/audio/tone.ts';
import type { RecognitionEvent, RecognitionOptions, RecognitionSession } from '../../../../src/speech/port.ts';
import type { OpenVendor } from '../../../../src/speech/vendors/vendor.ts';

export const RATE_HZ = 8_000;
const random = seededRandom(3);

/** What a line sounds like when nobody speaks. */
export const hiss = (ms: number, rateHz = RATE_HZ): Int16Array => noise(ms, rateHz, 0.001, random);

export const voice = (ms: number, rateHz = RATE_HZ): Int16Array => sine(220, ms, rateHz).map((sample) => sample / 4);

/** One short utterance, with the silence around it. */
export const saying = (rateHz = RATE_HZ): Int16Array => joinSamples([hiss(600, rateHz), voice(800, rateHz), hiss(400, rateHz)]);

/** The events of one type. */
export const of = <Type extends RecognitionEvent['type']>(events: readonly RecognitionEvent[], type: Type) =>
  events.filter((event): event is Extract<RecognitionEvent, { type: Type }> => event.type === type);

export interface Heard {
  readonly session: RecognitionSession;
  readonly events: RecognitionEvent[];
  /** Resolves once there are so many events of a type. */
  readonly until: (type: RecognitionEvent['type'], count?: number) => Promise<void>;
  /** Says one utterance, commits it, and resolves once there are so many finals. */
  readonly say: (finals?: number) => Promise<void>;
}

/** A session of a vendor's recogniser, with all that it tells. */
export function listen({ recogniser }: OpenVendor, options: Partial<RecognitionOptions> = {}): Heard {
  const events: RecognitionEvent[] = [];
  const waiting = new Set<() => void>();
  if (recogniser === undefined) throw new Error('there is no recogniser');
  const session = recogniser.open({ language: 'en', sampleRateHz: RATE_HZ, ...options }, (event) => {
    events.push(event);
    for (const look of waiting) look();
  });
  const until: Heard['until'] = (type, count = 1) =>
    new Promise((resolve) => {
      const look = (): void => {
        if (events.filter((event) => event.type === type).length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  const say: Heard['say'] = (finals) => {
    session.send(saying());
    session.commit();
    return until('final', finals);
  };
  return { session, events, until, say };
}
