import { dayInZone } from '../../dialog/understand/calendar-day.ts';
import type { IdentifiedSpeaker, TranscriptAnalysis, TranscriptionResult } from '../../speech/asr/transcription-result.ts';
import type { Findings } from './conditions.ts';
import { type AnalysisFindings, analysisFindings } from './document.ts';
import { extractByRules } from './fields.ts';
import { measureTalk, type Talker } from './measures.ts';
import type { FieldModel } from './model-fields.ts';
import type { LoadedProfile } from './profile-file.ts';
import { Redactor } from './redaction/redact.ts';
import { type ChannelTranscript, utterancesOf } from './transcript.ts';
import { disposed, scored } from './verdicts.ts';

/** What was heard of a recording, before anything is made of it. */
export interface Heard {
  readonly channels: readonly ChannelTranscript[];
  readonly talkers: readonly Talker[];
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
  /** What a call's bot set and noted; undefined for a recording from elsewhere. */
  readonly collected?: { readonly variables: Readonly<Record<string, string>>; readonly notes: readonly string[] } | undefined;
}

export interface FindingsParts {
  readonly loaded: LoadedProfile;
  /** Undefined where the profile has none. */
  readonly model: FieldModel | undefined;
  /** When the recording was made: wall time, from which relative days are counted. */
  readonly recordedAtMs: number;
}

/**
 * Makes of what was heard what the profile asks for. Redaction comes first: fields, checklist and model see what is kept.
 * @throws AnalysisModelError; the signal's reason when aborted
 */
export async function findingsOf(
  heard: Heard,
  { loaded, model, recordedAtMs }: FindingsParts,
  signal: AbortSignal,
): Promise<{ readonly findings: AnalysisFindings; readonly channels: readonly ChannelTranscript[] }> {
  const { profile, hash } = loaded;
  const redactor = new Redactor(profile.redaction);
  const redacted = heard.channels.map((channel, index) => {
    return redactor.channel(channel, index);
  });
  const channels = redacted.map(({ transcript }) => transcript);
  const roleOf = new Map(heard.speakers.map(({ label, role }) => [label, role]));
  const utterances = utterancesOf(channels, (label) => roleOf.get(label));
  const insights = hiddenInsights(heard, redactor);
  const measures = measureTalk(heard.talkers, heard.totalS, profile.measures);

  const today = dayInZone(recordedAtMs, profile.timeZone);
  const problems = [...heard.problems];
  const ruled = profile.fields.flatMap((field) => extractByRules(field, utterances, today, problems) ?? []);
  const modelled = profile.fields.filter(({ from }) => from === 'model');
  const filled = await model?.extract(modelled, utterances, heard.languages[0] ?? profile.language, signal);
  const found = [...ruled, ...(filled?.fields ?? [])];
  const fields = profile.fields.flatMap(({ name }) => found.filter((field) => field.name === name));

  const { intent, sentiment } = insights;
  const variables = Object.fromEntries(
    Object.entries(heard.collected?.variables ?? {}).map(([name, value]) => [name, redactor.text(value)]),
  );
  const findings: Findings = { utterances, measures, fields, variables, intent, sentiment };
  const quality = profile.checklist.length === 0 ? undefined : scored(profile.checklist, findings);
  const disposition = disposed(profile.disposition, findings);
  const document = {
    profile: { name: profile.name, hash },
    measures,
    measuredFrom: heard.measuredFrom,
    insights,
    fields,
    missing: profile.fields
      .filter(({ required, name }) => required && !fields.some((field) => field.name === name))
      .map(({ name }) => name),
    ...(heard.collected === undefined ? {} : { variables, notes: heard.collected.notes.map((note) => redactor.text(note)) }),
    quality,
    disposition,
    redaction: { hidden: redacted.flatMap(({ hidden }) => hidden) },
    speakers: heard.speakers.map(({ label, role, profile: known }) => ({
      label,
      role,
      name: known?.name,
      confidence: known?.confidence,
    })),
    languages: heard.languages,
    problems: [...problems, ...(filled?.problems ?? [])],
  };
  // As JSON says it: what is undefined is not there.
  return { findings: analysisFindings.parse(JSON.parse(JSON.stringify(document))), channels };
}

function hiddenInsights({ insights, emotion }: Heard, redactor: Redactor) {
  const { summary, sentiment, intent, keyterms, normalizedText } = insights ?? {};
  const hide = (text: string): string => redactor.text(text);
  return {
    summary: summary === undefined ? undefined : hide(summary),
    sentiment,
    intent,
    keyTerms: keyterms?.map(hide),
    normalizedText: normalizedText === undefined ? undefined : hide(normalizedText),
    emotion: emotion === undefined ? undefined : { dominant: emotion.dominant, distribution: emotion.distribution },
  };
}
