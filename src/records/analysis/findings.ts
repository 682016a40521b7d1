import { type Findings, type Ground, judge } from './conditions.ts';
import type { UsedUnits } from '../../costs/usage.ts';
import type { AnalysisProfile } from './profile.ts';
import { dayInZone } from '../../language/index.ts';
import type { IdentifiedSpeaker, TranscriptAnalysis, TranscriptionResult } from '../../speech/asr/transcription-result.ts';
import { type AnalysisFindings, analysisFindings } from './document.ts';
import { extractByRules } from './fields.ts';
import { measureTalk, type Talker, type TalkMeasures } from './measures.ts';
import type { FieldModel } from './model-fields.ts';
import type { LoadedProfile } from './analysis-profiles.ts';
import { Redactor } from './redaction/redact.ts';
import { type ChannelTranscript, utterancesOf } from './transcript.ts';
import { notUnderstood, roleUnknown, tooLittleForInsights, type Unknown, understandingOf } from './understanding.ts';

/** What was heard in a recording, before the profile is applied. */
export interface Heard {
  readonly channels: readonly ChannelTranscript[];
  readonly talkers: readonly Talker[];
  /** Speech measured on each channel, in seconds; undefined where the sound was not measured. */
  readonly speechS: readonly (number | undefined)[];
  readonly measuredFrom: AnalysisFindings['measuredFrom'];
  readonly totalS: number;
  /** Roles of the labels in `channels`. */
  readonly speakers: readonly {
    readonly label: string;
    readonly role: string;
    readonly profile: IdentifiedSpeaker | undefined;
  }[];
  readonly insights: TranscriptAnalysis | undefined;
  readonly emotion: TranscriptionResult['emotionSummary'];
  readonly languages: readonly string[];
  readonly problems: readonly string[];
  /** The bot's variables and notes; undefined for a recording from elsewhere. */
  readonly collected?: { readonly variables: Readonly<Record<string, string>>; readonly notes: readonly string[] } | undefined;
}

export interface FindingsParts {
  readonly loaded: LoadedProfile;
  /** Undefined without a model in the profile. */
  readonly model: FieldModel | undefined;
  /** When the recording was made: wall time, from which relative days are counted. */
  readonly recordedAtMs: number;
}

/**
 * Applies the profile. Redaction comes first: fields, checklist and model only see redacted text. Speech that was not understood proves nothing;
 * results that are unknown for that reason are listed under `unknown`.
 * @throws AnalysisModelError; the signal's reason when aborted
 */
