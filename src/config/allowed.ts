import { z } from 'zod';

/** The parts of a leaf's JSON Schema that describe what may be written. */
const leafSchema = z.object({
  type: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
});

function describeLeaf(schema: z.ZodType): z.infer<typeof leafSchema> {
  return leafSchema.parse(z.toJSONSchema(schema, { io: 'input' }));
}

/** What may be written for a setting, in words: `a whole number, 0 to 65535`, `one of plain, hosted-like`. */
export function allowedText(schema: z.ZodType, unit?: string): string {
  const leaf = describeLeaf(schema);
  const suffix = unit === undefined ? '' : ` (${unit})`;
  if (leaf.enum !== undefined) return `one of ${leaf.enum.join(', ')}`;
  if (leaf.type === 'boolean') return 'true or false';
  if (leaf.type === 'integer' || leaf.type === 'number') {
    return `a ${leaf.type === 'integer' ? 'whole ' : ''}number, ${leaf.minimum ?? '…'} to ${leaf.maximum ?? '…'}${suffix}`;
  }
  if (leaf.format === 'uri') return 'an http or https address';
  return leaf.pattern === undefined ? 'a text that is not empty' : `a text of the form ${leaf.pattern}`;
}

/** Turns the text of an environment variable into what the schema expects; text that does not fit is left as it is. */
export function coerceText(schema: z.ZodType, text: string): unknown {
  const { type } = describeLeaf(schema);
  const trimmed = text.trim();
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : text;
  if (type !== 'boolean') return trimmed;
  if (/^(true|1|yes|on)$/i.test(trimmed)) return true;
  return /^(false|0|no|off)$/i.test(trimmed) ? false : text;
}

/** The default of a leaf; undefined without one. */
export function defaultOf(schema: z.ZodType): unknown {
  const parsed = schema.safeParse(undefined);
  return parsed.success ? parsed.data : undefined;
}
