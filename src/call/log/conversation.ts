import type { HistoryEntry } from '../../dialog/port.ts';
import type { CallerInput, TurnRecord } from './call-record.ts';
import type { HeardLedger } from '../outbound/heard-ledger.ts';
import { type Timeline, turnLatency } from './timeline.ts';

interface Exchange {
  readonly index: number;
  input: CallerInput;
  readonly startedAtWallMs: number;
  /** Steps of the dialog, oldest first. */
  steps: readonly string[];
}

/** Most steps in one turn; a dialog that takes more is in a loop. */
const MOST_STEPS = 100;

/** The turns of a call so far. Turn 0 is the greeting, or what is said to an answering machine; a turn asked again keeps its index. */
export class Conversation {
  readonly #exchanges: Exchange[] = [];
  /** Turns from before a crash. */
  #earlier: readonly TurnRecord[] = [];
  digits = '';

  /** Index of the running turn; −1 before the greeting. */
  get current(): number {
    return this.#exchanges.length - 1;
  }

  /** The caller's input that opened the running turn. */
  get input(): CallerInput | undefined {
    return this.#exchanges.at(-1)?.input;
  }

  /** Continues the turns from before a crash; the last is the running one. */
  goOn(turns: readonly TurnRecord[], digits: string): void {
    this.#earlier = turns;
    this.digits = digits;
    for (const { input, startedAtWallMs, steps = [] } of turns)
      this.#exchanges.push({ index: this.#exchanges.length, input, startedAtWallMs, steps });
  }

  /** Opens the next turn. */
  open(input: CallerInput, wallMs: number): number {
    this.#exchanges.push({ index: this.#exchanges.length, input, startedAtWallMs: wallMs, steps: [] });
    this.digits += keysOf(input);
    return this.current;
  }

  /** Whether a turn is a greeting: an outbound call may have several, where machines answer first. */
  greets(turn: number): boolean {
    return this.#exchanges[turn]?.input.kind === 'start';
  }

  /** Replaces the running turn's input by a better transcript. */
  amend(input: CallerInput): void {
    const exchange = this.#exchanges.at(-1);
    if (exchange === undefined) return;
    exchange.input = input;
    // The turn is asked anew.
    exchange.steps = [];
  }

  /** Notes the dialog's steps in this turn. */
  stepped(names: readonly string[]): void {
    const exchange = this.#exchanges.at(-1);
    if (exchange !== undefined) exchange.steps = [...exchange.steps, ...names].slice(0, MOST_STEPS);
  }

  /** The dialog's current step; undefined before its first. */
  get step(): string | undefined {
    return this.#exchanges.findLast(({ steps }) => steps.length > 0)?.steps.at(-1);
  }

  /** The caller went on speaking before an answer: rolls the turn back, to be opened again. */
  takeBack(): void {
    const taken = this.#exchanges.pop();
    const keys = taken === undefined ? '' : keysOf(taken.input);
    this.digits = this.digits.slice(0, this.digits.length - keys.length);
  }

  /** What both sides said before this turn, the bot's side as it was heard. */
  history(ledger: HeardLedger, turn: number): readonly HistoryEntry[] {
    return this.#exchanges.slice(0, turn).flatMap(({ index, input }) => {
      const entries: HistoryEntry[] = [
        { role: 'caller', text: callerText(input) },
        { role: 'bot', text: this.#heard(ledger, index) },
      ];
      return entries.filter(({ text }) => text !== '');
    });
  }

  /** The bot's last words, as sent. */
  lastSaid(ledger: HeardLedger): string {
    return this.#exchanges.map(({ index }) => this.#sent(ledger, index)).findLast((text) => text !== '') ?? '';
  }

  /** What the caller said or keyed in a turn. */
  callerTextOf(turn: number): string {
    const exchange = this.#exchanges[turn];
    return exchange === undefined ? '' : callerText(exchange.input);
  }

  records(ledger: HeardLedger, timeline: Pick<Timeline, 'ofTurn' | 'partiesOf'>): readonly TurnRecord[] {
    return this.#exchanges.map((exchange) => this.#record(exchange, ledger, timeline));
  }

  /** The record of one turn as it stands, or undefined when there is no such turn. */
  record(index: number, ledger: HeardLedger, timeline: Pick<Timeline, 'ofTurn' | 'partiesOf'>): TurnRecord | undefined {
    const exchange = this.#exchanges[index];
    if (exchange === undefined) return undefined;
    return this.#record(exchange, ledger, timeline);
  }

  #sent(ledger: HeardLedger, index: number): string {
    return joined(this.#earlier[index]?.botText, ledger.sentText(index));
  }

  #heard(ledger: HeardLedger, index: number): string {
    return joined(this.#earlier[index]?.botHeardText, ledger.heardText(index));
  }

  #record(
    { index, input, startedAtWallMs, steps }: Exchange,
    ledger: HeardLedger,
    timeline: Pick<Timeline, 'ofTurn' | 'partiesOf'>,
  ): TurnRecord {
    const earlier = this.#earlier[index];
    return {
      index,
      input,
      callerText: callerText(input),
      botText: this.#sent(ledger, index),
      botHeardText: this.#heard(ledger, index),
      interrupted: ledger.wasCut(index) || earlier?.interrupted === true,
      latency: earlier?.latency ?? turnLatency(timeline.ofTurn(index), index),
      ...timeline.partiesOf(index),
      ...(steps.length === 0 ? {} : { steps }),
      startedAtWallMs,
    };
  }
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}

/** The keys of an answer. */
function keysOf(input: CallerInput): string {
  if (input.kind === 'keyed') return input.digits;
  return input.kind === 'spoken' ? (input.keys ?? '') : '';
}

/** What the caller said or keyed; empty where it was nothing. */
export function callerText(input: CallerInput): string {
  switch (input.kind) {
    case 'spoken':
      return input.keys === undefined ? input.text : `${input.text} ${input.keys}`;
    case 'keyed':
      return input.digits;
    case 'start':
      return input.heard ?? '';
    case 'no-input':
    case 'tool-result':
    case 'transfer':
      return '';
  }
}
