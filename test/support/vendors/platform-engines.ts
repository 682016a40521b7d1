import { resample, Resampler } from '../../../src/audio/resample.ts';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from '../../../src/speech/platform.ts';
import type { VendorEngines } from './engines.ts';

const RATE_HZ = 8_000;
const VOICE = 'Nisha';

/** Engines behind a vendor's simulator that really hear and speak: those of a running speech platform. */
export function platformEngines(settings: SpeechPlatformSettings): VendorEngines & AsyncDisposable {
  const platform = new SpeechPlatform(settings, { clock: systemClock });
  return {
    recognise({ language, rateHz, hints }, listener) {
      const toPlatform = rateHz === RATE_HZ ? undefined : new Resampler(rateHz, RATE_HZ);
      let words: string[] = [];
      const text = (partial = ''): string => [...words, partial].join(' ').trim();
      const options = {
        language: language === 'auto' ? 'en' : language,
        sampleRateHz: RATE_HZ,
        boostPhrases: hints.slice(0, 10),
      };
      const session = platform.recogniser.open(options, (event) => {
        if (event.type === 'partial') listener({ type: 'partial', text: text(event.text) });
        if (event.type !== 'final') return;
        words.push(event.text);
        // The platform marks the last final of a commit; the ones before it are parts of what was committed.
        if (event.endOfUtterance === false) return;
        listener({ type: 'final', text: text() });
        words = [];
      });
      return {
        push: (pcm) => session.send(toPlatform?.process(pcm) ?? pcm),
        commit: () => session.commit(),
        close: () => session.abort(),
      };
    },
    async *speak({ text, language, rateHz }) {
      const { signal } = new AbortController();
      const spoken = platform.stream({ text, voice: VOICE, language, format: 'pcm', sampleRateHz: RATE_HZ }, signal);
      for await (const bytes of spoken) yield resample(decodeAudio('pcm16', bytes), RATE_HZ, rateHz);
    },
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  };
}
