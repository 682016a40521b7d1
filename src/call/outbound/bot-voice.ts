import { isDeepStrictEqual } from 'node:util';
import type { OutboundAudio } from './outbound-audio.ts';
import { type AudioMakers, Reply, type ReplySource, type SynthesisTimes, type Utterance } from './reply.ts';
import type { Sounds } from './sounds/port.ts';
import type { BotSound } from '../turn/turn-state.ts';
import type { PhraseSet } from '../../config/bot-phrases.ts';
import { type Bot, phrasesOf } from '../../config/bots.ts';
import { type DialogAction, type Interruptible, type MadeSpeech, soundLabel } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../speech/port.ts';
import { MadeAhead } from '../made-ahead.ts';

/** Chunks of one sentence; a longer one is a fault. */
const MOST_CHUNKS = 10_000;

/** A synthesizer that is already speaking the sentence an early answer begins with. */
class SpeechAhead implements Synthesizer {
  readonly #synthesizer: Synthesizer;
  #prepared: { readonly request: SynthesisRequest; readonly audio: MadeAhead<Uint8Array> } | undefined;

  constructor(synthesizer: Synthesizer) {
    this.#synthesizer = synthesizer;
  }

  get capabilities(): SynthesizerCapabilities {
    return this.#synthesizer.capabilities;
  }

  /** Speaks one sentence in advance, in place of another one. @param signal aborted when it is not needed */
  prepare(request: SynthesisRequest, signal: AbortSignal): void {
    this.discard();
    if (signal.aborted || this.#synthesizer.isInMemory?.(request) === true) return;
    const audio = new MadeAhead((given) => this.#synthesizer.speak(request, given), MOST_CHUNKS);
    signal.addEventListener('abort', () => audio.discard(), { once: true });
    this.#prepared = { request, audio };
  }

  discard(): void {
    this.#prepared?.audio.discard();
    this.#prepared = undefined;
  }

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const prepared = this.#prepared;
    if (prepared === undefined || !isDeepStrictEqual(prepared.request, request)) return this.#synthesizer.speak(request, signal);
    this.#prepared = undefined;
    if (prepared.audio.hasFailed) return this.#synthesizer.speak(request, signal);
    return prepared.audio.take(signal);
  }

  isInMemory(request: SynthesisRequest): boolean {
    return this.#synthesizer.isInMemory?.(request) ?? false;
  }
}

/** Turn of words outside any turn. */
const NO_TURN = -1;

/** Services a bot speaks with. */
export interface VoiceServices {
  readonly clock: Clock;
  readonly synthesizer: Synthesizer;
  /** Audio files for bots. */
  readonly sounds: Sounds;
  /** Cuts streamed text into sentences for synthesis; joined they are the text. */
  readonly createCutter: () => SentenceCutter;
}

/** Yields a sentence as soon as later text cannot change it. */
export interface SentenceCutter {
  push(text: string): readonly string[];
  flush(): readonly string[];
}

export interface VoiceListener {
  readonly synthesisFailed: (error: unknown) => void;
  readonly soundMissing: (source: string, error: unknown) => void;
}

/** The bot's speech: current language and voice, and the reply being spoken. */
export class BotVoice {
  language: string;
  #voice: string;
  readonly #bot: Bot;
  readonly #services: VoiceServices;
  readonly #outbound: OutboundAudio;
  readonly #timeline: SynthesisTimes;
  readonly #listener: VoiceListener;
  readonly #ahead: SpeechAhead;
  #reply: Reply | undefined;
  #replies = 0;
  /** The text that is arriving in parts. */
  #open: { readonly reply: Reply; readonly cutter: SentenceCutter; readonly style: Omit<Utterance, 'text'> } | undefined;

  constructor(bot: Bot, services: VoiceServices, outbound: OutboundAudio, timeline: SynthesisTimes, listener: VoiceListener) {
    this.language = bot.language;
    this.#voice = bot.voice;
    this.#bot = bot;
    this.#services = services;
    this.#outbound = outbound;
    this.#timeline = timeline;
    this.#listener = listener;
    this.#ahead = new SpeechAhead(services.synthesizer);
  }

  get name(): string {
    return this.#voice;
  }

  /** The reply being made or played; undefined while there is none. */
  get reply(): Reply | undefined {
    return this.#reply;
  }

  /** Whether the whole reply was made and played. */
  get played(): boolean {
    return this.#reply !== undefined && !this.#reply.aborted && this.#reply.done && this.#outbound.playout.idle;
  }

  /** Whether a reply is being made or played, or was cut and can be resumed. */
  get speaking(): boolean {
    return this.#reply !== undefined && !this.#reply.aborted;
  }

