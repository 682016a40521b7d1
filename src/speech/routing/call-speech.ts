import type { Clock } from '../../kernel/clock.ts';
import { SpeechOverloadedError } from '../client/errors.ts';
import { PLATFORM_RECOGNITION, PLATFORM_SYNTHESIS } from '../platform-capabilities.ts';
import type {
  CallSpeech,
  Recogniser,
  RecognitionEvent,
  RecognitionOptions,
  RecognitionSession,
  SpeechSwitch,
  SpeechUsage,
  SwitchReason,
  SynthesisRequest,
  Synthesizer,
} from '../port.ts';
import { FallbackRecognition, type RecognitionCandidate } from './fallback-recognition.ts';
import { speakWithFallback, type SynthesisCandidate } from './fallback-synthesis.ts';
import { SpeechMeter } from './speech-meter.ts';

/** Candidates for recognition and synthesis in one call. */
export interface CallChoices {
  /** Those that may recognise a language, first choice first; one that failed lately is behind the others. */
  recognisers(language: string): readonly RecognitionChoice[];
  /** Those that may speak it. */
  synthesizers(language: string): readonly SynthesisCandidate[];
}

export interface RecognitionChoice {
  readonly name: string;
  readonly recogniser: Recogniser;
  /** A slot for one session; undefined when none is free. */
  readonly reserve: () => { release(): void } | undefined;
  /** Whether enough slots are free for a session that only stands by. */
  readonly mayIdle: () => boolean;
}

/** What is measured of calls; all calls of a process share it. */
export interface SpeechWatch {
  /** @param error undefined where it only kept a call waiting */
  failed(service: SpeechSwitch['service'], name: string, error: unknown): void;
  /** The first audio of a sentence that was not in memory. */
  firstAudio(name: string, afterMs: number): void;
  /** The final of a commit. */
  finalAfterCommit(name: string, afterMs: number): void;
}

/** What counts as late of a vendor, in ms. */
export interface Lateness {
  final(name: string): number;
  firstAudio(name: string): number;
}

export interface CallSpeechParts {
  readonly language: string;
  readonly choices: CallChoices;
  /** The slot that was taken when the call was let in, and why it is not of the first of the list. */
  readonly first: { readonly name: string; readonly slot: { release(): void }; readonly reason: SwitchReason };
  /** The synthesizer where none has failed. */
  readonly usualSpeaker: string | undefined;
  readonly clock: Clock;
  readonly watch: SpeechWatch;
  readonly lateness: Lateness;
}

/** Recognition and synthesis of one call by the vendors its bot names for a language, with failover to their stand-ins. */
export class RoutedCallSpeech implements CallSpeech {
  readonly recogniser: Recogniser;
  readonly synthesizer: Synthesizer;
  readonly #parts: CallSpeechParts;
  readonly #slots: CallSlots;
  readonly #meter = new SpeechMeter();
  #listener: ((news: SpeechSwitch) => void) | undefined;
  readonly #untold: SpeechSwitch[] = [];
  /** The vendor in use, by service and language. */
  readonly #begun = new Map<string, string>();
  /** Vendors that failed in this call, by service. */
  readonly #failed = new Set<string>();
  #recognising: string | undefined;
  #recogniser: Recogniser | undefined;
  #speaking: string | undefined;

  constructor(parts: CallSpeechParts) {
    this.#parts = parts;
    this.#slots = new CallSlots(parts.first);
    const recognises = (): Recogniser | undefined => this.#recogniser ?? this.#recognisers(parts.language)[0]?.recogniser;
    this.recogniser = {
      get capabilities() {
        return recognises()?.capabilities ?? PLATFORM_RECOGNITION;
      },
      open: (options, listener) => this.#open(options, listener),
    };
    const speaks = (): Synthesizer | undefined => this.#synthesizers(parts.language)[0]?.synthesizer;
    this.synthesizer = {
      get capabilities() {
        return speaks()?.capabilities ?? PLATFORM_SYNTHESIS;
      },
      speak: (request, signal) => this.#speak(request, signal),
    };
  }

