import { joinSamples } from '../audio/samples.ts';
import { wavFile } from '../audio/wav.ts';
import type { SpeechTrial } from '../http/api/settings/settings-orders.ts';
import type { Clock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import type { SpeakingBot } from '../speech/routing/choice.ts';
import type { SpeechRouter } from '../speech/routing/router.ts';

const RATE_HZ = 8000;
const SAMPLES_PER_MS = RATE_HZ / 1000;
/** What a sentence may be as sound. */
const MOST_MS = 30_000;

/**
 * Has a sentence spoken as a bot would speak it, and heard as a caller's would be, at the pace of a call.
 * @returns undefined while calls use every recognition slot
 * @throws OffhookError of a vendor that failed; the signal's reason
 */
export async function trySpeech(
  router: Pick<SpeechRouter, 'reserve'>,
  { text, bot }: { readonly text: string; readonly bot: SpeakingBot },
  clock: Clock,
  signal: AbortSignal,
): Promise<SpeechTrial | undefined> {
  const { language, voice } = bot;
  const speech = router.reserve(bot);
  if (speech === undefined) return undefined;
  const used = { recognition: '', synthesis: '' };
  speech.listen(({ service, by }) => (used[service] = by));
  const finals = new Map<number, string>();
  let [finalAtMs, failure]: [number | undefined, Error | undefined] = [undefined, undefined];
  const session = speech.recogniser.open({ language, sampleRateHz: RATE_HZ }, (event) => {
    if (event.type === 'closed') failure ??= event.error;
    if (event.type !== 'final' && event.type !== 'final-refined') return;
    finals.set(event.seg, event.text);
    if (event.text !== '') finalAtMs = clock.nowMs();
  });
  try {
    const askedMs = clock.nowMs();
    let firstAtMs: number | undefined;
    const sound: Int16Array[] = [];
    let soundMs = 0;
    const request = { text, voice, language, format: { encoding: 'pcm16', rateHz: RATE_HZ } } as const;
    for await (const chunk of speech.synthesizer.speak(request, signal)) {
      firstAtMs ??= clock.nowMs();
      // Copied, so that samples begin at an even address.
      const samples = new Int16Array(new Uint8Array(chunk).buffer);
      sound.push(samples);
      session.send(samples);
      soundMs += samples.length / SAMPLES_PER_MS;
      if (soundMs > MOST_MS) break;
      await sleep(clock, Math.max(0, firstAtMs + soundMs - clock.nowMs()), signal);
    }
    const endedMs = clock.nowMs();
    await session.end();
    if (failure !== undefined) throw failure;
    return {
      wav: wavFile(joinSamples(sound), RATE_HZ),
      heard: [...finals.values()].filter((each) => each !== '').join(' '),
      synthesizer: used.synthesis,
      recogniser: used.recognition,
      firstAudioMs: Math.round((firstAtMs ?? clock.nowMs()) - askedMs),
      // Words that came before the end of the sound came at once.
      finalMs: finalAtMs === undefined ? undefined : Math.max(0, Math.round(finalAtMs - endedMs)),
    };
  } finally {
    session.abort();
    speech.release();
  }
}
