import { resample } from '../../audio/resample.ts';
import type { CallSession } from '../../call/session.ts';
import { callerFloor } from '../../call/turn/floor.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { within } from '../../kernel/waiting.ts';
import type { CallerMoment, NextAct, RecordedCall } from '../../rehearsal/evals/caller.ts';
import type { Rehearsal } from '../../rehearsal/evals/rehearsal.ts';
import { CallerEar } from '../../sim/caller/ear.ts';
import { type CallerLine, type CallerStep, ScriptedCaller } from '../../sim/caller/caller.ts';
import type { SpeechStyle } from '../../sim/caller/voice.ts';
import type { RehearsedCall } from './rehearsed-calls.ts';

/** A live call of a rehearsal, from both ends. */
export interface SoundCall {
  readonly line: CallerLine;
  readonly session: CallSession;
  readonly rehearsed: RehearsedCall;
}

/** The caller's voice: 8 kHz. @throws CallerVoiceError */
export type SayAloud = (text: string, style: SpeechStyle) => Promise<Int16Array>;

const EAR_HZ = 8_000;
/** What a caller does outside of the call: its time stands still meanwhile. */
export interface CallerMeans {
  readonly say: SayAloud;
  readonly hold: <Value>(work: Promise<Value>) => Promise<Value>;
}

/** How much of the bot's sentence an interrupting caller hears. */
const HEARD_BEFORE_MS = 600;
/** Real time after which a call hangs, whatever its own clock says. */
const HANGS_MS = 900_000;

/** Lets the caller act each time it is their turn, until the call is over or they have nothing to do. Never rejects. */
export async function talk(rehearsal: Rehearsal, call: SoundCall, means: CallerMeans): Promise<void> {
  const { problems } = call.rehearsed.observer;
  try {
    const { recording } = rehearsal.caller;
    const acts = recording === undefined ? new SoundTalk(rehearsal, call, means).run() : playRecording(call.line, recording);
    const talked = acts.then(() => true);
    if (!(await within(systemClock, HANGS_MS, talked, false)))
      problems.push(`the call had not ended after ${HANGS_MS / 60_000} minutes`);
  } catch (error) {
    if (call.line.open) problems.push(errorTextWithCause(error));
  }
}

/** What the caller waited for came: their turn, a moment to interrupt, the end, or nothing. */
type Waited = 'turn' | 'interruption' | 'end' | 'nothing';

class SoundTalk {
  readonly #rehearsal: Rehearsal;
  readonly #call: SoundCall;
  readonly #say: (text: string) => Promise<Int16Array>;
  readonly #hold: CallerMeans['hold'];
  readonly #actor: ScriptedCaller;
  readonly #ear = new CallerEar();
  /** What the bot begins to say from here on answers the caller's last act. */
  #sinceMs = 0;

  constructor(rehearsal: Rehearsal, call: SoundCall, { say, hold }: CallerMeans) {
    const { scenario, bot } = rehearsal;
    const { patience, voice, rate, language = scenario.call.language ?? bot.language } = scenario.caller;
    this.#rehearsal = rehearsal;
    this.#hold = hold;
    this.#call = call;
    this.#say = (text) =>
      hold(say(text, { language, ...(voice === undefined ? {} : { voice }), ...(rate === undefined ? {} : { rate }) }));
    this.#actor = new ScriptedCaller(call.line, patience.waitMs);
  }

  async run(): Promise<void> {
    const { scenario, caller } = this.#rehearsal;
    const { line, rehearsed } = this.#call;
    const { observer } = rehearsed;
    // A called person says hello first.
    if (scenario.call.outbound) line.say(await this.#say(HELLO[this.#language] ?? HELLO.en));
    while (line.open) {
      const waited = await this.#wait();
      if (waited === 'end') return;
      if (waited === 'nothing')
        return void observer.problems.push(`the caller got no turn for ${Math.round(scenario.caller.patience.waitMs / 1000)} s`);
      // A model that plays the caller takes its time, and the bot must not hear that as silence.
      const next = await this.#hold(caller.next(this.#moment));
      const step = await this.#stepOf(next, waited);
      if (step === 'stop') return;
      observer.acts();
      this.#sinceMs = line.nowMs;
      if (step !== 'silence') await this.#actor.run([step]);
    }
  }

  get #language(): string {
    const { scenario, bot } = this.#rehearsal;
    return (scenario.caller.language ?? scenario.call.language ?? bot.language).split('-')[0] ?? 'en';
  }

