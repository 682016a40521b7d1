import { CallerEar } from './ear.ts';
import type { SimulatedStream } from './twilio-stream.ts';

/** What a scripted caller does next. `afterMs` counts from when the bot began to speak. */
export type CallerStep =
  | { readonly kind: 'say'; readonly text: string; readonly pcm: Int16Array }
  | { readonly kind: 'interrupt'; readonly text: string; readonly pcm: Int16Array; readonly afterMs: number }
  | { readonly kind: 'cough'; readonly pcm: Int16Array; readonly afterMs: number }
  | { readonly kind: 'press'; readonly digits: string }
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

/** The bot did not do what the caller waited for. */
export class CallerTimeout extends Error {
  constructor(waitedFor: string, step: string, afterMs: number) {
    super(`the caller waited ${afterMs} ms for ${waitedFor}, before: ${step}`);
  }
}

/** A polite pause between the end of the bot's sentence and the caller's first sound. */
const POLITE_MS = 200;
/** A bot that stays silent this long after an interruption has stopped for it. */
const STOPPED_MS = 300;

/** A caller with a script: listens, waits for its turn, speaks, talks over the bot, coughs, presses keys, hangs up. */
export class ScriptedCaller {
  readonly #stream: SimulatedStream;
  readonly #ear = new CallerEar();
  readonly #patienceMs: number;
  readonly reports: StepReport[] = [];
  /** The bot's next utterance begins after this moment. */
  #doneMs = -1;

  constructor(stream: SimulatedStream, patienceMs = 20_000) {
    this.#stream = stream;
    this.#patienceMs = patienceMs;
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
        const spell = await this.#until('the bot to speak', text, () => this.#spellSince(this.#doneMs));
        await this.#until('the moment to come', text, () =>
          this.#stream.nowMs >= spell.fromMs + step.afterMs ? true : undefined,
        );
        const atMs = await this.#speak(step.pcm, text);
        const silentAtMs = this.#ear.spells.find(({ fromMs }) => fromMs === spell.fromMs)?.toMs ?? this.#quietSince(atMs);
        this.#report(step.kind, text, atMs, silentAtMs === undefined ? undefined : Math.max(0, silentAtMs - atMs));
        // A cough takes no turn: what the bot goes on saying is still the answer to what was said before.
        if (step.kind === 'cough') this.#doneMs = spell.fromMs - 1;
        return;
      }
      case 'press':
        await this.#botHasSpoken(`(presses ${step.digits})`);
        this.#doneMs = this.#stream.nowMs;
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
    const atMs = this.#stream.say(pcm);
    const endMs = atMs + pcm.length / 8;
    await this.#until('its own voice to be sent', step, () =>
      this.#stream.silent && this.#stream.nowMs >= endMs ? true : undefined,
    );
    this.#doneMs = endMs;
    return atMs;
  }

  async #botHasSpoken(step: string): Promise<void> {
    const spell = await this.#until('the bot to finish speaking', step, () => {
      const candidate = this.#spellSince(this.#doneMs);
      return candidate?.toMs === undefined ? undefined : candidate;
    });
    await this.#until('a pause', step, () => (this.#stream.nowMs >= (spell.toMs ?? 0) + POLITE_MS ? true : undefined));
  }

  #spellSince(afterMs: number): { fromMs: number; toMs: number | undefined } | undefined {
    return this.#ear.spells.findLast(({ fromMs }) => fromMs > afterMs);
  }

  /** When the bot fell silent after this moment, if it stayed so long enough to have stopped. */
  #quietSince(afterMs: number): number | undefined {
    const last = this.#ear.lastSoundMs;
    if (last === undefined || last < afterMs) return afterMs;
    return this.#ear.nowMs - last >= STOPPED_MS ? last : undefined;
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
