import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A zod schema as JSON Schema, in the dialect of OpenAPI 3.1 and AsyncAPI 3.0.
 * @param side `input` for data before parsing, `output` for parsed data
 */
export function schemaOf(schema: z.ZodType, side: 'input' | 'output' = 'input'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: side, unrepresentable: 'any' });
  return rest;
}

/** An object's schema with some fields replaced or added. */
export function withFields(
  schema: JsonSchema,
  fields: Readonly<Record<string, JsonSchema>>,
  more: JsonSchema = { required: [] },
): JsonSchema {
  const known = schema['properties'];
  return { ...schema, ...more, properties: { ...(typeof known === 'object' ? known : {}), ...fields } };
}