  get #moment(): CallerMoment {
    const { observer, slots } = this.#call.rehearsed;
    return observer.moment(slots);
  }

  async #stepOf(next: NextAct, waited: Waited): Promise<CallerStep | 'silence' | 'stop'> {
    const { observer } = this.#call.rehearsed;
    if ('stuck' in next) {
      observer.problems.push(next.stuck);
      return 'stop';
    }
    const { act } = next;
    switch (act.kind) {
      case 'say':
        return { kind: 'say', text: act.text, pcm: await this.#say(act.text) };
      case 'press':
        return { kind: 'press', digits: act.keys };
      case 'silence':
        return 'silence';
      case 'interrupt': {
        const isOver = waited !== 'interruption';
        if (isOver) observer.warnings.push('the bot is not speaking: there is nothing to interrupt');
        if ('keys' in act.by) return { kind: 'press', digits: act.by.keys, ...(isOver ? {} : { afterMs: HEARD_BEFORE_MS }) };
        const said = { text: act.by.text, pcm: await this.#say(act.by.text) };
        return isOver ? { kind: 'say', ...said } : { kind: 'interrupt', ...said, afterMs: HEARD_BEFORE_MS };
      }
      case 'hang-up':
      case 'show':
        return 'stop';
    }
  }

  /** Waits until the bot has answered and is silent, or says something that the caller wants to interrupt. */
  #wait(): Promise<Waited> {
    const { line } = this.#call;
    const { waitMs } = this.#rehearsal.scenario.caller.patience;
    const fromMs = line.nowMs;
    return new Promise((resolve) => {
      const look = (): void => {
        this.#ear.listen(line.buffer.heard);
        const found = this.#found() ?? (line.nowMs - fromMs >= waitMs ? 'nothing' : undefined);
        if (found === undefined) return;
        stop();
        resolve(found);
      };
      const stop = line.watch(look);
      look();
    });
  }

  #found(): Waited | undefined {
    const { line, session, rehearsed } = this.#call;
    if (!line.open) return 'end';
    if (!this.#ear.phrases.some(({ fromMs }) => fromMs >= this.#sinceMs)) return undefined;
    const { turn } = session.standing;
    const { phase, farewell, caller } = turn;
    if (farewell.stage !== 'none' || caller.pendingDigits !== '') return undefined;
    if (phase.name === 'bot-speaking')
      return this.#rehearsal.caller.interrupts?.(this.#moment) === true ? 'interruption' : undefined;
    const listens = phase.name === 'listening' && Number.isFinite(phase.sinceMs) && callerFloor(turn) === undefined;
    return listens && rehearsed.dialog.answering === 0 && this.#ear.finished ? 'turn' : undefined;
  }
}

/** Sends the sound and the keys of a kept call, each at its time. Resolves at the end of either call. */
async function playRecording(line: CallerLine, { pcm, rateHz, keys, endsMs }: RecordedCall): Promise<void> {
  const waiting = [...keys];
  const fromMs = line.nowMs;
  line.say(resample(pcm, rateHz, EAR_HZ));
  await new Promise<void>((resolve) => {
    const stop = line.watch(() => {
      const atMs = line.nowMs - fromMs;
      for (let key = waiting[0]; key !== undefined && key.atMs <= atMs && line.open; key = waiting[0]) {
        line.press(key.digit);
        waiting.shift();
      }
      if (line.open && atMs < endsMs) return;
      stop();
      resolve();
    });
  });
}

/** What a person says who takes a call. */
const HELLO: Readonly<Record<string, string>> & { readonly en: string } = { en: 'hello', hi: 'हैलो' };
