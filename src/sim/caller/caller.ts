import { CallerEar, silentFromMs } from './ear.ts';
import { CallerTimeout } from '../errors.ts';

/** What a scripted caller does next. `afterMs` counts from when the bot began to speak. */
export type CallerStep =
  | { readonly kind: 'say'; readonly text: string; readonly pcm: Int16Array }
  | { readonly kind: 'interrupt'; readonly text: string; readonly pcm: Int16Array; readonly afterMs: number }
  | { readonly kind: 'cough'; readonly pcm: Int16Array; readonly afterMs: number }
  | {
      readonly kind: 'press';
      readonly digits: string;
      /** Presses while the bot speaks; without it, when the bot has finished. */
      readonly afterMs?: number;
    }
  | { readonly kind: 'hang-up' }
  /** Waits for the bot to end the call. */
  | { readonly kind: 'wait-for-end' };

export interface StepReport {
  readonly kind: CallerStep['kind'];
  readonly text: string;
  /** First sample of what the caller did, on the carrier's sample clock. */
  readonly atMs: number;
  /** For an interruption or a cough: from its first sample until the ear heard the bot's last sound, if it fell silent. */
  readonly botSilentMs: number | undefined;
}

/** A polite pause between the end of the bot's sentence and the caller's first sound. */
const POLITE_MS = 200;
/** Whether the bot stopped for an interruption is judged this long after its first sample, or at its end if that is later. */
const JUDGED_AFTER_MS = 1_000;

export { CallerTimeout } from '../errors.ts';

/** What a scripted caller needs of the line: one media stream, on the carrier's sample clock. */
export interface CallerLine {
  /** Ms since the stream began. */
  readonly nowMs: number;
  readonly open: boolean;
  /** Whether everything given to `say` has been sent. */
  readonly silent: boolean;
  /** Everything the ear has heard since the stream began, silence included, at 8 kHz. */
  readonly buffer: { readonly heard: Int16Array };
  /** Queues caller audio, 8 kHz. @returns when its first sample will be sent, in ms since the stream began */
  say(pcm: Int16Array): number;
  press(digit: string): void;
  /** The call ends at the carrier. */
  stop(): void;
  /** Calls back after every 20 ms of the stream and when it ends. @returns a function that stops it */
  watch(listener: () => void): () => void;
}

/** A caller with a script: listens, waits for its turn, speaks, talks over the bot, coughs, presses keys, hangs up. */
export class ScriptedCaller {
  readonly #stream: CallerLine;
  readonly #ear = new CallerEar();
  readonly #patienceMs: number;
  readonly #onAct: (text: string) => void;
  readonly reports: StepReport[] = [];
  /** What the bot begins to say from this moment on answers the step before. */
  #doneMs = -1;

  /** @param onAct told what the caller says or presses, as it begins */
  constructor(stream: CallerLine, patienceMs = 20_000, onAct: (text: string) => void = () => undefined) {
    this.#stream = stream;
    this.#patienceMs = patienceMs;
    this.#onAct = onAct;
  }

