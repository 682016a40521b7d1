import { z } from 'zod';
import type { AudioFormat } from '../../../audio/format.ts';
import { parseJson } from '../../../kernel/json.ts';
import type { FunctionResult, RealtimeVendor, SessionSetup, Speaker, Usage, VendorDialect, VendorEvent } from '../vendor.ts';

const HEARD: AudioFormat = { encoding: 'pcm16', rateHz: 16_000 };
/** Audio of the model is always 24 kHz (ai.google.dev/gemini-api/docs/live-guide, "Audio formats"). */
const SPOKEN: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
/** A connection lasts about ten minutes, and `goAway` comes before its end (ai.google.dev/gemini-api/docs/live-session). */
const SESSION_MS = 10 * 60_000;

/**
 * Gemini Live: `BidiGenerateContent` over a WebSocket. It has no message for how much of a speech was heard: the model is told in words.
 * @see https://ai.google.dev/api/live
 */
export const gemini: RealtimeVendor = {
  name: 'gemini',
  title: 'Gemini Live',
  defaultModel: 'gemini-2.5-flash-native-audio-preview-09-2025',
  sessionMs: SESSION_MS,
  audioInterrupts: true,
  url: ({ url }) =>
    url ?? 'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  headers: (key) => ({ 'x-goog-api-key': key }),
  formats: () => ({ heard: HEARD, spoken: SPOKEN }),
  connect: (setup) => new GeminiDialect(setup),
};

const count = z.number().nonnegative().optional().catch(undefined);
const details = z
  .array(z.looseObject({ modality: z.string().optional(), tokenCount: count }))
  .optional()
  .catch(undefined);
const transcription = z.looseObject({ text: z.string().optional() }).optional().catch(undefined);
const serverMessage = z.looseObject({
  setupComplete: z.looseObject({}).optional().catch(undefined),
  serverContent: z
    .looseObject({
      modelTurn: z
        .looseObject({
          parts: z.array(z.looseObject({ inlineData: z.looseObject({ data: z.string() }).optional().catch(undefined) })),
        })
        .optional()
        .catch(undefined),
      outputTranscription: transcription,
      generationComplete: z.boolean().optional(),
      turnComplete: z.boolean().optional(),
      interrupted: z.boolean().optional(),
    })
    .optional()
    .catch(undefined),
  toolCall: z
    .looseObject({
      functionCalls: z.array(z.looseObject({ id: z.string().default(''), name: z.string(), args: z.unknown() })),
    })
    .optional()
    .catch(undefined),
  goAway: z.looseObject({ timeLeft: z.string().optional() }).optional().catch(undefined),
  usageMetadata: z
    .looseObject({
      promptTokenCount: count,
      responseTokenCount: count,
      cachedContentTokenCount: count,
      promptTokensDetails: details,
      responseTokensDetails: details,
    })
    .optional()
    .catch(undefined),
});

type ServerMessage = z.output<typeof serverMessage>;

/** An answer has no id in this protocol: answers are counted, and a cancelled one goes on until its end is reported. */
class GeminiDialect implements VendorDialect {
  readonly #setup: SessionSetup;
  #answers = 0;
  /** The running answer was announced. */
  #isOpen = false;
  /** Answers asked for, of which the end was not reported. */
  #due = 0;
  #usage: Usage | undefined;
  #wasInterrupted = false;
  /** A turn of the caller was begun, and not ended. */
  #speaks = false;

  constructor(setup: SessionSetup) {
    this.#setup = setup;
  }

