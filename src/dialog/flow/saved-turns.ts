import { z } from 'zod';
import { actionSchema } from '../action-schema.ts';
import type { AudibleAction, DialogAction } from '../port.ts';
import type { FlowState, PartialAnswer } from './flow-state.ts';
import type { RequestOutcome } from './request.ts';
import type { Flow } from './schema.ts';

/** A saved turn of a flow's conversation. `outcome` is absent without an answer so far. */
export interface SavedTurn {
  readonly index: number;
  readonly state: FlowState;
  readonly sent?: { readonly idempotencyKey: string; readonly outcome?: RequestOutcome | undefined } | undefined;
}

const texts = z.record(z.string(), z.string());
const action = z.custom<DialogAction>((value) => actionSchema.safeParse(value).success);
const audible = z.custom<AudibleAction>((value) => {
  const type = actionSchema.safeParse(value).data?.type;
  return type === 'say' || type === 'play';
});
const partial = z.custom<PartialAnswer>(
  (value) =>
    z.object({ input: z.looseObject({ kind: z.enum(['spoken', 'keyed']) }), reply: z.string() }).safeParse(value).success,
);

const flowState: z.ZodType<FlowState> = z.object({
  language: z.enum(['en', 'hi']),
  stage: z.enum(['new', 'question', 'which', 'requesting', 'message', 'ended']),
  at: z.string(),
  entered: z.array(z.string()).optional(),
  slots: texts,
  misses: z.int(),
  noInputs: z.int(),
  corrections: z.int(),
  said: z.array(audible),
  partial: partial.optional(),
  ending: z.array(action),
});

const outcome = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), values: texts }),
  z.object({ ok: z.literal(false), failure: z.string(), why: z.string() }),
]);

const savedTurn = z.object({
  index: z.int(),
  state: flowState,
  sent: z.object({ idempotencyKey: z.string(), outcome: outcome.optional() }).optional(),
});

/** Saved turns of a flow's conversation; empty for another version of the flow, as its states differ. */
export function savedTurns(flow: Flow, saved: unknown): readonly SavedTurn[] {
  const turns = z.array(savedTurn).safeParse(saved).data ?? [];
  const fits = turns.every(({ state: { at, stage } }) => stage === 'new' || Object.hasOwn(flow.states, at));
  return fits ? turns : [];
}
