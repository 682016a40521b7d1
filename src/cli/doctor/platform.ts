import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { SpeechPlatform } from '../../speech/platform.ts';
import { type SpeechSource, speechSource, audibleExamples } from '../setup/speech-settings.ts';
import type { Check, CheckOutcome } from './check.ts';
import { vendorChecks } from './vendors.ts';

/** A sentence that any recogniser of telephone English should recognise, and the embedded one knows. */
const SENTENCE = 'what are your opening hours';
/** Share of words that must be recognised: engines differ in small words. */
const ENOUGH = 0.6;

/** The checks of the speech platform, in order; the rest is skipped when it cannot be reached. */
export async function platformChecks(
  config: LoadedConfig,
  bots: readonly Bot[],
  logger: Logger,
  signal: AbortSignal,
  run: (check: Check) => Promise<void>,
): Promise<void> {
  let source: SpeechSource | undefined;
  const { settings } = config;
  const anyPort = { ...config, settings: { ...settings, platform: { ...settings.platform, port: 0 } } };
  await run({
    name: 'speech platform',
    advice: 'the embedded platform did not start; its own lines above say why',
    async run() {
      source = await speechSource(anyPort, logger, signal);
      return { ok: true, detail: source.embedded ? 'none is configured: the embedded one starts' : 'configured' };
    },
  });
  if (source === undefined) return;
  await using _source = source;
  await using speech = new SpeechPlatform(source.settings, { clock: systemClock, logger });
  const { authUrl, asrUrl, ttsUrl } = source.settings;
  const before = { failed: false };
  const check = async (name: string, advice: string, task: (limit: AbortSignal) => Promise<CheckOutcome>): Promise<void> => {
    await run({
      name,
      advice,
      async run(limit) {
        before.failed = true;
        const outcome = await task(limit);
        before.failed = !outcome.ok;
        return outcome;
      },
    });
  };
  await check('health', `check OFFHOOK_ASR_URL (${asrUrl}) and OFFHOOK_TTS_URL (${ttsUrl}), and the way there`, async (limit) => {
    const { recognition, synthesis } = await speech.health(limit);
    const voices = synthesis?.voices.length ?? 0;
    const detail = `recognition ${wordFor(recognition?.healthy)}, synthesis ${wordFor(synthesis?.healthy)}, ${voices} voices`;
    return { ok: recognition?.healthy === true && synthesis?.healthy === true, detail };
  });
  await check(
    'access token',
    `check OFFHOOK_AUTH_URL (${authUrl}) and OFFHOOK_API_KEY, and the balance of the account`,
    async (limit) => {
      const { lifeLeftMs = 0 } = await speech.accessToken(limit);
      return { ok: true, detail: `minted, lives ${Math.round(lifeLeftMs / 1000)} s` };
    },
  );
  const known = audibleExamples(config, 'en');
  const sentence = known.includes(SENTENCE) ? SENTENCE : (known[0] ?? SENTENCE);
  await vendorChecks(config, bots, { platform: speech, sentence, logger }, run);
  // Without a token or the services this would only fail once more.
  if (before.failed) return;
  await check(
    'a sentence there and back',
    'try `npx offhook say` and `npx offhook transcribe`, and look at what each makes of it',
    (limit) => thereAndBack(speech, sentence, limit),
  );
}

async function thereAndBack(speech: SpeechPlatform, text: string, signal: AbortSignal): Promise<CheckOutcome> {
  const { synthesis } = await speech.health(signal);
  const voice = synthesis?.voices.find((name) => name === 'Nisha') ?? synthesis?.defaultVoice ?? '';
  const spoken = await speech.synthesize({ text, voice, language: 'en', format: 'wav' }, signal);
  const parts: Uint8Array[] = [];
  for await (const part of spoken.audio) parts.push(part);
  const bytes = Buffer.concat(parts);
  const { text: heard } = await speech.transcribe({ bytes, name: 'doctor.wav' }, { language: 'en' }, signal);
  const wanted = wordsOf(text);
  const came = new Set(wordsOf(heard));
  const ok = wanted.filter((word) => came.has(word)).length >= ENOUGH * wanted.length;
  return { ok, detail: `said "${text}", heard "${heard}"` };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

function wordFor(isHealthy: boolean | undefined): string {
  return isHealthy === true ? 'well' : 'not well';
}
