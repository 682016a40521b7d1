import { decodeAudio } from '../../audio/codec.ts';
import { NARROW_RATE_HZ } from '../../audio/format.ts';
import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SpeechPlatform } from '../../speech/platform.ts';
import type { Recogniser, Synthesizer } from '../../speech/port.ts';
import { baseOf, chosen, isNamed, speechDefaults, voiceOf } from '../../speech/routing/choice.ts';
import { PLATFORM } from '../../speech/routing/routed-vendor.ts';
import { vendors as every } from '../../speech/vendors/registry.ts';
import type { OpenVendor, SpeechVendor, VendorPrice } from '../../speech/vendors/vendor.ts';
import type { Check } from './check.ts';

const FORMAT = { encoding: 'pcm16', rateHz: NARROW_RATE_HZ } as const;
/** Audio is sent as a call sends it: so much at once. */
const MESSAGE_SAMPLES = NARROW_RATE_HZ / 10;

interface Tried {
  readonly name: string;
  readonly title: string;
  readonly recogniser: Recogniser | undefined;
  readonly synthesizer: Synthesizer | undefined;
  readonly prices: readonly VendorPrice[];
  readonly needs: string;
}

/** Tries everybody who recognises or speaks for a bot with a real utterance, and says how long it took. */
export async function vendorChecks(
  config: Pick<LoadedConfig, 'settings' | 'vendors'>,
  bots: readonly Bot[],
  { platform, sentence, logger }: { readonly platform: SpeechPlatform; readonly sentence: string; readonly logger: Logger },
  run: (check: Check) => Promise<void>,
  vendors: readonly SpeechVendor[] = every,
): Promise<void> {
  const defaults = speechDefaults(config.settings.speech);
  const { recogniser, synthesizer } = platform;
  const tried: Tried[] = [{ name: PLATFORM, title: 'the speech platform', recogniser, synthesizer, prices: [], needs: '' }];
  const opened: AsyncDisposable[] = [];
  try {
    for (const vendor of vendors) {
      const configured = config.vendors.get(vendor.name);
      if (configured === undefined) continue;
      let open: OpenVendor | undefined;
      try {
        open = vendor.open(configured, { clock: systemClock, logger });
      } catch (error) {
        if (!isNamed(vendor.name, bots, defaults)) continue;
        const advice = `check what it needs (${vendor.needs})`;
        await run({ name: `${vendor.title} is configured`, advice, run: async () => ({ ok: false, detail: errorText(error) }) });
      }
      if (open === undefined) continue;
      opened.push(open);
      tried.push({ ...vendor, recogniser: open.recogniser, synthesizer: open.synthesizer });
    }
    let spoken = new Int16Array();
    for (const each of tried) {
      const use = useOf('synthesizer', each.name, bots, defaults);
      const { synthesizer: voice } = each;
      if (use === undefined || voice === undefined) continue;
      const advice = `check what it needs (${each.needs || 'OFFHOOK_TTS_URL'}), and the account there`;
      await run({
        name: `${each.title} speaks`,
        advice,
        async run(signal) {
          const { bot } = use;
          const asked = { text: sentence, voice: bot.voice, language: bot.language, format: FORMAT, isPersonal: false };
          const named = voiceOf(each.name, bot, asked, defaults) ?? voice.capabilities.defaultVoice ?? bot.voice;
          const startedMs = systemClock.nowMs();
          let firstMs: number | undefined;
          const parts: Uint8Array[] = [];
          for await (const part of voice.speak({ ...asked, voice: named }, signal)) {
            firstMs ??= systemClock.nowMs() - startedMs;
            parts.push(Buffer.from(part));
          }
          if (firstMs === undefined) return { ok: false, detail: `no audio came for "${sentence}"` };
          if (spoken.length === 0) spoken = Int16Array.from(decodeAudio('pcm16', Buffer.concat(parts)));
          return { ok: true, detail: `first audio after ${Math.round(firstMs)} ms${factsOf(use, each.prices, 'synthesis')}` };
        },
      });
    }
    for (const each of tried) {
      const use = useOf('recogniser', each.name, bots, defaults);
      const { recogniser: ear } = each;
      if (use === undefined || ear === undefined || spoken.length === 0) continue;
      const advice = `check what it needs (${each.needs || 'OFFHOOK_ASR_URL'}), and the account there`;
      await run({
        name: `${each.title} recognises`,
        advice,
        async run(signal) {
          const { text, afterMs } = await hear(ear, use.bot.language, spoken, signal);
          const detail = `final ${Math.round(afterMs)} ms after the commit: "${text}"${factsOf(use, each.prices, 'recognition')}`;
          return { ok: text.trim() !== '', detail, advice: 'it heard no words: check the language and the model' };
        },
      });
    }
  } finally {
    for (const open of opened) await open[Symbol.asyncDispose]();
  }
}

interface Use {
  readonly bot: Bot;
  /** Another one comes first wherever it is named. */
  readonly standsBy: boolean;
}

function useOf(
  service: 'recogniser' | 'synthesizer',
  name: string,
  bots: readonly Bot[],
  defaults: ReturnType<typeof speechDefaults>,
): Use | undefined {
  const uses = bots.flatMap((bot) =>
    [bot.language, ...Object.keys(bot.speech.languages)].flatMap((language) => {
      const place = chosen(service, bot, language, defaults).indexOf(name);
      return place === -1 ? [] : [{ bot: { ...bot, language }, standsBy: place > 0 }];
    }),
  );
  // The sentence is English.
  const english = uses.filter(({ bot }) => baseOf(bot.language) === 'en');
  return [...english, ...uses].find(({ standsBy }) => !standsBy) ?? english[0] ?? uses[0];
}

function factsOf({ standsBy }: Use, prices: readonly VendorPrice[], service: VendorPrice['service']): string {
  const [price] = prices.filter((each) => each.service === service);
  const cost = price === undefined ? '' : `; ${price.model}: ${price.price} (published, ${price.asOf})`;
  return `${standsBy ? '; stands by' : ''}${cost}`;
}

function hear(
  recogniser: Recogniser,
  language: string,
  pcm: Int16Array,
  signal: AbortSignal,
): Promise<{ text: string; afterMs: number }> {
  return new Promise((resolve, reject) => {
    let committedMs: number | undefined;
    const words: string[] = [];
    const session = recogniser.open({ language, sampleRateHz: NARROW_RATE_HZ }, (event) => {
      if (event.type === 'closed') reject(event.error ?? new Error('the recogniser closed the session'));
      if (event.type !== 'final') return;
      words.push(event.text);
      if (committedMs === undefined || event.endOfUtterance === false) return;
      resolve({ text: words.join(' ').trim(), afterMs: systemClock.nowMs() - committedMs });
      session.abort();
    });
    signal.addEventListener('abort', () => {
      session.abort();
      reject(signal.reason as Error);
    });
    let at = 0;
    // In real time, as a caller speaks: a final is timed from the end of speech.
    const send = (): void => {
      session.send(pcm.subarray(at, at + MESSAGE_SAMPLES));
      at += MESSAGE_SAMPLES;
      if (at < pcm.length) {
        systemClock.after(100, send);
        return;
      }
      committedMs = systemClock.nowMs();
      session.commit();
    };
    send();
  });
}
