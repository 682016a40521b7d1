import { transcriptionFieldsSchema } from '../asr/serve-transcription.ts';
import { type JsonSchema, schemaOf, withFields, type Operation, type Service } from './descriptions.ts';
import { speechFormats } from '../tts/encode-speech.ts';
import { maxTextCharacters, speechFieldsSchema, speechModel } from '../tts/speech-request.ts';
import * as answers from '../answers.ts';

const text: JsonSchema = { type: 'string' };
const file: JsonSchema = { type: 'string', contentMediaType: 'application/octet-stream' };
const bearerToken: JsonSchema = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
const healthCheck = {
  method: 'get',
  path: '/health',
  summary: 'Whether the service is up',
  open: true,
  answer: { 'application/json': answers.health },
  errors: [],
} as const satisfies Operation;
const uploadErrors = [400, 401, 413, 415, 429, 500, 503, 504] as const;

export function authService(): Service {
  return {
    title: 'Token service',
    description: 'Exchanges an API key for a short-lived access token.',
    credential: { type: 'apiKey', in: 'header', name: 'api-key' },
    error: answers.error,
    operations: [
      healthCheck,
      {
        method: 'post',
        path: '/api/auth/token',
        summary: 'Mint an access token',
        query: {
          expires_in: { type: 'integer', minimum: 1, default: 900, description: 'Seconds; more than 86400 are cut to that' },
        },
        answer: { 'application/json': answers.token },
        errors: [400, 403, 429, 500],
      },
      {
        method: 'get',
        path: '/.well-known/jwks.json',
        summary: 'The public key that tokens are signed with',
        open: true,
        answer: { 'application/json': answers.keySet },
        errors: [],
      },
    ],
  };
}

const registration: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/speakers/register',
    summary: 'Register the voice of a speaker',
    body: formOf({ name: text, file, project: text }, ['name', 'file']),
    answer: { 'application/json': answers.registered },
    errors: uploadErrors,
  },
  {
    method: 'delete',
    path: '/v1/speakers/delete',
    summary: 'Delete a speaker',
    body: formOf({ name: text, project: text }, ['name']),
    answer: { 'application/json': answers.deleted },
    errors: [400, 401, 404, 429, 500],
  },
];

export function asrService(): Service {
  return {
    title: 'Speech recognition',
    description: 'Batch transcription and speaker profiles. The realtime interface is described at /asyncapi.json.',
    credential: bearerToken,
    error: answers.error,
    operations: [
      healthCheck,
      {
        method: 'get',
        path: '/languages',
        summary: 'Languages, model aliases and features',
        open: true,
        answer: { 'application/json': answers.languageList },
        errors: [],
      },
      {
        method: 'post',
        path: '/v1/audio/transcriptions',
        summary: 'Transcribe a file',
        body: { 'multipart/form-data': transcriptionForm() },
        answer: { 'application/json': answers.transcription },
        errors: [...uploadErrors, 422],
      },
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
      {
        method: 'get',
        path: '/languages',
        summary: 'Languages, model aliases and features',
        answer: { 'application/json': answers.languageList },
        errors: [401],
      },
      {
        method: 'post',
        path: '/v1/audio/transcriptions',
        summary: 'Transcribe a file',
        body: { 'multipart/form-data': transcriptionForm(), 'application/json': transcriptionJson() },
        answer: { 'application/json': answers.altTranscription },
        errors: [...uploadErrors, 422],
      },
      ...registration,
      {
        method: 'get',
        path: '/v1/speakers/list',
        summary: 'List the speakers of a project',
        query: { project: text },
        answer: { 'application/json': answers.speakerList },
        errors: [401, 429, 500],
      },
      {
        method: 'post',
        path: '/v1/speakers/identify',
        summary: 'Tell whose voice it is; unknown when nobody is near enough',
        body: formOf({ file, project: text }, ['file']),
        answer: { 'application/json': answers.identified },
        errors: uploadErrors,
      },
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
      {
        method: 'post',
        path: '/transcribe',
        summary: 'Transcribe a file with medical terms put right',
        body: formOf({ file, language_code: { const: 'med-en' }, enable_diarization: { enum: ['true', 'false'] } }, ['file']),
        answer: { 'application/json': answers.medical },
        errors: uploadErrors,
      },
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
