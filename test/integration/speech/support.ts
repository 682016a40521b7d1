import { systemClock } from '../../../src/kernel/clock.ts';
import { RealtimeRecogniser } from '../../../src/speech/asr/realtime.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { Slots } from '../../../src/speech/client/slots.ts';
import { TokenSource } from '../../../src/speech/client/tokens.ts';
import { RealtimeSynthesizer } from '../../../src/speech/tts/realtime.ts';
import type { ScriptedPlatform } from './scripted-platform.ts';

export const clock = systemClock;

export function tokensOf({ url }: { readonly url: string }): TokenSource {
  return new TokenSource({ authUrl: url, apiKey: 'the-key', clock, fetch });
}

/** @param random asked once for each wait between repeats; near one, they are at their shortest */
export function synthesizerOn(platform: ScriptedPlatform, slots = new Slots(16), random = () => 0.99): RealtimeSynthesizer {
  return new RealtimeSynthesizer({ ttsUrl: platform.url, tokens: tokensOf(platform), clock, slots, random });
}

export function recogniserOn(platform: { readonly url: string }): RealtimeRecogniser {
  return new RealtimeRecogniser({ asrUrl: platform.url, tokens: tokensOf(platform), clock, logger: silentLogger });
}

export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}
