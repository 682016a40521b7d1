import { createHash } from 'node:crypto';
import type { AdapterConfig } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SpeechSlots } from '../../observability/metrics.ts';
import type { SlotLender } from '../client/slot-lease.ts';
import { type LentSlots, type Slot, Slots, slotsOf } from '../client/slots.ts';
import type { Recogniser, SynthesisRequest, Synthesizer } from '../port.ts';
import { PhraseCache } from '../tts/phrase-cache.ts';
import { PhraseFiles } from '../tts/phrase-files.ts';
import { splitForSpeech } from '../tts/sentences.ts';
import type { OpenVendor } from '../vendors/vendor.ts';

/** The name of the speech platform among vendors. */
export const PLATFORM = 'platform';

/** The speech platform or a vendor, as calls use it. */
export interface RoutedVendor extends AsyncDisposable {
  readonly name: string;
  readonly recogniser: Recogniser | undefined;
  /** Prepared sentences come from memory. */
  readonly synthesizer: Synthesizer | undefined;
  /** The same as calls hear it. */
  readonly voice: Synthesizer | undefined;
  /** False where a health check says so. */
  readonly isUp: boolean;
  /** Slots of recognition that could be had now. */
  readonly freeSlots: number;
  readonly slotGauges: readonly SpeechSlots[];
  /** A slot of recognition. @param lane of this key alone, counted from 0 @returns undefined when none is free */
  readonly reserve: (lane?: number) => Slot | undefined;
  /** Waits, where other machines share the key, until `reserve` has this many slots at hand, or none is free. */
  readonly ready: (count?: number) => Promise<void>;
  /** Opens connections ahead of a call. */
  warm(): void;
  /** Synthesises sentences ahead of time. @throws SpeechError */
  prepare(requests: readonly SynthesisRequest[]): Promise<void>;
}

/** Prepares a synthesizer for calls: known voices only, at an even level. */
export type Voiced = (name: string, synthesizer: Synthesizer) => Synthesizer;

export interface RoutedVendorParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where prepared sentences are kept over restarts; memory only when absent. */
  readonly phraseFolder?: string | undefined;
  /** Processes that share the limits of each key. */
  readonly processes: number;
  /** Where other machines share them too. */
  readonly lender?: SlotLender | undefined;
  readonly voiced: Voiced;
}

/** What calls need of the client of the speech platform. */
export interface PlatformSpeech {
  readonly recogniser: Recogniser;
  readonly synthesizer: Synthesizer;
  readonly isUp: boolean;
  readonly freeSlots: number;
  readonly slotGauges: readonly SpeechSlots[];
  reserveLive(lane?: number): Slot | undefined;
  readyLive(count?: number): Promise<void>;
  warm(): void;
  prepare(requests: readonly SynthesisRequest[]): Promise<void>;
}

/** The speech platform, whose owner closes it. */
export function routedPlatform(platform: PlatformSpeech, voiced: Voiced): RoutedVendor {
  return {
    name: PLATFORM,
    recogniser: platform.recogniser,
    synthesizer: platform.synthesizer,
    voice: voiced(PLATFORM, platform.synthesizer),
    get isUp() {
      return platform.isUp;
    },
    get freeSlots() {
      return platform.freeSlots;
    },
    get slotGauges() {
      return platform.slotGauges;
    },
    reserve: (lane) => platform.reserveLive(lane),
    ready: (count) => platform.readyLive(count),
    warm: () => platform.warm(),
    prepare: (requests) => platform.prepare(requests),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A configured vendor with its slots and its phrase cache. */
export function routedVendor(name: string, open: OpenVendor, config: AdapterConfig, parts: RoutedVendorParts): RoutedVendor {
  const { recogniser, synthesizer, keys = 1 } = open;
  const { clock, logger, phraseFolder, processes, voiced, lender } = parts;
  const closing = new AbortController();
  // Machines with other keys have other slots.
  const account = createHash('sha256')
    .update(
      Object.values(config.secrets)
        .flat()
        .map((secret) => secret.reveal())
        .join(' '),
    )
    .digest('hex')
    .slice(0, 16);
  const lent = (service: string): LentSlots | undefined => lender && { lender, names: [`${service} ${name} ${account}`], clock };
  const sessions = new Slots((recogniser?.capabilities.sessionsPerKey ?? 0) * keys, { lent: lent('asr') });
  const share = Math.floor(((synthesizer?.capabilities.requestsPerKey ?? 0) * keys) / processes);
  const requests = new Slots(Math.max(1, share), { lent: lent('tts') });
  // Another model has other voices under the same names.
  const source = `${name} ${createHash('sha256').update(JSON.stringify(config.settings)).digest('hex').slice(0, 16)}`;
  const files = phraseFolder === undefined ? {} : { files: new PhraseFiles({ folder: phraseFolder, clock, logger }) };
  const phrases = synthesizer && new PhraseCache(withinLimits(synthesizer, requests), { clock, source, ...files });
  return {
    name,
    recogniser,
    synthesizer: phrases,
    voice: phrases && voiced(name, phrases),
    isUp: true,
    get freeSlots() {
      return sessions.free;
    },
    get slotGauges() {
      return [
        ...(recogniser === undefined ? [] : slotsOf('asr', sessions.use)),
        ...(synthesizer === undefined ? [] : slotsOf('tts', requests.use)),
      ].map((gauge) => ({ ...gauge, vendor: name }));
    },
    reserve: () => sessions.tryReserve('live'),
    ready: (count) => sessions.ready(count),
    warm: () => open.warm?.(),
    prepare: async (wanted) => phrases?.prepare(wanted, closing.signal),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the speech vendor was closed'));
      await open[Symbol.asyncDispose]();
      await Promise.all([sessions[Symbol.asyncDispose](), requests[Symbol.asyncDispose]()]);
    },
  };
}

/** A synthesizer limited to its own concurrency and text length. */
function withinLimits(synthesizer: Synthesizer, slots: Slots): Synthesizer {
  return {
    get capabilities() {
      return synthesizer.capabilities;
    },
    async *speak(request, signal) {
      const slot = await slots.acquire(request.priority ?? 'live', signal);
      const { longestText } = synthesizer.capabilities;
      const texts = request.text.length > longestText ? splitForSpeech(request.text, longestText) : [request.text];
      try {
        for (const text of texts) yield* synthesizer.speak({ ...request, text }, signal);
      } finally {
        slot.release();
      }
    },
  };
}
