import type { z } from 'zod';
import { transcriptionFieldsSchema } from '../asr/transcription-fields.ts';
import { type JsonSchema, schemaOf, withFields, type Operation, type Service } from './descriptions.ts';
import { speechFormats } from '../tts/encode-speech.ts';
import { maxTextCharacters, speechFieldsSchema, speechModel } from '../tts/speech-request.ts';
import * as answers from '../answers.ts';

const text: JsonSchema = { type: 'string' };
const file: JsonSchema = { type: 'string', contentMediaType: 'application/octet-stream' };
const bearerToken: JsonSchema = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
/** A request that is answered with JSON, with a credential unless `more` opens it. */
function operation(
  method: Operation['method'],
  path: string,
  summary: string,
  answer: z.ZodType,
  more: Pick<Operation, 'errors'> & Partial<Operation>,
): Operation {
  return { method, path, summary, answer: { 'application/json': answer }, ...more };
}

const open = { open: true, errors: [] } as const;
const healthCheck = operation('get', '/health', 'Whether the service is up', answers.health, open);
const uploadErrors = [400, 401, 413, 415, 429, 500, 503, 504] as const;

export function authService(): Service {
  return {
    title: 'Token service',
    description: 'Exchanges an API key for a short-lived access token.',
    credential: { type: 'apiKey', in: 'header', name: 'api-key' },
    error: answers.error,
    operations: [
      healthCheck,
      operation('post', '/api/auth/token', 'Mint an access token', answers.token, {
        query: {
          expires_in: { type: 'integer', minimum: 1, default: 900, description: 'Seconds; more than 86400 are cut to that' },
        },
        errors: [400, 403, 429, 500],
      }),
      operation('get', '/.well-known/jwks.json', 'The public key that tokens are signed with', answers.keySet, open),
    ],
  };
}

const registration: readonly Operation[] = [
  operation('post', '/v1/speakers/register', 'Register the voice of a speaker', answers.registered, {
    body: formOf({ name: text, file, project: text }, ['name', 'file']),
    errors: uploadErrors,
  }),
  operation('delete', '/v1/speakers/delete', 'Delete a speaker', answers.deleted, {
    body: formOf({ name: text, project: text }, ['name']),
    errors: [400, 401, 404, 429, 500],
  }),
];

export function asrService(): Service {
  return {
    title: 'Speech recognition',
    description: 'Batch transcription and speaker profiles. The realtime interface is described at /asyncapi.json.',
    credential: bearerToken,
    error: answers.error,
    operations: [
      healthCheck,
      operation('get', '/languages', 'Languages, model aliases and features', answers.languageList, open),
      operation('post', '/v1/audio/transcriptions', 'Transcribe a file', answers.transcription, {
        body: { 'multipart/form-data': transcriptionForm() },
        errors: [...uploadErrors, 422],
      }),
      ...registration,
    ],
  };
}

export function altService(): Service {
  return {
    title: 'Speech recognition, Variant B',
    description: 'The same at the alternate address, with an API key. The realtime interface is described at /asyncapi.json.',
    credential: { type: 'http', scheme: 'bearer', description: 'An API key, not a token' },
    error: answers.altError,
    operations: [
      healthCheck,
      operation('get', '/languages', 'Languages, model aliases and features', answers.languageList, { errors: [401] }),
      operation('post', '/v1/audio/transcriptions', 'Transcribe a file', answers.altTranscription, {
        body: { 'multipart/form-data': transcriptionForm(), 'application/json': transcriptionJson() },
        errors: [...uploadErrors, 422],
      }),
      ...registration,
      operation('get', '/v1/speakers/list', 'List the speakers of a project', answers.speakerList, {
        query: { project: text },
        errors: [401, 429, 500],
      }),
      operation(
        'post',
        '/v1/speakers/identify',
        'Tell whose voice it is; unknown when nobody is near enough',
        answers.identified,
        { body: formOf({ file, project: text }, ['file']), errors: uploadErrors },
      ),
    ],
  };
}