  spareRecognition(): { release(): void } | undefined {
    const choice = this.#recognisers(this.#parts.language).find(({ name }) => name === (this.#recognising ?? name));
    return choice && this.#slots.spare(choice);
  }

  listen(listener: (news: SpeechSwitch) => void): void {
    this.#listener = listener;
    for (const news of this.#untold.splice(0)) listener(news);
  }

  used(): readonly SpeechUsage[] {
    return this.#meter.used;
  }

  release(): void {
    this.#slots.release();
  }

  /** Before the first session the slot names the recogniser. */
  #recognisers(language: string): readonly RecognitionChoice[] {
    const choices = this.#parts.choices.recognisers(language);
    return this.#order('recognition', language, choices, this.#recognising === undefined ? this.#parts.first.name : undefined);
  }

  #synthesizers(language: string): readonly SynthesisCandidate[] {
    return this.#order('synthesis', language, this.#parts.choices.synthesizers(language));
  }

  /** A vendor in use for a language is kept, and one that failed in this call comes last, so that voices rarely change. */
  #order<Choice extends { readonly name: string }>(
    service: SpeechSwitch['service'],
    language: string,
    choices: readonly Choice[],
    begun = this.#begun.get(`${service} ${language}`),
  ): readonly Choice[] {
    const rank = ({ name }: Choice): number => (name === begun ? 0 : this.#failed.has(`${service} ${name}`) ? 2 : 1);
    return choices.toSorted((one, other) => rank(one) - rank(other));
  }

  #failedAt(service: SpeechSwitch['service'], name: string, error: unknown): void {
    this.#failed.add(`${service} ${name}`);
    this.#parts.watch.failed(service, name, error);
  }

  #open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    const { clock, watch, lateness, first: begun } = this.#parts;
    const choices = this.#recognisers(options.language);
    const [first] = choices;
    if (first === undefined) return closedSession('no configured recogniser takes this language', listener);
    const candidates = choices.map((choice): RecognitionCandidate => {
      const { name, mayIdle } = choice;
      const recogniser = this.#meter.recogniser(name, choice.recogniser);
      return { name, recogniser, mayIdle, takeSlot: () => this.#slots.take(choice) };
    });
    const recognises = ({ name, recogniser }: RecognitionChoice | RecognitionCandidate, reason: SwitchReason): void => {
      this.#recogniser = recogniser;
      this.#begun.set(`recognition ${options.language}`, name);
      this.#recognising = this.#tell('recognition', name, this.#recognising, reason);
    };
    recognises(first, this.#recognising === undefined ? begun.reason : 'language');
    if (candidates.length === 1) return this.#openAlone(first, options, listener);
    const session = new FallbackRecognition(candidates, options, listener, {
      clock,
      watch: {
        switched: (_from, to, reason) => recognises(to, reason),
        failed: ({ name }, error) => this.#failedAt('recognition', name, error),
        answered: ({ name }, afterMs) => watch.finalAfterCommit(name, afterMs),
        finalLateMs: ({ name }) => lateness.final(name),
      },
    });
    session.start();
    return session;
  }

  /** Without a stand-in, no audio is kept for one. */
  #openAlone(
    choice: RecognitionChoice,
    options: RecognitionOptions,
    listener: (event: RecognitionEvent) => void,
  ): RecognitionSession {
    const { clock, watch } = this.#parts;
    const slot = this.#slots.take(choice);
    if (slot === undefined) return closedSession(`${choice.name} has no free slot`, listener);
    let committedMs: number | undefined;
    const session = this.#meter.recogniser(choice.name, choice.recogniser).open(options, (event) => {
      if (event.type === 'closed') slot.release();
      if (event.type === 'final' && event.endOfUtterance !== false && committedMs !== undefined) {
        watch.finalAfterCommit(choice.name, clock.nowMs() - committedMs);
        committedMs = undefined;
      }
      listener(event);
    });
    return {
      send: (pcm) => session.send(pcm),
      commit() {
        committedMs ??= clock.nowMs();
        session.commit();
      },
      ...(session.listenFor === undefined ? {} : { listenFor: (phrases: readonly string[]) => session.listenFor?.(phrases) }),
      end: () => session.end(),
      abort() {
        session.abort();
        slot.release();
      },
    };
  }

  #speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { clock, watch, lateness, usualSpeaker } = this.#parts;
    const candidates = this.#synthesizers(request.language).map((candidate): SynthesisCandidate => {
      const { name, synthesizer } = candidate;
      return { name, synthesizer: this.#meter.synthesizer(name, synthesizer), request: (asked) => candidate.request(asked) };
    });
    const isInMemory = (one: SynthesisCandidate): boolean => one.synthesizer.isInMemory?.(one.request(request)) === true;
    const fromMemory = new Set(candidates.filter(isInMemory).map(({ name }) => name));
    return speakWithFallback(candidates, request, signal, {
      clock,
      watch: {
        speaks: ({ name }, reason) => {
          const first = name === usualSpeaker ? 'start' : 'cooling-down';
          const usual = this.#speaking === undefined ? first : 'language';
          this.#begun.set(`synthesis ${request.language}`, name);
          this.#speaking = this.#tell('synthesis', name, this.#speaking, reason ?? usual);
        },
        failed: ({ name }, error) => this.#failedAt('synthesis', name, error),
        firstAudio: ({ name }, afterMs) => {
          if (!fromMemory.has(name)) watch.firstAudio(name, afterMs);
        },
        firstAudioLateMs: ({ name }) => lateness.firstAudio(name),
      },
    });
  }

  #tell(service: SpeechSwitch['service'], by: string, before: string | undefined, reason: SwitchReason): string {
    if (by === before) return by;
    const news: SpeechSwitch = { service, by, before, reason };
    if (this.#listener === undefined) this.#untold.push(news);
    else this.#listener(news);
    return by;
  }
}

