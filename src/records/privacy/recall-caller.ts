import { z } from 'zod';
import type { RecallCaller } from '../../dialog/caller-memory.ts';
import type { AnalysisRepository, CallRepository, CallSummary } from '../port.ts';

/** Calls of the person that are looked at. */
const LOOKED_AT = 20;
/** A withheld number is nobody's in particular. */
const NUMBER = /^\+\d{7,15}$/u;
const MOST_CHARACTERS = 1_000;

/** The part of an analysis with the summary of the call. */
const summarised = z.object({ insights: z.object({ summary: z.string().min(1) }) });

export interface RememberedCalls {
  readonly calls: Pick<CallRepository, 'search'>;
  readonly analyses: Pick<AnalysisRepository, 'list'>;
}

/**
 * Recalls a person from the calls in the store: the summary of each call's analysis, else its notes. Only calls in which they agreed count, and none
 * once they said no in a later one.
 * @param opened the store, opened at the first recall
 */
export function recallCaller(opened: () => Promise<RememberedCalls>): RecallCaller {
  return async ({ tenantId, botName, number, consent, calls: most }) => {
    if (!NUMBER.test(number)) return [];
    const { calls, analyses } = await opened();
    const page = await calls.search(tenantId, { number, botName, limit: LOOKED_AT });
    const asked = page.calls.filter(({ variables, endedAtMs }) => endedAtMs !== undefined && variables[consent] !== undefined);
    if (asked[0]?.variables[consent] !== 'yes') return [];
    const refusedAt = asked.findIndex(({ variables }) => variables[consent] !== 'yes');
    const agreed = asked.slice(0, refusedAt < 0 ? undefined : refusedAt).slice(0, most);
    const told = await Promise.all(agreed.map(async (call) => textOf(call, await summaryOf(analyses, tenantId, call.id))));
    return told.filter((text) => text !== '');
  };
}

async function summaryOf(analyses: RememberedCalls['analyses'], tenantId: string, callId: string): Promise<string | undefined> {
  const [latest] = await analyses.list(tenantId, callId);
  return summarised.safeParse(latest?.document).data?.insights.summary;
}

function textOf({ startedAtMs, notes }: CallSummary, summary: string | undefined): string {
  const text = (summary ?? notes.join('; ')).slice(0, MOST_CHARACTERS);
  return text === '' ? '' : `${new Date(startedAtMs).toISOString().slice(0, 10)}: ${text}`;
}
