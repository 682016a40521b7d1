import { transcriptionFieldsSchema } from '../asr/transcription-fields.ts';
import { type JsonSchema, schemaOf, withFields } from './json-schema.ts';

const text: JsonSchema = { type: 'string' };
const file: JsonSchema = { type: 'string', contentMediaType: 'application/octet-stream' };

/** A form's fields travel as text; a list is JSON in its field. */
function asField(schema: JsonSchema): JsonSchema {
  return schema['type'] === 'array' ? { type: 'string', contentMediaType: 'application/json', contentSchema: schema } : schema;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

/** What a parse of the parameter table's fields gives, which is what they mean. */
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
export function transcriptionForm(): JsonSchema {
  const fields = Object.entries(parameterFields()).map(([name, schema]) => [name, asField(schema)] as const);
  return {
    type: 'object',
    properties: { file, audio_base64: base64, url, ...common, ...Object.fromEntries(fields) },
    oneOf: [{ required: ['file'] }, { required: ['audio_base64'] }, { required: ['url'] }],
  };
}

/** The same as JSON, at Variant B. */
export function transcriptionJson(): JsonSchema {
  return {
    type: 'object',
    properties: { url, audio_base64: base64, ...common, ...parameterFields() },
    oneOf: [{ required: ['url'] }, { required: ['audio_base64'] }],
  };
}

/** A multipart body of these fields. */
export function formOf(
  fields: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): Readonly<Record<string, JsonSchema>> {
  return { 'multipart/form-data': withFields({ type: 'object' }, fields, { required }) };
}

export const formFields = { text, file };