export function medService(): Service {
  return {
    title: 'Medical batch transcription',
    description: 'One file at a time, up to 30 MiB.',
    credential: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    error: answers.error,
    operations: [
      healthCheck,
      operation('post', '/transcribe', 'Transcribe a file with medical terms put right', answers.medical, {
        body: formOf({ file, language_code: { const: 'med-en' }, enable_diarization: { enum: ['true', 'false'] } }, ['file']),
        errors: uploadErrors,
      }),
    ],
  };
}

/** A synthesis request of the batch and streaming interfaces, with its aliases. */
export function speechSchema(defaultFormat: string): JsonSchema {
  const spoken: JsonSchema = { ...text, minLength: 1, maxLength: maxTextCharacters };
  const fields = withFields(schemaOf(speechFieldsSchema), {
    model: { const: speechModel },
    input: spoken,
    target_text: { ...spoken, description: 'Alias of input' },
    speaker_id: { ...text, description: 'Alias of voice' },
    response_format: { enum: [...Object.keys(speechFormats), null], default: defaultFormat },
  });
  return {
    ...fields,
    required: ['model'],
    allOf: [
      { anyOf: [{ required: ['input'] }, { required: ['target_text'] }] },
      { anyOf: [{ required: ['voice'] }, { required: ['speaker_id'] }] },
    ],
  };
}

export function ttsService(): Service {
  const audio = Object.values(speechFormats).map(({ mimeType }) => [mimeType, undefined] as const);
  return {
    title: 'Text to speech',
    description: 'Batch synthesis. The streaming interface is described at /asyncapi.json.',
    credential: bearerToken,
    error: answers.error,
    operations: [
      {
        ...healthCheck,
        summary: 'Whether the service is up, and its voices',
        answer: { 'application/json': answers.speechHealth },
      },
      ...['/v1/audio/speech', '/tts', '/'].map((path): Operation => ({
        method: 'post',
        path,
        summary: 'Speak a text',
        body: { 'application/json': speechSchema('mp3') },
        answer: Object.fromEntries(audio),
        headers: {
          'X-Sample-Rate': 'Samples a second of the audio',
          'X-Warnings': 'A JSON array: options without the effect that was asked for; absent where there are none',
        },
        errors: [400, 401, 403, 413, 422, 429, 500, 503, 504],
      })),
    ],
  };
}

/** Form fields are text; a list is JSON in its field. */
function asField(schema: JsonSchema): JsonSchema {
  return schema['type'] === 'array' ? { type: 'string', contentMediaType: 'application/json', contentSchema: schema } : schema;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

/** The fields of the parameter table, with their parsed types. */
function parameterFields(): Readonly<Record<string, JsonSchema>> {
  const properties = schemaOf(transcriptionFieldsSchema, 'output')['properties'];
  const fields = isSchema(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(fields.flatMap(([name, schema]) => (isSchema(schema) ? [[name, schema] as const] : [])));
}

const common: Readonly<Record<string, JsonSchema>> = {
  model: { ...text, description: 'Accepted for compatibility; it selects nothing' },
  language_code: { ...text, default: 'auto', description: 'ISO code or English name, or auto' },
  language: { ...text, description: 'Alias of language_code' },
};
const base64: JsonSchema = { type: 'string', contentEncoding: 'base64' };
const url: JsonSchema = { type: 'string', format: 'uri' };

/** POST /v1/audio/transcriptions as a form (ASR doc, parameters). */
function transcriptionForm(): JsonSchema {
  const fields = Object.entries(parameterFields()).map(([name, schema]) => [name, asField(schema)] as const);
  return {
    type: 'object',
    properties: { file, audio_base64: base64, url, ...common, ...Object.fromEntries(fields) },
    oneOf: [{ required: ['file'] }, { required: ['audio_base64'] }, { required: ['url'] }],
  };
}

/** The same as JSON, at Variant B. */
function transcriptionJson(): JsonSchema {
  return {
    type: 'object',
    properties: { url, audio_base64: base64, ...common, ...parameterFields() },
    oneOf: [{ required: ['url'] }, { required: ['audio_base64'] }],
  };
}

/** A multipart body of these fields. */
function formOf(fields: Readonly<Record<string, JsonSchema>>, required: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return { 'multipart/form-data': withFields({ type: 'object' }, fields, { required }) };
}
