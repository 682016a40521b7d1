import { z } from 'zod';
import { carriers } from '../src/carriers/registry.ts';
import { ANSWERED_BY } from '../src/config/answered-by.ts';
import { botSettings } from '../src/config/bots.ts';
import { settingsSchema } from '../src/config/schema.ts';
import { actionSchema } from '../src/dialog/action-schema.ts';
import { TRANSFER_OUTCOMES } from '../src/dialog/port.ts';
import { answerContract } from '../src/language/index.ts';
import { flowDocument } from '../src/dialog/flow/schema.ts';
import { suiteDocument } from '../src/rehearsal/evals/suite-schema.ts';
import { vendors } from '../src/speech/vendors/registry.ts';
import { analysisProfile } from '../src/records/analysis/profile.ts';

type Options = NonNullable<Parameters<typeof z.toJSONSchema>[1]>;

function schemaOf(title: string, schema: z.ZodType, options: Options = {}): object {
  return {
    title,
    ...z.toJSONSchema(schema, { target: 'draft-7', io: 'input', unrepresentable: 'any', reused: 'ref', ...options }),
  };
}

const call = z.object({
  callId: z.string(),
  botName: z.string(),
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  language: z.string(),
  answeredBy: z.enum(ANSWERED_BY).optional(),
});
/** An answer as the contract that was asked for reads it: `AnswerReading`. */
const answer = z.looseObject({ status: z.enum(['complete', 'incomplete', 'impossible', 'ambiguous']) });
const hookRequest = z.object({
  version: z.literal(1),
  call,
  index: z.int().min(0),
  input: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('start'), heard: z.string().optional() }),
    z.object({
      kind: z.literal('spoken'),
      text: z.string(),
      language: z.string().optional(),
      keys: z.string().optional(),
      answer: answer.optional(),
    }),
    z.object({ kind: z.literal('keyed'), digits: z.string(), answer: answer.optional() }),
    z.object({ kind: z.literal('no-input'), attempt: z.int().min(1) }),
    z.object({
      kind: z.literal('transfer'),
      outcome: z.enum(TRANSFER_OUTCOMES),
      to: z.string(),
      cause: z.string().optional(),
    }),
  ]),
  history: z.array(z.object({ role: z.enum(['caller', 'bot']), text: z.string() })),
  variables: z.record(z.string(), z.string()),
  early: z.boolean().optional(),
  advice: z.array(z.string()).optional(),
  again: z.boolean().optional(),
  transfer: z
    .object({ to: z.string(), state: z.enum(['queued', 'dialling', 'ringing', 'briefing']), place: z.int().min(1).optional() })
    .optional(),
});
const action = z.union([z.string(), actionSchema]);
const hookAnswer = z.union([action, z.array(action), z.object({ actions: z.array(action) })]);

/** A bot's file, with the flow that may stand in it. */
const [flowSettings, ...otherKinds] = botSettings.shape.dialog.options;
const flowKind = flowSettings.extend({ flow: flowDocument.optional() });
const botDocument = botSettings.safeExtend({ dialog: z.discriminatedUnion('kind', [flowKind, ...otherKinds]) });

/** The settings, and those of each carrier under its name. */
const allSettings = settingsSchema.extend(
  Object.fromEntries([...carriers, ...vendors].map(({ name, settings }) => [name, settings])),
);

/**
 * The JSON Schemas that the package exports as `offhook/schemas/NAME.json`, for editors and for servers behind a bot. A test
 * holds the files in `config/schemas/` to this; `npx vitest run test/unit/json-schemas.test.ts -u` writes them.
 */
export const jsonSchemas: Readonly<Record<string, object>> = {
  bot: schemaOf('A bot of Offhook', botDocument),
  flow: schemaOf('A flow of Offhook', flowDocument),
  // Every setting may be left out, and an unknown one is refused.
  settings: schemaOf('Settings of Offhook', allSettings, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.type !== 'object' || jsonSchema.properties === undefined) return;
      delete jsonSchema.required;
      jsonSchema.additionalProperties = false;
    },
  }),
  'analysis-profile': schemaOf('An analysis profile of Offhook', analysisProfile),
  evals: schemaOf('A suite of evals of Offhook: simulated callers, and what must be true of their calls', suiteDocument),
  'hook-request': schemaOf('What a bot server is sent: one POST a turn', hookRequest),
  'hook-answer': schemaOf('What a bot server answers with as application/json', hookAnswer),
  'answer-contract': schemaOf('The kind of value that a gather asks for', answerContract),
};