interface HeldSlot {
  readonly name: string;
  readonly slot: { release(): void };
  inUse: boolean;
}

/** The recognition slots of one call: one of them always, from before its first session to its end. */
class CallSlots {
  #held: HeldSlot[] = [];

  constructor({ name, slot }: Omit<HeldSlot, 'inUse'>) {
    this.#held.push({ name, slot, inUse: false });
  }

  /** A slot for a session: a free one of the call's, or another. A session that takes over from another of the call's may share its slot. */
  take({ name, reserve }: RecognitionChoice): { release(): void } | undefined {
    let held = this.#held.find((each) => each.name === name && !each.inUse);
    if (held === undefined) {
      const slot = reserve();
      if (slot === undefined) return this.#held.some((each) => each.name === name) ? { release: () => undefined } : undefined;
      held = { name, slot, inUse: false };
      this.#held.push(held);
    }
    const taken = held;
    taken.inUse = true;
    return {
      release: () => {
        taken.inUse = false;
        this.#giveBack(taken);
      },
    };
  }

  spare({ name, reserve }: RecognitionChoice): { release(): void } | undefined {
    const slot = reserve();
    if (slot === undefined) return undefined;
    const held = { name, slot, inUse: false };
    this.#held.push(held);
    return { release: () => this.#giveBack(held) };
  }

  release(): void {
    for (const { slot } of this.#held.splice(0)) slot.release();
  }

  /** The last one stays the call's. */
  #giveBack(held: HeldSlot): void {
    if (held.inUse || this.#held.length === 1 || !this.#held.includes(held)) return;
    this.#held = this.#held.filter((each) => each !== held);
    held.slot.release();
  }
}

/** A session that was never opened; says so once its opener has it. */
function closedSession(message: string, listener: (event: RecognitionEvent) => void): RecognitionSession {
  let over = false;
  queueMicrotask(() => {
    if (!over) listener({ type: 'closed', error: new SpeechOverloadedError(message) });
  });
  const close = (): void => void (over = true);
  return { send: () => undefined, commit: () => undefined, end: async () => close(), abort: close };
}