  /** What the caller hears of the bot, or waits for. */
  sound(nowMs: number): BotSound {
    if (this.#outbound.playout.isAudible(nowMs)) return 'audible';
    if (this.#reply === undefined || this.#reply.aborted) return 'none';
    return this.#reply.synthesizing ? 'synthesizing' : 'awaited';
  }

  /** Starts a reply in place of the running one and of what an interruption cut from it. */
  start(turnIndex: number): Reply {
    return this.#start(turnIndex, 'dialog');
  }

  #start(turnIndex: number, source: ReplySource): Reply {
    this.#reply?.abort();
    this.#outbound.playout.discardCut();
    // The hold applied to the old reply, and no event would lift it from the new one.
    this.#outbound.playout.release();
    this.#reply = this.#newReply(turnIndex, source, this.#listener.synthesisFailed);
    return this.#reply;
  }

  say(reply: Reply, action: DialogAction & { type: 'say' }): void {
    const interruptible = action.interruptible ?? this.#bot.interruption.allow;
    const language = action.language ?? this.language;
    const voice = action.voice ?? this.#voice;
    const style = { voice, language, speed: this.#bot.speed, interruptible };
    if (action.speech !== undefined) {
      this.flush();
      return reply.say(new MadeUtterance(style, action.speech));
    }
    const open = this.#open;
    if (open !== undefined && (open.reply !== reply || !isDeepStrictEqual(open.style, style))) this.flush();
    const cutter = this.#open?.cutter ?? this.#services.createCutter();
    this.#open = { reply, cutter, style };
    this.#speak(cutter.push(action.text));
    if (action.more !== true) this.flush();
  }

  /**
   * Has the first sentence of an answer spoken before it is known whether the answer is used.
   * @param signal aborted when it is not
   * @returns takes the answer's words as they come
   */
  speakAhead(signal: AbortSignal): (action: DialogAction & { type: 'say' }) => void {
    const cutter = this.#services.createCutter();
    let isPrepared = false;
    return ({ text, more, language = this.language, voice = this.#voice }) => {
      if (isPrepared) return;
      const sentences = [...cutter.push(text), ...(more === true ? [] : cutter.flush())];
      const first = sentences.map(speakable).find((sentence) => sentence !== '');
      if (first === undefined) return;
      isPrepared = true;
      const format = this.#outbound.speechFormat;
      this.#ahead.prepare({ text: first, voice, language, speed: this.#bot.speed, format }, signal);
    };
  }

  play(reply: Reply, { source, text = '', loop = 1, preemptible = false, ...action }: DialogAction & { type: 'play' }): void {
    this.flush();
    const interruptible = action.interruptible ?? this.#bot.interruption.allow;
    const words = speakable(text);
    const { language } = this;
    const instead = { text: words, voice: this.#voice, language, speed: this.#bot.speed, interruptible };
    reply.play({
      source,
      label: words === '' ? soundLabel(source) : words,
      loop,
      preemptible,
      interruptible,
      instead: words === '' ? undefined : instead,
    });
  }

  /** Ends the streamed text. */
  flush(): void {
    if (this.#open !== undefined) this.#speak(this.#open.cutter.flush());
    this.#open = undefined;
  }

  /** Drops the unfinished last sentence of the streamed text. */
  dropOpen(): void {
    this.#open = undefined;
  }

  #speak(sentences: readonly string[]): void {
    if (this.#open !== undefined) speakAll(this.#open.reply, this.#open.style, sentences);
  }

  /** Says a stock phrase as part of a reply. */
  preface(reply: Reply, name: keyof PhraseSet, interruptible: Interruptible = this.#bot.interruption.allow): void {
    this.say(reply, { type: 'say', text: phrasesOf(this.#bot, this.language)[name], interruptible });
  }

  /** Says a stock phrase as the whole reply. */
  phrase(name: keyof PhraseSet, turnIndex: number, interruptible: Interruptible): void {
    const reply = this.#start(turnIndex, 'phrase');
    this.preface(reply, name, interruptible);
    reply.close();
  }

  /** Says words outside the dialog after the current ones; in silence, as a reply of their own. */
  interject(text: string, turnIndex: number, interruptible: Interruptible): void {
    const running = this.speaking ? this.#reply : undefined;
    const reply = running ?? this.#start(turnIndex, 'interjection');
    this.#sayWhole(reply, text, interruptible);
    if (running === undefined) reply.close();
  }

  /** Says a complete text without ending the dialog's streamed one. */
  #sayWhole(reply: Reply, text: string, interruptible: Interruptible): void {
    const cutter = this.#services.createCutter();
    const style = { voice: this.#voice, language: this.language, speed: this.#bot.speed, interruptible };
    speakAll(reply, style, [...cutter.push(text), ...cutter.flush()]);
  }

  /** Covers a wait with a short sentence outside any turn; the reply follows. */
  filler(): void {
    const filler = this.#newReply(NO_TURN, 'phrase', () => undefined);
    this.#sayWhole(filler, phrasesOf(this.#bot, this.language).oneMoment, 'always');
    filler.close();
  }

  switchTo(language: string, voice: string | undefined): void {
    this.language = language;
    this.#voice = voice ?? this.#voice;
  }

  /** The reply was played to its end. */
  finished(): void {
    this.#outbound.playout.release();
    this.#reply = undefined;
  }

  /** Aborts the reply. */
  abort(): void {
    this.#reply?.abort();
    this.#ahead.discard();
  }

  #newReply(turnIndex: number, source: ReplySource, onFailure: (error: unknown) => void): Reply {
    const { sounds, clock } = this.#services;
    const { soundMissing: onMissing } = this.#listener;
    const { folder } = this.#bot;
    this.#replies += 1;
    const unitPrefix = `${this.#replies}-`;
    const makers: AudioMakers = {
      synthesizer: this.#ahead,
      sound: (source, format, signal) => sounds.play(folder, source, format, signal),
    };
    return new Reply(this.#outbound, makers, clock, this.#timeline, { turnIndex, source, unitPrefix, onFailure, onMissing });
  }
}

/** Queues the audible part of these sentences. */
function speakAll(reply: Reply, style: Omit<Utterance, 'text'>, sentences: readonly string[]): void {
  for (const sentence of sentences) {
    const text = speakable(sentence);
    if (text !== '') reply.say(utterance(style, text));
  }
}

/** Speech that the dialog made: its text grows until the speech is whole. */
class MadeUtterance implements Utterance {
  readonly voice: string;
  readonly language: string;
  readonly speed: number;
  readonly interruptible: Interruptible;
  readonly made: MadeSpeech;

  constructor({ voice, language, speed, interruptible }: Omit<Utterance, 'text'>, made: MadeSpeech) {
    this.voice = voice;
    this.language = language;
    this.speed = speed;
    this.interruptible = interruptible;
    this.made = made;
  }

  get text(): string {
    return this.made.text;
  }
}

/** Written out: a spread would give the objects different hidden classes. */
function utterance({ voice, language, speed, interruptible }: Omit<Utterance, 'text'>, text: string): Utterance {
  return { text, voice, language, speed, interruptible };
}

/** `[shown](address)` and `![shown](address)`: only the shown part is spoken. */
const LINK = /!?\[([^\]\n]*)\]\([^)\n]*\)/gu;
const BARE_ADDRESS = /\bhttps?:\/\/(?:www\.)?([^\s/?#]+)\S*/giu;
const HEADING_OR_BULLET = /^[ \t]*(?:#{1,6}[ \t]+|[-*+•][ \t]+|>[ \t]?)/gmu;
const RULE = /^[ \t]*(?:[-*_][ \t]*){3,}$/gmu;
const EMPHASIS = /(\*\*|__|~~|`{1,3})/gu;
/** A lone `*` or `_` at the edge of a word; inside a word or between numbers it stays. */
const EDGE_EMPHASIS = /(?<![\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}])/gu;
/** Emoji with their modifiers and joiners; a joiner between letters is part of a Hindi word. */
const PICTURE =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u{FE0F}|\u{20E3}|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u{FE0F})\u{200D}/gu;
/** Marks that count as pictographs but are spoken. */
const SAID_MARKS = /^[©®™]/u;

/**
 * The speakable part of a written sentence: without markup, pictures and addresses, as models write for readers. Formulas (`$…$`) stay.
 * @returns the text with single spaces; empty when none of it can be spoken
 */
export function speakable(text: string): string {
  return text
    .split(/(\$[^$\n]+\$)/u)
    .map((part, index) => (index % 2 === 1 ? part : withoutMarkup(part)))
    .join('')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

function withoutMarkup(text: string): string {
  return text
    .replaceAll(LINK, '$1')
    .replaceAll(BARE_ADDRESS, '$1')
    .replaceAll(RULE, '')
    .replaceAll(HEADING_OR_BULLET, '')
    .replaceAll(EMPHASIS, '')
    .replaceAll(EDGE_EMPHASIS, '')
    .replaceAll(PICTURE, (picture) => (SAID_MARKS.test(picture) ? picture : ''));
}
