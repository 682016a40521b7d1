import type { AnswerRequests, NextRequests, StreamAnswer } from '../carrier.ts';
import { CarrierControlError } from '../errors.ts';
import { ownVoice, voiceLocales } from '../own-voice.ts';
import { command, isOver, type TelnyxAccount, writeClientState } from './account.ts';
import { readEvent } from './webhook.ts';

/** Languages of `speak`, first in their usual region. */
const LOCALES = voiceLocales(`
  ar=arb arb cy-GB da-DK de-DE en-US en-AU en-GB en-IN es-ES es-MX es-US fr-FR fr-CA hi-IN is-IS it-IT ja-JP ko-KR nb-NO nl-NL no=nb-NO pl-PL pt-BR
  pt-PT ro-RO ru-RU sv-SE tr-TR zh=cmn-CN cmn-CN`);

/** The `speak` command: one sentence in the carrier's own voice. */
export function speakFields(sentence: string, language: string): object {
  const { text, locale = 'en-US' } = ownVoice(sentence, language, LOCALES);
  return { payload: text.slice(0, 3000), payload_type: 'text', voice: 'female', service_level: 'premium', language: locale };
}

/** Events of a media stream that ended, or never opened. */
const STREAM_ENDS = ['streaming.stopped', 'streaming.failed'];

/** Answers calls by commands; Telnyx's webhooks get empty answers. */
export class TelnyxAnswers implements AnswerRequests {
  readonly by = 'request';
  readonly #account: TelnyxAccount | undefined;
  readonly #streamFields: (url: string) => object;

  /** @param account undefined without an API key: no call can be answered */
  constructor(account: TelnyxAccount | undefined, streamFieldsOf: (url: string) => object) {
    this.#account = account;
    this.#streamFields = streamFieldsOf;
  }

  async stream({ url, callId, carrierCallId = '' }: StreamAnswer, signal: AbortSignal): Promise<void> {
    const account = this.#required();
    const state = writeClientState({ next: 'stream', call: callId });
    // A repeated command with the same id does nothing.
    const body = { ...this.#streamFields(url), send_silence_when_idle: true, client_state: state, command_id: callId };
    await account.repeat(command(carrierCallId, 'answer', body), signal);
  }

  /** Answers the call; speaking and hanging up follow by events (`followUp`). */
  async say(carrierCallId: string, text: string, language: string, signal: AbortSignal): Promise<void> {
    const account = this.#required();
    const state = writeClientState({ next: 'say', text: text.slice(0, 1500), language });
    await account.repeat(command(carrierCallId, 'answer', { client_state: state }), signal);
  }

  async followUp(report: unknown, signal: AbortSignal): Promise<void> {
    const event = readEvent(report);
    const state = event?.state;
    if (event === undefined || state === undefined || 'dial' in state) return;
    const { type, carrierCallId } = event;
    const account = this.#required();
    if (state.next === 'say' && type === 'call.answered')
      await this.#speakLast(carrierCallId, state.text, state.language, signal);
    else if (state.next === 'hang-up' && type === 'call.speak.ended') await account.hangUp(carrierCallId, signal);
    else if (state.next === 'hang-up-caller' && type === 'call.hangup') await account.hangUp(state.call, signal);
  }

  readonly next: NextRequests = {
    streamEnded(report) {
      const event = readEvent(report);
      if (event?.state === undefined || !STREAM_ENDS.includes(event.type)) return undefined;
      const { state, carrierCallId } = event;
      if ('dial' in state) return { carrierCallId, callId: state.dial };
      return state.next === 'stream' ? { carrierCallId, callId: state.call } : undefined;
    },
    stream: async ({ url, callId, carrierCallId = '' }, signal) => {
      const account = this.#required();
      // An answered call's codecs are settled.
      const fields = { ...this.#streamFields(url), preferred_codecs: undefined };
      const body = { ...fields, client_state: writeClientState({ next: 'stream', call: callId }) };
      try {
        await account.once(command(carrierCallId, 'streaming_start', body), signal);
        return true;
      } catch (error) {
        if (isOver(error)) return false;
        throw error;
      }
    },
    say: (carrierCallId, text, language, signal) => this.#speakLast(carrierCallId, text, language, signal),
    hangUp: (carrierCallId, signal) => this.#required().hangUp(carrierCallId, signal),
  };

  /** Speaks to an answered call; hanging up follows by an event (`followUp`). */
  async #speakLast(carrierCallId: string, text: string, language: string, signal: AbortSignal): Promise<void> {
    const account = this.#required();
    const next = writeClientState({ next: 'hang-up' });
    const body = { ...speakFields(text, language), client_state: next, command_id: `${carrierCallId}.say`.slice(-128) };
    try {
      await account.once(command(carrierCallId, 'speak', body), signal);
    } catch (error) {
      await account.hangUp(carrierCallId, signal);
      throw error;
    }
  }

  #required(): TelnyxAccount {
    if (this.#account !== undefined) return this.#account;
    throw new CarrierControlError('telnyx.apiKey is not set: Telnyx answers a call only on a request with it', {
      retryable: false,
      surelyNotDone: true,
    });
  }
}