export async function findingsOf(
  heard: Heard,
  { loaded, model, recordedAtMs }: FindingsParts,
  signal: AbortSignal,
): Promise<{
  readonly findings: AnalysisFindings;
  readonly channels: readonly ChannelTranscript[];
  /** The first role's share of all speech; null where unknown. */
  readonly talkRatio: number | null;
  /** What the profile's model used. */
  readonly usage: readonly UsedUnits[];
}> {
  const { profile, hash } = loaded;
  const redactor = new Redactor(profile.redaction);
  const redacted = heard.channels.map((channel, index) => redactor.channel(channel, index));
  const channels = redacted.map(({ transcript }) => transcript);
  const roleOf = new Map(heard.speakers.map(({ label, role }) => [label, role]));
  const unclear = channels.map((channel, index) => {
    const { role, source } = channel;
    const understood = understandingOf(channel, heard.speechS[index]);
    return { role, source, understood, reason: source === 'ledger' ? undefined : notUnderstood(understood) };
  });
  const wordsUnknown = roleUnknown(unclear, new Set(roleOf.values()), profile.channels.roles);
  const utterances = utterancesOf(channels, (label) => roleOf.get(label)).filter(
    ({ channel }) => unclear[channel]?.reason === undefined,
  );
  const recognised = unclear.flatMap(({ source, understood }) => (source === 'ledger' ? [] : [understood]));
  const basis = profile.insights.of === 'everybody' ? recognised : recognised.slice(0, 1);
  const unmeasured = heard.measuredFrom === 'nothing' ? 'there is no recording' : undefined;
  const insightsUnknown = unmeasured ?? tooLittleForInsights(basis);
  const insights = insightsUnknown === undefined ? hiddenInsights(heard, redactor, intentChoices(profile)) : {};
  const measures = measureTalk(heard.talkers, heard.totalS, profile.measures);

  const today = dayInZone(recordedAtMs, profile.timeZone);
  const problems = [...heard.problems];
  const ruled = profile.fields.flatMap((field) => extractByRules(field, utterances, today, problems) ?? []);
  const modelled = profile.fields.filter(({ from }) => from === 'model');
  const filled =
    utterances.length === 0
      ? undefined
      : await model?.extract(modelled, utterances, heard.languages[0] ?? profile.language, signal);
  const found = [...ruled, ...(filled?.fields ?? [])];
  const fields = profile.fields.flatMap(({ name }) => found.filter((field) => field.name === name));

  const { intent, sentiment }: { intent?: string | undefined; sentiment?: string | undefined } = insights;
  const variables = Object.fromEntries(
    Object.entries(heard.collected?.variables ?? {}).map(([name, value]) => [name, redactor.text(value)]),
  );
  const fieldBy = (name: string): string | undefined => profile.fields.find((field) => field.name === name)?.by;
  const known = { utterances, wordsUnknown, insightsUnknown, unmeasured, measures };
  const findings: Findings = { ...known, fields, fieldBy, variables, intent, sentiment };
  const quality = profile.checklist.length === 0 ? undefined : scored(profile.checklist, findings);
  const disposition = disposed(profile.disposition, findings);
  const talk = unmeasured === undefined ? talkRatioOf(measures, profile.channels.roles[0]) : { ratio: null, reason: unmeasured };
  const lost = profile.fields.filter(({ name }) => !fields.some((field) => field.name === name));
  const unknown: Unknown[] = [
    ...(talk.reason === undefined ? [] : [{ what: 'talk-ratio', reason: talk.reason }]),
    ...unknownInsights(profile, heard, insights, insightsUnknown),
    ...lost.flatMap(({ name, by }) => {
      const reason = wordsUnknown(by);
      return reason === undefined ? [] : [{ what: `field:${name}`, reason }];
    }),
    ...(quality?.unknown === undefined ? [] : [{ what: 'score', reason: quality.unknown }]),
    ...(disposition?.reason === undefined ? [] : [{ what: 'disposition', reason: disposition.reason }]),
  ];
  const document = {
    profile: { name: profile.name, hash },
    measures,
    measuredFrom: heard.measuredFrom,
    insights,
    fields,
    missing: lost.filter(({ required, by }) => required && wordsUnknown(by) === undefined).map(({ name }) => name),
    ...(heard.collected === undefined ? {} : { variables, notes: heard.collected.notes.map((note) => redactor.text(note)) }),
    quality,
    disposition,
    unknown,
    redaction: { hidden: redacted.flatMap(({ hidden }) => hidden) },
    speakers: heard.speakers.map(({ label, role, profile: known }) => ({
      label,
      role,
      name: known?.name,
      confidence: known?.confidence,
    })),
    languages: heard.languages,
    problems: [
      ...problems,
      ...unclear.flatMap(({ role, reason }) => (reason === undefined ? [] : [`${role}: ${reason}`])),
      ...(filled?.problems ?? []),
    ],
  };
  // Round trip through JSON, which drops undefined fields.
  const parsed = analysisFindings.parse(JSON.parse(JSON.stringify(document)));
  return { findings: parsed, channels, talkRatio: talk.ratio, usage: filled?.usage ?? [] };
}

function talkRatioOf(
  { roles, speechS }: TalkMeasures,
  first: string,
): { readonly ratio: number | null; readonly reason?: string | undefined } {
  const own = roles.find(({ role }) => role === first);
  if (speechS === 0) return { ratio: null, reason: 'nobody spoke' };
  if (own === undefined) return { ratio: null, reason: `no speaker was identified as ${first}` };
  return roles.length < 2 ? { ratio: null, reason: 'one voice alone was told apart' } : { ratio: own.talkRatio };
}