  opening(): readonly string[] {
    const { model, voice, instructions, functions, maxTokens } = this.#setup;
    const setup = {
      model: model.startsWith('models/') ? model : `models/${model}`,
      generationConfig: {
        responseModalities: ['AUDIO'],
        maxOutputTokens: maxTokens,
        ...(voice === undefined ? {} : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } }),
      },
      systemInstruction: { parts: [{ text: instructions }] },
      ...(functions.length === 0 ? {} : { tools: [{ functionDeclarations: functions }] }),
      outputAudioTranscription: {},
      realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
    };
    return [JSON.stringify({ setup })];
  }

  audio(audio: Uint8Array, isFirst: boolean): readonly string[] {
    const data = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64');
    const chunk = `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"${data}"}}}`;
    if (!isFirst || this.#speaks) return [chunk];
    this.#speaks = true;
    return ['{"realtimeInput":{"activityStart":{}}}', chunk];
  }

  commit(): readonly string[] {
    if (!this.#speaks) return [];
    this.#speaks = false;
    // The end of the activity asks for an answer.
    this.#due += 1;
    return ['{"realtimeInput":{"activityEnd":{}}}'];
  }

  drop(): readonly string[] {
    // The end of an activity would ask for an answer: it goes on until the next turn.
    return [];
  }

  text(speaker: Speaker, text: string): readonly string[] {
    const role = speaker === 'bot' ? 'model' : 'user';
    return [content([{ role, parts: [{ text }] }], false)];
  }

  results(results: readonly FunctionResult[]): readonly string[] {
    // The answer goes on by itself.
    this.#due += 1;
    const functionResponses = results.map(({ id, name, output }) => ({ id, name, response: { output } }));
    return [JSON.stringify({ toolResponse: { functionResponses } })];
  }

  respond(): readonly string[] {
    if (this.#due > 0) return [];
    this.#due = 1;
    return [content([], true)];
  }

  cancel(): readonly string[] {
    return [];
  }

  heard(_item: string, { text }: { readonly text: string }): readonly string[] {
    const said = text === '' ? 'nothing of it' : `only ${JSON.stringify(text)}`;
    return this.text('system', `(Your last words were interrupted. The caller heard ${said}.)`);
  }

  read(frame: string): readonly VendorEvent[] {
    const parsed = serverMessage.safeParse(parseJson(frame));
    if (!parsed.success) return [{ type: 'ignored', why: 'a message that is not of the protocol' }];
    const { setupComplete, serverContent, toolCall, goAway, usageMetadata } = parsed.data;
    if (usageMetadata !== undefined) this.#usage = usageOf(usageMetadata);
    const events: VendorEvent[] = [];
    if (setupComplete !== undefined) events.push({ type: 'ready' });
    if (goAway !== undefined) events.push({ type: 'leaving', inMs: Number.parseFloat(goAway.timeLeft ?? '0') * 1000 || 0 });
    if (serverContent !== undefined) this.#content(serverContent, events);
    for (const { id, name, args } of toolCall?.functionCalls ?? [])
      events.push({ type: 'call', response: this.#opened(events), id, name, args: JSON.stringify(args ?? {}) });
    // A call ends the turn here: the answer goes on with its result.
    if (toolCall !== undefined) this.#done(events);
    return events.length === 0 ? [{ type: 'ignored', why: undefined }] : events;
  }

  #content(content: NonNullable<ServerMessage['serverContent']>, events: VendorEvent[]): void {
    const { modelTurn, outputTranscription, interrupted, turnComplete, generationComplete } = content;
    const spoken = outputTranscription?.text ?? '';
    if (spoken !== '') {
      const response = this.#opened(events);
      events.push({ type: 'words', response, item: response, text: spoken });
    }
    for (const { inlineData } of modelTurn?.parts ?? []) {
      if (inlineData === undefined) continue;
      const response = this.#opened(events);
      events.push({ type: 'audio', response, item: response, audio: Buffer.from(inlineData.data, 'base64') });
    }
    const response = this.#current;
    if (generationComplete === true && this.#isOpen) events.push({ type: 'speech-done', response, item: response });
    if (interrupted === true) {
      this.#done(events);
      this.#wasInterrupted = true;
    } else if (turnComplete === true) {
      // One follows each `interrupted`.
      if (this.#wasInterrupted && !this.#isOpen) this.#wasInterrupted = false;
      else this.#done(events);
    }
  }

  get #current(): string {
    return `answer-${this.#answers}`;
  }

  /** The id of the running answer, which is announced first. */
  #opened(events: VendorEvent[]): string {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#answers += 1;
      events.push({ type: 'response', response: this.#current });
    }
    return this.#current;
  }

  #done(events: VendorEvent[]): void {
    if (!this.#isOpen && this.#due === 0) return;
    const response = this.#opened(events);
    this.#isOpen = false;
    this.#due = Math.max(0, this.#due - 1);
    events.push({ type: 'response-done', response, usage: this.#usage, failure: undefined });
    this.#usage = undefined;
  }
}

function content(turns: readonly object[], turnComplete: boolean): string {
  return JSON.stringify({ clientContent: { ...(turns.length === 0 ? {} : { turns }), turnComplete } });
}

function usageOf({
  promptTokenCount = 0,
  responseTokenCount = 0,
  cachedContentTokenCount: cached = 0,
  promptTokensDetails = [],
  responseTokensDetails = [],
}: NonNullable<ServerMessage['usageMetadata']>): Usage {
  const audio = (counts: NonNullable<typeof promptTokensDetails>): number =>
    counts.filter(({ modality }) => modality === 'AUDIO').reduce((sum, { tokenCount = 0 }) => sum + tokenCount, 0);
  const [heard, spoken] = [audio(promptTokensDetails), audio(responseTokensDetails)];
  return {
    'input-text-tokens': Math.max(0, promptTokenCount - heard - cached),
    'input-audio-tokens': heard,
    'cached-tokens': cached,
    'output-text-tokens': Math.max(0, responseTokenCount - spoken),
    'output-audio-tokens': spoken,
  };
}
