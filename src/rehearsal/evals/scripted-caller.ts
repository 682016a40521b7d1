import type { CallerAct } from '../chat/caller-act.ts';
import { fits, readMatch, spaced } from '../chat/expectation.ts';
import type { Caller, CallerMoment, NextAct } from './caller.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { ActDocument, CallerDocument, ConditionDocument, TurnDocument, Value } from './suite-schema.ts';

/** A caller by a script of turns with conditions. */
export class ScriptedCaller implements Caller {
  readonly #turns: readonly { readonly turn: TurnDocument; left: number }[];
  readonly #document: CallerDocument;
  readonly #random: SeededRandom;
  #taken = 0;

  constructor(document: CallerDocument, random: SeededRandom) {
    this.#document = document;
    this.#random = random;
    this.#turns = document.turns.map((written) => {
      const turn = typeof written === 'string' ? { say: written, times: 1 } : written;
      return { turn, left: turn.times };
    });
  }

  get unused(): readonly number[] {
    return this.#turns.flatMap(({ turn, left }, index) => (left === turn.times ? [index] : []));
  }

  /** The first turn that is left and whose condition holds; else what the caller does otherwise. */
  async next(moment: CallerMoment): Promise<NextAct> {
    const { otherwise, patience } = this.#document;
    if (this.#taken >= patience.turns)
      return {
        stuck: `the caller gave up after ${patience.turns} turns of their own; the bot said last: ${quoted(moment.said)}`,
      };
    this.#taken += 1;
    const entry = this.#entry(moment);
    if (entry !== undefined) {
      entry.left -= 1;
      return { act: this.#actOf(entry.turn) };
    }
    if (otherwise !== undefined) return { act: this.#actOf(typeof otherwise === 'string' ? { say: otherwise } : otherwise) };
    const where = moment.step === undefined ? '' : ` (step ${moment.step})`;
    return { stuck: `the caller has no turn for what the bot said: ${quoted(moment.said)}${where}` };
  }

  interrupts(moment: CallerMoment): boolean {
    return this.#entry(moment)?.turn.interrupt !== undefined;
  }

  #entry(moment: CallerMoment): { readonly turn: TurnDocument; left: number } | undefined {
    return this.#turns.find(({ turn, left }) => left > 0 && holds(turn.when, moment));
  }

  #actOf({ say, press, interrupt, silence }: ActDocument): CallerAct {
    if (say !== undefined)
      return { kind: 'say', text: this.#spoken(typeof say === 'string' ? say : this.#random.pick(say.oneOf)) };
    if (press !== undefined) return { kind: 'press', keys: press };
    if (interrupt !== undefined) {
      const keys = /^#([\d*#]+)$/u.exec(interrupt)?.[1];
      return { kind: 'interrupt', by: keys === undefined ? { text: this.#spoken(interrupt) } : { keys } };
    }
    return silence === true ? { kind: 'silence' } : { kind: 'hang-up' };
  }

  /** The words without those that are mumbled; one is always left. */
  #spoken(text: string): string {
    const { mumbles } = this.#document;
    if (mumbles === 0) return text;
    const words = text.split(/\s+/u);
    const clear = words.filter(() => this.#random.next() >= mumbles);
    return clear.length === 0 ? this.#random.pick(words) : clear.join(' ');
  }
}

/** Whether a condition of a turn holds; a turn without one is always possible. */
export function holds(condition: TurnDocument['when'], moment: CallerMoment): boolean {
  if (condition === undefined) return true;
  const { says, asks, step, variables }: ConditionDocument = typeof condition === 'string' ? { says: condition } : condition;
  return (
    (says === undefined || matches(says, moment.said)) &&
    (asks === undefined || moment.asked.includes(asks)) &&
    (step === undefined || moment.step === step) &&
    Object.entries(variables ?? {}).every(([name, value]) => hasValue(value, moment.variables[name]))
  );
}

/** Whether a text contains the written one, or matches its `/regex/`. @param how of a text that is no regular expression */
export function matches(written: string, given: string, how: 'contains' | 'exact' = 'contains'): boolean {
  const match = readMatch(written, how);
  return typeof match !== 'string' && fits(match, given);
}

/** Whether a variable has the expected value; null expects none. */
export function hasValue(expected: Value, given: string | undefined): boolean {
  if (expected === null) return given === undefined || given === '';
  return given !== undefined && matches(String(expected), given, 'exact');
}

/** A text for messages, in one line. */
export function quoted(text: string): string {
  return text === '' ? 'nothing' : `"${spaced(text)}"`;
}
