import { tokenise } from '../../language/index.ts';
import { phraseSpans, spannedTokens, spannedWords, type Evidence, evidenceIn, type Utterance } from './transcript.ts';
import type { FieldValue } from './field-value.ts';
import type { ExtractedField } from './fields.ts';
import { type RoleMeasures, type TalkMeasures, UNKNOWN_ROLE } from './measures.ts';
import type { Condition, MeasureName } from './profile-conditions.ts';

/** What a verdict rests on: words, a measure, a field, or an insight of the platform. */
export type Ground =
  | ({ readonly kind: 'words' } & Evidence)
  | { readonly kind: 'measure'; readonly name: string; readonly of?: string | undefined; readonly value: number | null }
  | { readonly kind: 'field'; readonly name: string; readonly value: FieldValue | null }
  | { readonly kind: 'variable'; readonly name: string; readonly value: string | null }
  | { readonly kind: 'insight'; readonly name: 'intent' | 'sentiment'; readonly value: string | null };

export interface Verdict {
  /** Undefined where unknown; `reason` says why. */
  readonly holds: boolean | undefined;
  readonly grounds: readonly Ground[];
  readonly reason?: string | undefined;
}

/** Everything that conditions look at. */
export interface Findings {
  /** From channels that were understood. */
  readonly utterances: readonly Utterance[];
  /** Why the words of a role, or of all, are unknown; undefined where they are known. */
  readonly wordsUnknown: (role: string | undefined) => string | undefined;
  /** Why intent and sentiment are unknown; undefined where there was enough speech. */
  readonly insightsUnknown: string | undefined;
  /** Why there are no measures; undefined where there are. */
  readonly unmeasured: string | undefined;
  readonly measures: TalkMeasures;
  readonly fields: readonly ExtractedField[];
  /** The role whose words a field is searched in; all roles when undefined. */
  readonly fieldBy: (name: string) => string | undefined;
  /** Variables set by the bot's dialog. */
  readonly variables: Readonly<Record<string, string>>;
  readonly intent: string | undefined;
  readonly sentiment: string | undefined;
}

/** Most places quoted as evidence. */
const MOST_WORDS = 3;

/** Decides one condition of a profile, with three values as in SQL: unknown is neither true nor false. */
export function judge(condition: Condition, findings: Findings): Verdict {
  const { said, measure, field, variable, intent, sentiment, all, any, not } = condition;
  if (said !== undefined) {
    const places = findSaid(findings.utterances, said, findings.measures.totalS);
    if (places.length === 0) return unlessUnknown(findings.wordsUnknown(said.by), { holds: false, grounds: [] });
    return { holds: true, grounds: places.slice(0, MOST_WORDS).map((place) => ({ kind: 'words', ...place })) };
  }
  if (measure !== undefined) {
    const { name, of, least = -Infinity, most = Infinity } = measure;
    const value = findings.unmeasured === undefined ? measureNamed(findings.measures, name, of) : undefined;
    const ground: Ground = { kind: 'measure', name, ...(of === undefined ? {} : { of }), value: value ?? null };
    const reason =
      findings.unmeasured ?? (value === undefined ? `there is no ${name}${of === undefined ? '' : ` of ${of}`}` : undefined);
    return unlessUnknown(reason, { holds: value !== undefined && value >= least && value <= most, grounds: [ground] });
  }
  if (field !== undefined) {
    const found = findings.fields.find(({ name }) => name === field.name);
    const holds = found !== undefined && (field.is === undefined || found.value === field.is);
    const words = (found?.evidence ?? []).map((place): Ground => ({ kind: 'words', ...place }));
    const grounds: Ground[] = [{ kind: 'field', name: field.name, value: found?.value ?? null }, ...words];
    return unlessUnknown(found === undefined ? findings.wordsUnknown(findings.fieldBy(field.name)) : undefined, {
      holds,
      grounds,
    });
  }
  if (variable !== undefined) {
    const value = Object.hasOwn(findings.variables, variable.name) ? findings.variables[variable.name] : undefined;
    const holds = value !== undefined && (variable.is === undefined || value === variable.is);
    return { holds, grounds: [{ kind: 'variable', name: variable.name, value: value ?? null }] };
  }
  if (intent !== undefined)
    return unlessUnknown(findings.insightsUnknown, {
      holds: findings.intent === intent,
      grounds: [{ kind: 'insight', name: 'intent', value: findings.intent ?? null }],
    });
  if (sentiment !== undefined)
    return unlessUnknown(findings.insightsUnknown, {
      holds: findings.sentiment === sentiment,
      grounds: [{ kind: 'insight', name: 'sentiment', value: findings.sentiment ?? null }],
    });
  if (all !== undefined) {
    const verdicts = all.map((each) => judge(each, findings));
    const open = verdicts.find(({ holds }) => holds === undefined);
    const grounds = verdicts.flatMap((verdict) => verdict.grounds);
    if (verdicts.some(({ holds }) => holds === false)) return { holds: false, grounds };
    return unlessUnknown(open?.reason, { holds: true, grounds });
  }
  if (any !== undefined) {
    const verdicts = any.map((each) => judge(each, findings));
    const holding = verdicts.filter(({ holds }) => holds === true);
    if (holding.length > 0) return { holds: true, grounds: holding.flatMap(({ grounds }) => grounds) };
    const open = verdicts.find(({ holds }) => holds === undefined);
    return unlessUnknown(open?.reason, { holds: false, grounds: verdicts.flatMap(({ grounds }) => grounds) });
  }
  if (not !== undefined) {
    const verdict = judge(not, findings);
    return verdict.holds === undefined ? verdict : { ...verdict, holds: !verdict.holds };
  }
  throw new TypeError('a condition without a key');
}

