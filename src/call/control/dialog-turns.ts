import type { CallFacts, DialogTurn, TurnInput } from '../../dialog/port.ts';
import { languageOf, momentOf, readCallBack, sayCallBack } from '../../language/index.ts';
import type { CallLine } from '../call-line.ts';
import type { CallerInput } from '../log/call-record.ts';
import type { Media } from '../media.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { inputOf } from './answer-reader.ts';

/** Most whispers that wait for the caller's next turn. */
const MOST_ADVICE = 20;

/** Builds the dialog's turns from the caller's input and the state of the call. */
export class DialogTurns {
  readonly advice = new Advice();
  readonly #line: CallLine;
  readonly #transfers: { readonly standing: DialogTurn['transfer'] };

  /** @param transfers `standing`: the agent being rung now */
  constructor(line: CallLine, transfers: { readonly standing: DialogTurn['transfer'] }) {
    this.#line = line;
    this.#transfers = transfers;
  }

  of(input: CallerInput, turn: number, expected: ExpectedValue | undefined, { voice, outbound }: Media): DialogTurn {
    const { standing: transfer } = this.#transfers;
    const voicemail = this.#line.log.voicemails.of(turn);
    return {
      ...(voicemail === undefined ? {} : { voicemail: { durationMs: voicemail.durationMs } }),
      ...(transfer === undefined ? {} : { transfer }),
      ...this.advice.forTurn(turn),
      call: this.facts(voice.language),
      index: turn,
      input: this.#withCallBack(inputOf(input, expected, voice.language), voice.language),
      history: this.#line.log.conversation.history(outbound.ledger, turn),
      variables: this.#line.log.memory.variables,
      idempotencyKey: `${this.#line.identity.callId}.${turn}`,
    };
  }

  facts(language: string): CallFacts {
    const { callId, bot, inbound } = this.#line.identity;
    const { carrierCallId, from, to, direction } = inbound;
    const { answeredBy } = this.#line.log.outbound ?? {};
    const facts = { callId, carrierCallId, botName: bot.name, from, to, direction, language };
    return answeredBy === undefined ? facts : { ...facts, answeredBy };
  }

  /** The person's time zone, where known. */
  get timeZone(): string {
    const { outbound, bot } = this.#line.identity;
    return outbound?.zone ?? bot.timeZone;
  }

  /** @param at an ISO date and time; without an offset, in the person's time zone */
  momentOf(at: string): number {
    return /(?:Z|[+-]\d{2}:?\d{2})$/u.test(at) ? Date.parse(at) : momentOf(at.slice(0, 16), this.timeZone);
  }

  /** The person on an outbound call may ask to be called at another time. */
  #withCallBack(input: TurnInput, language: string): TurnInput {
    if (this.#line.identity.inbound.direction !== 'outbound' || input.kind !== 'spoken') return input;
    const wallMs = this.#line.clock.wallMs();
    const wish = readCallBack(input.text, wallMs, this.timeZone);
    if (wish === undefined) return input;
    const { atMs } = wish;
    if (atMs === undefined) return { ...input, callBack: {} };
    return { ...input, callBack: { atMs, said: sayCallBack(languageOf(language), atMs, wallMs, this.timeZone) } };
  }
}

/** Whispers for the dialog's next turn, and those of the last turn, which may be asked again. */
class Advice {
  #waiting: readonly string[] = [];
  #told: { readonly turn: number; readonly texts: readonly string[] } = { turn: -1, texts: [] };

  add(text: string): void {
    this.#waiting = [...this.#waiting, text].slice(-MOST_ADVICE);
  }

  /** The whispers of a turn; the same ones when it is asked again. */
  forTurn(turn: number): { readonly advice?: readonly string[] } {
    const before = this.#told.turn === turn ? this.#told.texts : [];
    const texts = [...before, ...this.#waiting];
    this.#waiting = [];
    this.#told = { turn, texts };
    return texts.length === 0 ? {} : { advice: texts };
  }
}