  /** @throws CallerTimeout when the bot does not speak, or does not stop, in time */
  async run(steps: readonly CallerStep[]): Promise<readonly StepReport[]> {
    for (const step of steps) {
      await this.#take(step);
      if (!this.#stream.open) break;
    }
    return this.reports;
  }

  async #take(step: CallerStep): Promise<void> {
    switch (step.kind) {
      case 'say': {
        await this.#botHasSpoken(step.text);
        const atMs = await this.#speak(step.pcm, step.text);
        this.#report(step.kind, step.text, atMs);
        return;
      }
      case 'interrupt':
      case 'cough': {
        const text = step.kind === 'cough' ? '(coughs)' : step.text;
        const phrase = await this.#until('the bot to speak', text, () => this.#phraseSince(this.#doneMs));
        await this.#untilMs(phrase.fromMs + step.afterMs, text);
        const atMs = await this.#speak(step.pcm, text);
        const silentAtMs = await this.#fellSilent(atMs, atMs + step.pcm.length / 8, text);
        this.#report(step.kind, text, atMs, silentAtMs === undefined ? undefined : silentAtMs - atMs);
        // A cough takes no turn: what the bot goes on saying is still the answer to what was said before.
        this.#doneMs = step.kind === 'cough' ? phrase.fromMs - 1 : (silentAtMs ?? this.#doneMs);
        return;
      }
      case 'press':
        if (step.afterMs === undefined) await this.#botHasSpoken(`(presses ${step.digits})`);
        else {
          const text = `(presses ${step.digits})`;
          const phrase = await this.#until('the bot to speak', text, () => this.#phraseSince(this.#doneMs));
          await this.#untilMs(phrase.fromMs + step.afterMs, text);
        }
        this.#doneMs = this.#stream.nowMs;
        this.#onAct(`(presses ${step.digits})`);
        for (const digit of step.digits) this.#stream.press(digit);
        this.#report(step.kind, step.digits, this.#doneMs);
        return;
      case 'hang-up':
        await this.#botHasSpoken('(hangs up)');
        this.#report(step.kind, '', this.#stream.nowMs);
        this.#stream.stop();
        return;
      case 'wait-for-end':
        await this.#until('the bot to hang up', '(listens)', () => (this.#stream.open ? undefined : true));
        this.#report(step.kind, '', this.#stream.nowMs);
    }
  }

  #report(kind: CallerStep['kind'], text: string, atMs: number, botSilentMs?: number): void {
    this.reports.push({ kind, text, atMs, botSilentMs });
  }

  /** Sends the audio and waits until it is out and its effect can be heard. */
  async #speak(pcm: Int16Array, step: string): Promise<number> {
    this.#onAct(step);
    const atMs = this.#stream.say(pcm);
    const endMs = atMs + pcm.length / 8;
    await this.#until('its own voice to be sent', step, () =>
      this.#stream.silent && this.#stream.nowMs >= endMs ? true : undefined,
    );
    this.#doneMs = atMs;
    return atMs;
  }

  async #botHasSpoken(step: string): Promise<void> {
    await this.#until('the bot to finish speaking', step, () =>
      this.#ear.finished ? this.#phraseSince(this.#doneMs) : undefined,
    );
    await this.#untilMs((this.#ear.lastSoundMs ?? 0) + POLITE_MS, step);
  }

  #phraseSince(afterMs: number): { fromMs: number } | undefined {
    // A ready-made answer to a key begins in the very frame in which it was pressed.
    return this.#ear.phrases.find(({ fromMs }) => fromMs >= afterMs);
  }

  /** When the bot fell silent for what the caller said from `atMs` to `endMs`, if it did. */
  async #fellSilent(atMs: number, endMs: number, step: string): Promise<number | undefined> {
    const untilMs = Math.max(endMs, atMs + JUDGED_AFTER_MS);
    await this.#until('an end', step, () => (this.#ear.nowMs >= untilMs ? true : undefined));
    return silentFromMs(this.#stream.buffer.heard, atMs, endMs, untilMs);
  }

  async #untilMs(atMs: number, step: string): Promise<void> {
    await this.#until('the moment to come', step, () => (this.#stream.nowMs >= atMs ? true : undefined));
  }

  async #until<Value>(waitedFor: string, step: string, check: () => Value | undefined): Promise<Value> {
    const sinceMs = this.#stream.nowMs;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        this.#ear.listen(this.#stream.buffer.heard);
        const value = check();
        if (value !== undefined) {
          stop();
          resolve(value);
        } else if (!this.#stream.open || this.#stream.nowMs - sinceMs > this.#patienceMs) {
          stop();
          reject(new CallerTimeout(waitedFor, step, Math.round(this.#stream.nowMs - sinceMs)));
        }
      };
      const stop = this.#stream.watch(look);
      look();
    });
  }
}