/** Insights that were asked for and are not there. */
function unknownInsights(
  { insights: asked }: LoadedProfile['profile'],
  { emotion, insights: heard }: Heard,
  given: Partial<ReturnType<typeof hiddenInsights>>,
  reason: string | undefined,
): Unknown[] {
  const heldNoChoice = asked.intent !== false && asked.intent.choices !== undefined && heard?.intent !== undefined;
  const wanted = {
    intent: asked.intent !== false,
    sentiment: asked.sentiment,
    summary: asked.summary !== false,
    keyTerms: asked.keyTerms !== false,
    emotion: emotion !== undefined,
  };
  return (['intent', 'sentiment', 'summary', 'keyTerms', 'emotion'] as const)
    .filter((name) => wanted[name] && given[name] === undefined)
    .map((what) => ({
      what,
      reason: reason ?? (what === 'intent' && heldNoChoice ? 'none of its choices fits' : 'the platform gave none'),
    }));
}

function intentChoices({ insights: { intent } }: LoadedProfile['profile']): readonly string[] | undefined {
  return intent === false ? undefined : intent.choices;
}

function hiddenInsights({ insights, emotion }: Heard, redactor: Redactor, choices: readonly string[] | undefined) {
  const { summary, sentiment, intent, keyterms, normalizedText } = insights ?? {};
  const hide = (text: string): string => redactor.text(text);
  return {
    summary: summary === undefined ? undefined : hide(summary),
    sentiment,
    intent: intent === undefined || choices?.includes(intent) !== false ? intent : undefined,
    keyTerms: keyterms?.map(hide),
    normalizedText: normalizedText === undefined ? undefined : hide(normalizedText),
    emotion: emotion === undefined ? undefined : { dominant: emotion.dominant, distribution: emotion.distribution },
  };
}

export interface ItemResult {
  readonly id: string;
  readonly question: string;
  readonly weight: number;
  readonly result: 'pass' | 'fail' | 'not-applicable' | 'unknown';
  /** Why it is unknown. */
  readonly reason?: string | undefined;
  readonly grounds: readonly Ground[];
}

export interface Quality {
  /** 0 to 100: the weight of what passed among what was decided; null when nothing was, or less than half of what applies. */
  readonly score: number | null;
  /** Why there is no score although something applies. */
  readonly unknown?: string | undefined;
  readonly items: readonly ItemResult[];
}

export interface Disposition {
  /** Null where it could not be decided, for this `reason`. */
  readonly value: string | null;
  readonly reason?: string | undefined;
  readonly label?: string | undefined;
  /** Empty where no outcome's condition held. */
  readonly grounds: readonly Ground[];
}

/** The checklist, item by item, each with what its verdict rests on. */
export function scored(checklist: AnalysisProfile['checklist'], findings: Findings): Quality {
  const items = checklist.map(({ id, question, weight, applies, pass }): ItemResult => {
    const applicable = applies === undefined ? undefined : judge(applies, findings);
    if (applicable?.holds === false) return { id, question, weight, result: 'not-applicable', grounds: [] };
    const { holds, grounds, reason } =
      applicable !== undefined && applicable.holds === undefined ? applicable : judge(pass, findings);
    if (holds === undefined) return { id, question, weight, result: 'unknown', reason, grounds };
    return { id, question, weight, result: holds ? 'pass' : 'fail', grounds };
  });
  const weightOf = (...results: readonly ItemResult['result'][]): number =>
    items.filter(({ result }) => results.includes(result)).reduce((sum, { weight }) => sum + weight, 0);
  const decided = weightOf('pass', 'fail');
  const open = weightOf('unknown');
  if (open > decided) {
    const reason = items.find(({ result }) => result === 'unknown')?.reason ?? 'nothing is known';
    return { score: null, unknown: `less than half of the checklist could be decided: ${reason}`, items };
  }
  return { score: decided === 0 ? null : Math.round((1000 * weightOf('pass')) / decided) / 10, items };
}

/** The first outcome whose condition holds; null where none holds and some are unknown; undefined without outcomes in the profile. */
export function disposed(disposition: AnalysisProfile['disposition'], findings: Findings): Disposition | undefined {
  if (disposition === undefined) return undefined;
  let open: string | undefined;
  for (const { value, label, when } of disposition.outcomes) {
    const { holds, grounds, reason } = judge(when, findings);
    if (holds === true) return { value, ...(label === undefined ? {} : { label }), grounds };
    if (holds === undefined) open ??= `whether it was "${value}" is not known: ${reason ?? 'nothing says so'}`;
  }
  if (open !== undefined) return { value: null, reason: open, grounds: [] };
  return { value: disposition.otherwise, grounds: [] };
}
