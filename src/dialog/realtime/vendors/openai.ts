import type { ConversationItem, RealtimeClientEvent, RealtimeSessionCreateRequest } from 'openai/resources/realtime/realtime';
import { z } from 'zod';
import { ALAW_8K, type AudioFormat, MULAW_8K } from '../../../audio/format.ts';
import { parseJson } from '../../../kernel/json.ts';
import type {
  FunctionResult,
  RealtimeVendor,
  SessionSetup,
  Speaker,
  Usage,
  VendorDialect,
  VendorEvent,
  VendorFailure,
} from '../vendor.ts';

/** "Only a 24kHz sample rate is supported" (openai-node 6.49, RealtimeAudioFormats.AudioPCM). */
const PCM_24K: AudioFormat = { encoding: 'pcm16', rateHz: 24_000 };
const LINE_RATE_HZ = 8_000;
/** A session lasts 60 minutes at most (developers.openai.com, "Realtime conversations"). */
const SESSION_MS = 60 * 60_000;
/** Tokens of one answer that may be asked for (RealtimeResponseCreateParams, max_output_tokens). */
const MOST_OUTPUT_TOKENS = 4_096;

/** A line of 8 kHz stays G.711, as `audio/pcmu` or `audio/pcma`; another is PCM at 24 kHz. */
function formatsOf({ rateHz, speech }: { readonly rateHz: number; readonly speech: AudioFormat }) {
  const g711 = speech.encoding === 'alaw' ? ALAW_8K : MULAW_8K;
  return {
    heard: rateHz === LINE_RATE_HZ ? g711 : PCM_24K,
    spoken: speech.rateHz === LINE_RATE_HZ ? g711 : PCM_24K,
  };
}

const shared = {
  sessionMs: SESSION_MS,
  audioInterrupts: false,
  formats: formatsOf,
  connect: (setup: SessionSetup): VendorDialect => new OpenAiDialect(setup),
};

/**
 * OpenAI, and servers that speak its protocol (GA) at an address of their own.
 * @see https://developers.openai.com/api/docs/guides/realtime-websocket
 */
export const openai: RealtimeVendor = {
  ...shared,
  name: 'openai',
  title: 'OpenAI Realtime',
  defaultModel: 'gpt-realtime',
  url: ({ url = 'wss://api.openai.com/v1/realtime', model }) => withModel(url, model),
  headers: (key) => ({ authorization: `Bearer ${key}` }),
};

/**
 * Azure's address of the same protocol: `wss://RESOURCE.openai.azure.com/openai/v1/realtime`; the model is the deployment's name.
 * @see https://learn.microsoft.com/azure/foundry/openai/how-to/realtime-audio-websockets
 */
export const azure: RealtimeVendor = {
  ...shared,
  name: 'azure',
  title: 'Azure OpenAI Realtime',
  defaultModel: 'gpt-realtime',
  url: ({ url = '', model }) => withModel(url, model),
  headers: (key) => ({ 'api-key': key }),
};

function withModel(url: string, model: string): string {
  const address = new URL(url);
  if (!address.searchParams.has('model')) address.searchParams.set('model', model);
  return address.toString();
}