function unlessUnknown(reason: string | undefined, verdict: Verdict): Verdict {
  return reason === undefined ? verdict : { ...verdict, holds: undefined, reason };
}

/** A measure of the whole recording, or of one role; undefined where there is none. */
export function measureNamed(measures: TalkMeasures, name: MeasureName, of?: string): number | undefined {
  const known = measures.roles.filter((each) => each.role !== UNKNOWN_ROLE);
  const role = of === undefined ? undefined : known.find((each) => each.role === of);
  if (of !== undefined && role === undefined) return undefined;
  const most = (read: (each: RoleMeasures) => number | undefined): number | undefined => {
    const values = (role === undefined ? known : [role]).map(read).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : Math.max(...values);
  };
  switch (name) {
    case 'totalS':
    case 'silenceS':
    case 'longestSilenceS':
      return measures[name];
    case 'speechS':
      return role?.speechS ?? measures.speechS;
    case 'silences':
      return measures.silences.length;
    // Without separated speakers, interruptions are unknown.
    case 'overlapS':
      return known.length < 2 ? undefined : measures.overlapS;
    case 'overlaps':
      return known.length < 2 ? undefined : measures.overlaps.length;
    case 'interruptions':
      return known.length < 2 ? undefined : (role?.interruptions ?? measures.interruptions.length);
    case 'talkRatio':
      return known.length < 2 ? undefined : (role ?? known[0])?.talkRatio;
    case 'longestMonologueS':
      return most((each) => each.longestMonologueS);
    case 'replyGapP50S':
      return most((each) => each.replyGapP50S);
    case 'replyGapP95S':
      return most((each) => each.replyGapP95S);
  }
}

interface SaidWhere {
  readonly phrases: readonly string[];
  readonly by?: string | undefined;
  /** Restricts to this much of the beginning, or the end, in seconds. */
  readonly withinS?: number | undefined;
  readonly lastS?: number | undefined;
}

/**
 * Where any of the phrases was said, in order of time. Whole words are compared the way bots do: without case, punctuation, articles and noises. A
 * phrase does not cross segments. A phrase of such noises alone, as "please", is looked for as it is written.
 */
function findSaid(utterances: readonly Utterance[], where: SaidWhere, totalS: number): Evidence[] {
  const [phrases, noises]: [string[][], string[][]] = [[], []];
  for (const phrase of where.phrases) {
    const tokens = tokenise(phrase);
    if (tokens.length > 0) phrases.push(tokens);
    else noises.push(spannedWords(phrase).map(({ word }) => word));
  }
  return utterances
    .filter((each) => isInside(each, where, totalS))
    .flatMap((utterance) => {
      const tokens = spannedTokens(utterance.text);
      const words = noises.length === 0 ? [] : spannedWords(utterance.text);
      return [
        ...phrases.flatMap((phrase) => phraseSpans(tokens, phrase)),
        ...noises.flatMap((noise) => phraseSpans(words, noise)),
      ]
        .sort((left, right) => left.from - right.from || right.to - left.to)
        .map(({ from, to }) => evidenceIn(utterance, from, to));
    });
}

function isInside({ role, startS }: Utterance, { by, withinS, lastS }: SaidWhere, totalS: number): boolean {
  if (by !== undefined && role !== by) return false;
  if (withinS !== undefined && startS > withinS) return false;
  return lastS === undefined || startS >= totalS - lastS;
}
