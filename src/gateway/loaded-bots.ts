import { type DiallingIdentity, wholeOpening } from '../call/control/duties.ts';
import type { AudioFormat } from '../audio/format.ts';
import { loadAmbiences } from '../call/outbound/ambience/load-ambience.ts';
import { type Bot, phrasesOf } from '../config/bots.ts';
import { type BotDialog, loadBotDialog } from '../dialog/bot-dialog.ts';
import type { DialogHookFactory } from '../dialog/port.ts';
import { switchingBots } from '../dialog/switching-bots.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { SynthesisRequest } from '../speech/port.ts';
import { splitForSpeech } from '../speech/tts/sentences.ts';
import type { GatewaySpeech } from './speech.ts';

/** As many sentences tell how loud a voice is. */
const TELLING_SENTENCES = 4;

/** Bots that are ready for calls. A call keeps those that it began with, also where others take their place. */
export interface LoadedBots {
  readonly bots: readonly Bot[];
  readonly dialogs: ReadonlyMap<string, BotDialog>;
  /** The same dialogs as calls ask them: each may hand a call on to any other of these bots. */
  readonly hooks: ReadonlyMap<string, DialogHookFactory>;
  readonly ambiences: ReadonlyMap<Bot, Int16Array>;
}

/** Loads the dialogs and rooms of bots. @throws OffhookError when a dialog cannot be opened */
export async function loadBotsForCalls(bots: readonly Bot[], clock: Clock, logger: Logger): Promise<LoadedBots> {
  const entries = await Promise.all(bots.map(async (bot) => ({ bot, dialog: await loadBotDialog(bot, clock) })));
  const rooms = await loadAmbiences(bots, logger);
  const ambiences = new Map<Bot, Int16Array>();
  for (const bot of bots) {
    const room = rooms.get(bot.name);
    if (room !== undefined) ambiences.set(bot, room);
  }
  return {
    bots,
    dialogs: new Map(entries.map(({ bot, dialog }) => [bot.name, dialog])),
    hooks: switchingBots(entries.map(({ bot, dialog }) => ({ bot, hooks: dialog.hooks }))),
    ambiences,
  };
}

/** Speaks the fixed sentences of bots once, so that they start in the same tick later, and are there when whoever speaks is not. */
export async function prepareSentences(
  { bots, dialogs }: Pick<LoadedBots, 'bots' | 'dialogs'>,
  speech: Pick<GatewaySpeech, 'prepare'>,
  {
    formats,
    dialling,
  }: {
    readonly formats: readonly AudioFormat[];
    /** For what calls that we place may have to say first. */
    readonly dialling: DiallingIdentity;
  },
  logger: Logger,
): Promise<void> {
  for (const bot of bots) {
    try {
      const requests = fixedSentences(bot, dialogs.get(bot.name), dialling);
      await speech.prepare(bot, requests, formats, TELLING_SENTENCES);
      logger.info({ bot: bot.name, sentences: requests.length }, 'fixed sentences prepared');
    } catch (error) {
      logger.warn({ bot: bot.name, error }, 'preparing fixed sentences failed');
    }
  }
}

function fixedSentences(bot: Bot, dialog: BotDialog | undefined, dialling: DiallingIdentity): SynthesisRequest[] {
  const { language, voice, speed } = bot;
  const { apology, goodbye, sayAgain, oneMoment, timeIsShort, shutdown, optedOut, wrongNumber } = phrasesOf(bot);
  const texts = [
    apology,
    goodbye,
    sayAgain,
    oneMoment,
    timeIsShort,
    shutdown,
    optedOut,
    wrongNumber,
    ...wholeOpening(bot, dialling),
    ...(dialog?.fixedPrompts((text) => splitForSpeech(text)) ?? []),
  ];
  const sentences = new Set(texts.flatMap((text) => splitForSpeech(text).map((sentence) => sentence.trim())));
  sentences.delete('');
  return Array.from(sentences, (text) => ({ text, voice, language, speed }));
}