const words = z.string().nullish().catch(undefined);
const count = z.number().nonnegative().nullish().catch(undefined);
const tokens = z.looseObject({ text_tokens: count, audio_tokens: count }).optional().catch(undefined);
const wireError = z.looseObject({ type: words, code: words, message: words }).nullish().catch(undefined);
const wireEvent = z.looseObject({
  type: z.string(),
  response_id: words,
  item_id: words,
  delta: words,
  error: wireError,
  item: z.looseObject({ type: words, call_id: words, name: words, arguments: words }).optional().catch(undefined),
  response: z
    .looseObject({
      id: words,
      status: words,
      status_details: z.looseObject({ reason: words, error: wireError }).nullish().catch(undefined),
      usage: z
        .looseObject({
          input_token_details: z
            .looseObject({ text_tokens: count, audio_tokens: count, cached_tokens: count, cached_tokens_details: tokens })
            .optional()
            .catch(undefined),
          output_token_details: tokens,
        })
        .nullish()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
});

type WireEvent = z.output<typeof wireEvent>;

/** Errors that leave the session as it is: a race of ours with the server, or an empty buffer. */
const HARMLESS = /cancel_not_active|already_has_active_response|commit_empty|truncat|item_not_found|item_delete/u;

class OpenAiDialect implements VendorDialect {
  readonly #setup: SessionSetup;
  #isReady = false;

  constructor(setup: SessionSetup) {
    this.#setup = setup;
  }

  opening(): readonly string[] {
    const { voice, instructions, functions, maxTokens, reasoningEffort, turns, heard, spoken } = this.#setup;
    const session = {
      type: 'realtime',
      output_modalities: ['audio'],
      instructions,
      audio: {
        input: {
          format: wireFormat(heard),
          // The call asks for answers itself, whoever finds the end of a turn.
          turn_detection:
            turns === 'offhook' ? null : { type: 'semantic_vad', create_response: false, interrupt_response: false },
        },
        output: { format: wireFormat(spoken), ...(voice === undefined ? {} : { voice }) },
      },
      tools: functions.map((each) => ({ type: 'function' as const, ...each })),
      tool_choice: 'auto',
      max_output_tokens: Math.min(maxTokens, MOST_OUTPUT_TOKENS),
      ...(reasoningEffort === undefined ? {} : { reasoning: { effort: reasoningEffort as 'low' } }),
    } satisfies RealtimeSessionCreateRequest;
    return [frame({ type: 'session.update', session })];
  }

  audio(audio: Uint8Array): readonly string[] {
    const base64 = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64');
    return [`{"type":"input_audio_buffer.append","audio":"${base64}"}`];
  }

  commit(): readonly string[] {
    return [frame({ type: 'input_audio_buffer.commit' })];
  }

  drop(): readonly string[] {
    return [frame({ type: 'input_audio_buffer.clear' })];
  }

  text(speaker: Speaker, text: string): readonly string[] {
    return [frame({ type: 'conversation.item.create', item: message(speaker, text) })];
  }

  results(results: readonly FunctionResult[]): readonly string[] {
    return results.map(({ id, output }) =>
      frame({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: id, output } }),
    );
  }

  respond(): readonly string[] {
    return [frame({ type: 'response.create' })];
  }

  cancel(response: string): readonly string[] {
    return [frame({ type: 'response.cancel', ...(response === '' ? {} : { response_id: response }) })];
  }

  heard(item: string, { ms }: { readonly ms: number }): readonly string[] {
    if (ms === 0) return [frame({ type: 'conversation.item.delete', item_id: item })];
    return [frame({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: Math.floor(ms) })];
  }

  read(text: string): readonly VendorEvent[] {
    const parsed = wireEvent.safeParse(parseJson(text));
    if (!parsed.success) return [{ type: 'ignored', why: 'a message that is not of the protocol' }];
    const event = parsed.data;
    const response = event.response_id ?? event.response?.id ?? '';
    const item = event.item_id ?? '';
    switch (event.type) {
      case 'session.updated':
        this.#isReady = true;
        return [{ type: 'ready' }];
      case 'response.created':
        return [{ type: 'response', response }];
      // The second names are of the protocol before GA, which other servers speak.
      case 'response.output_audio.delta':
      case 'response.audio.delta':
        return [{ type: 'audio', response, item, audio: Buffer.from(event.delta ?? '', 'base64') }];
      case 'response.output_audio_transcript.delta':
      case 'response.audio_transcript.delta':
        return [{ type: 'words', response, item, text: event.delta ?? '' }];
      case 'response.output_audio.done':
      case 'response.audio.done':
        return [{ type: 'speech-done', response, item }];
      case 'response.output_item.done':
        return functionCall(event, response);
      case 'response.done':
        return [{ type: 'response-done', response, usage: usageOf(event), failure: failureOf(event) }];
      case 'input_audio_buffer.committed':
        return [{ type: 'turn-over' }];
      case 'error':
        return [this.#error(event)];
      default:
        return [{ type: 'ignored', why: undefined }];
    }
  }

  #error({ error }: WireEvent): VendorEvent {
    const code = `${error?.code ?? ''} ${error?.type ?? ''}`;
    const message = error?.message ?? 'an error without a reason';
    if (/session_expired/u.test(code)) return { type: 'leaving', inMs: 0 };
    const kind = kindOf(code);
    // "Most errors are recoverable and the session will stay open" (RealtimeErrorEvent).
    if (HARMLESS.test(code) || (this.#isReady && (kind === 'request' || kind === undefined)))
      return { type: 'ignored', why: message };
    return { type: 'failed', kind: kind ?? 'unavailable', message };
  }
}

function frame(event: RealtimeClientEvent): string {
  return JSON.stringify(event);
}

function wireFormat({ encoding }: AudioFormat) {
  if (encoding === 'pcm16') return { type: 'audio/pcm', rate: 24_000 } as const;
  return { type: encoding === 'mulaw' ? 'audio/pcmu' : 'audio/pcma' } as const;
}

function message(speaker: Speaker, text: string): ConversationItem {
  if (speaker === 'bot') return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
  return { type: 'message', role: speaker === 'caller' ? 'user' : 'system', content: [{ type: 'input_text', text }] };
}

function functionCall({ item }: WireEvent, response: string): readonly VendorEvent[] {
  if (item?.type !== 'function_call') return [];
  return [{ type: 'call', response, id: item.call_id ?? '', name: item.name ?? '', args: item.arguments ?? '' }];
}

function usageOf({ response }: WireEvent): Usage | undefined {
  const usage = response?.usage;
  if (usage === undefined || usage === null) return undefined;
  const { input_token_details: input, output_token_details: output } = usage;
  const cached = input?.cached_tokens ?? 0;
  const cachedAudio = input?.cached_tokens_details?.audio_tokens ?? 0;
  const cachedText = input?.cached_tokens_details?.text_tokens ?? cached - cachedAudio;
  return {
    'input-text-tokens': Math.max(0, (input?.text_tokens ?? 0) - cachedText),
    'input-audio-tokens': Math.max(0, (input?.audio_tokens ?? 0) - cachedAudio),
    'cached-tokens': cached,
    'output-text-tokens': output?.text_tokens ?? 0,
    'output-audio-tokens': output?.audio_tokens ?? 0,
  };
}

function failureOf({ response }: WireEvent): { kind: VendorFailure; message: string } | undefined {
  if (response?.status !== 'failed') return undefined;
  const error = response.status_details?.error;
  const code = `${error?.code ?? ''} ${error?.type ?? ''}`;
  return { kind: kindOf(code) ?? 'unavailable', message: error?.message ?? error?.code ?? 'the answer failed without a reason' };
}

/** What a code or type of an error means; undefined for one that says nothing of it. */
function kindOf(code: string): VendorFailure | undefined {
  if (/invalid_api_key|authentication|permission|insufficient_quota/u.test(code)) return 'auth';
  if (/rate_limit/u.test(code)) return 'rate-limit';
  if (/server_error|overloaded|internal_error|unavailable/u.test(code)) return 'unavailable';
  return /invalid_|not_found|unsupported/u.test(code) ? 'request' : undefined;
}
