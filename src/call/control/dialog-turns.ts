import type { CallFacts, DialogTurn, TurnInput } from '../../dialog/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { languageOf, momentOf, readCallBack, sayCallBack } from '../../language/index.ts';
import type { CallLog } from '../log/call-log.ts';
import type { CallerInput, CallIdentity } from '../log/call-record.ts';
import type { Media } from '../media.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { Advice } from './advice.ts';
import { inputOf } from './answer-reader.ts';

/** Builds the dialog's turns from the caller's input and the state of the call. */
export class DialogTurns {
  readonly advice = new Advice();
  readonly #identity: CallIdentity;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #callLog: CallLog;
  readonly #transfer: () => DialogTurn['transfer'];

  /** @param transfer the agent being rung now */
  constructor(identity: CallIdentity, clock: Pick<Clock, 'wallMs'>, callLog: CallLog, transfer: () => DialogTurn['transfer']) {
    this.#identity = identity;
    this.#clock = clock;
    this.#callLog = callLog;
    this.#transfer = transfer;
  }

  of(input: CallerInput, turn: number, expected: ExpectedValue | undefined, { voice, outbound }: Media): DialogTurn {
    const transfer = this.#transfer();
    const voicemail = this.#callLog.voicemails.of(turn);
    return {
      ...(voicemail === undefined ? {} : { voicemail: { durationMs: voicemail.durationMs } }),
      ...(transfer === undefined ? {} : { transfer }),
      ...this.advice.forTurn(turn),
      call: this.facts(voice.language),
      index: turn,
      input: this.#withCallBack(inputOf(input, expected, voice.language), voice.language),
      history: this.#callLog.conversation.history(outbound.ledger, turn),
      variables: this.#callLog.memory.variables,
      idempotencyKey: `${this.#identity.callId}.${turn}`,
    };
  }

  facts(language: string): CallFacts {
    const { callId, bot, inbound } = this.#identity;
    const { carrierCallId, from, to, direction } = inbound;
    const { answeredBy } = this.#callLog.outbound ?? {};
    const facts = { callId, carrierCallId, botName: bot.name, from, to, direction, language };
    return answeredBy === undefined ? facts : { ...facts, answeredBy };
  }

  /** The person's time zone, where known. */
  get timeZone(): string {
    const { outbound, bot } = this.#identity;
    return outbound?.zone ?? bot.timeZone;
  }

  /** @param at an ISO date and time; without an offset, in the person's time zone */
  momentOf(at: string): number {
    return /(?:Z|[+-]\d{2}:?\d{2})$/u.test(at) ? Date.parse(at) : momentOf(at.slice(0, 16), this.timeZone);
  }

  /** The person on an outbound call may ask to be called at another time. */
  #withCallBack(input: TurnInput, language: string): TurnInput {
    if (this.#identity.inbound.direction !== 'outbound' || input.kind !== 'spoken') return input;
    const wallMs = this.#clock.wallMs();
    const wish = readCallBack(input.text, wallMs, this.timeZone);
    if (wish === undefined) return input;
    const { atMs } = wish;
    if (atMs === undefined) return { ...input, callBack: {} };
    return { ...input, callBack: { atMs, said: sayCallBack(languageOf(language), atMs, wallMs, this.timeZone) } };
  }
}
