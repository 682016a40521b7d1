import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { decisionSchema } from '../../../../src/rehearsal/replay/decision.ts';
import { type CallFixture, turnMeasureSchema } from '../../../../src/rehearsal/replay/fixture.ts';
import { readFixture } from '../../../../src/rehearsal/replay/fixture-file.ts';

export const keptCallsFolder = fileURLToPath(new URL('../../../fixtures/calls', import.meta.url));

const acceptedSchema = z.object({ decisions: z.array(decisionSchema), turns: z.array(turnMeasureSchema) });

/** Where what was accepted in place of a call's own decisions is written. */
export function acceptedPath(name: string): string {
  return `${keptCallsFolder}/${name}.accepted.json`;
}

/** The file's text: a line for each decision and turn, so that a difference shows what is decided otherwise. */
export function acceptedText({ decisions, turns }: Readonly<Record<'decisions' | 'turns', readonly object[]>>): string {
  const list = (rows: readonly object[]): string => rows.map((row) => `\n${JSON.stringify(row)}`).join(',');
  return `{"decisions":[${list(decisions)}\n],"turns":[${list(turns)}\n]}\n`;
}

/** A call that is kept beside the tests, with the decisions that were accepted since it was held. */
export async function keptCall(name: string): Promise<CallFixture> {
  const fixture = await readFixture(`${keptCallsFolder}/${name}.fixture.gz`, Date.now());
  const path = acceptedPath(name);
  if (!existsSync(path)) return fixture;
  return { ...fixture, ...acceptedSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) };
}
