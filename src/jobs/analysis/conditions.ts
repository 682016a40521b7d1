import type { FieldValue } from './field-value.ts';
import type { ExtractedField } from './fields.ts';
import type { RoleMeasures, TalkMeasures } from './measures.ts';
import type { Condition, MeasureName } from './profile-conditions.ts';
import { findSaid } from './said.ts';
import type { Evidence, Utterance } from './transcript.ts';

/** What a verdict rests on: words, a number of the sound, a field, or what the platform found. */
export type Ground =
  | ({ readonly kind: 'words' } & Evidence)
  | { readonly kind: 'measure'; readonly name: string; readonly of?: string | undefined; readonly value: number | null }
  | { readonly kind: 'field'; readonly name: string; readonly value: FieldValue | null }
  | { readonly kind: 'variable'; readonly name: string; readonly value: string | null }
  | { readonly kind: 'insight'; readonly name: 'intent' | 'sentiment'; readonly value: string | null };

export interface Verdict {
  readonly holds: boolean;
  readonly grounds: readonly Ground[];
}

/** Everything that conditions look at. */
export interface Findings {
  readonly utterances: readonly Utterance[];
  readonly measures: TalkMeasures;
  readonly fields: readonly ExtractedField[];
  /** What the bot's dialog set in the call. */
  readonly variables: Readonly<Record<string, string>>;
  readonly intent: string | undefined;
  readonly sentiment: string | undefined;
}

/** More places than this prove nothing more. */
const MOST_WORDS = 3;

/** Decides one condition of a profile. A number that does not exist meets no bound. */
export function judge(condition: Condition, findings: Findings): Verdict {
  const { said, measure, field, variable, intent, sentiment, all, any, not } = condition;
  if (said !== undefined) {
    const places = findSaid(findings.utterances, said, findings.measures.totalS);
    return { holds: places.length > 0, grounds: places.slice(0, MOST_WORDS).map((place) => ({ kind: 'words', ...place })) };
  }
  if (measure !== undefined) {
    const { name, of, least = -Infinity, most = Infinity } = measure;
    const value = measureNamed(findings.measures, name, of);
    const ground: Ground = { kind: 'measure', name, ...(of === undefined ? {} : { of }), value: value ?? null };
    return { holds: value !== undefined && value >= least && value <= most, grounds: [ground] };
  }
  if (field !== undefined) {
    const found = findings.fields.find(({ name }) => name === field.name);
    const holds = found !== undefined && (field.is === undefined || found.value === field.is);
    const words = (found?.evidence ?? []).map((place): Ground => ({ kind: 'words', ...place }));
    return { holds, grounds: [{ kind: 'field', name: field.name, value: found?.value ?? null }, ...words] };
  }
  if (variable !== undefined) {
    const value = Object.hasOwn(findings.variables, variable.name) ? findings.variables[variable.name] : undefined;
    const holds = value !== undefined && (variable.is === undefined || value === variable.is);
    return { holds, grounds: [{ kind: 'variable', name: variable.name, value: value ?? null }] };
  }
  if (intent !== undefined)
    return {
      holds: findings.intent === intent,
      grounds: [{ kind: 'insight', name: 'intent', value: findings.intent ?? null }],
    };
  if (sentiment !== undefined)
    return {
      holds: findings.sentiment === sentiment,
      grounds: [{ kind: 'insight', name: 'sentiment', value: findings.sentiment ?? null }],
    };
  if (all !== undefined) {
    const verdicts = all.map((each) => judge(each, findings));
    return { holds: verdicts.every(({ holds }) => holds), grounds: verdicts.flatMap(({ grounds }) => grounds) };
  }
  if (any !== undefined) {
    const verdicts = any.map((each) => judge(each, findings));
    const holding = verdicts.filter(({ holds }) => holds);
    return { holds: holding.length > 0, grounds: (holding.length > 0 ? holding : verdicts).flatMap(({ grounds }) => grounds) };
  }
  if (not !== undefined) {
    const verdict = judge(not, findings);
    return { ...verdict, holds: !verdict.holds };
  }
  throw new TypeError('a condition without a key');
}

/** A number of the whole recording, or of one role; undefined where there is none. */
export function measureNamed(measures: TalkMeasures, name: MeasureName, of?: string): number | undefined {
  const role = of === undefined ? undefined : measures.roles.find((each) => each.role === of);
  if (of !== undefined && role === undefined) return undefined;
  const most = (read: (each: RoleMeasures) => number | undefined): number | undefined => {
    const values = (role === undefined ? measures.roles : [role]).map(read).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : Math.max(...values);
  };
  switch (name) {
    case 'totalS':
    case 'overlapS':
    case 'silenceS':
    case 'longestSilenceS':
      return measures[name];
    case 'speechS':
      return role?.speechS ?? measures.speechS;
    case 'overlaps':
    case 'silences':
      return measures[name].length;
    case 'interruptions':
      return role?.interruptions ?? measures.interruptions.length;
    case 'talkRatio':
      return (role ?? measures.roles[0])?.talkRatio;
    case 'longestMonologueS':
      return most((each) => each.longestMonologueS);
    case 'replyGapP50S':
      return most((each) => each.replyGapP50S);
    case 'replyGapP95S':
      return most((each) => each.replyGapP95S);
  }
}
