import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What a zod schema takes or gives, as JSON Schema in the one dialect that OpenAPI 3.1 and AsyncAPI 3.0 both read.
 * @param side `input` for what is parsed as it comes, `output` for what a parse makes of it
 */
export function schemaOf(schema: z.ZodType, side: 'input' | 'output' = 'input'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: side, unrepresentable: 'any' });
  return rest;
}

/** An object's schema with some of its fields described anew or added. */
export function withFields(
  schema: JsonSchema,
  fields: Readonly<Record<string, JsonSchema>>,
  more: JsonSchema = { required: [] },
): JsonSchema {
  const known = schema['properties'];
  return { ...schema, ...more, properties: { ...(typeof known === 'object' ? known : {}), ...fields } };
}
