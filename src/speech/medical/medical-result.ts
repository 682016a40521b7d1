import { z } from 'zod';

/** What one speaker said from when to when, in seconds from the beginning of the whole recording. */
export interface MedicalSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly speaker: string | undefined;
}

/**
 * The medical answer (ASR doc, "Medical batch result"). Segments and speakers are empty without diarization. Times are in
 * seconds from the beginning of the whole recording.
 */
export interface MedicalResult {
  readonly text: string;
  readonly segments: readonly MedicalSegment[];
  /**
   * Speaker ids. Where a recording was sent in parts each part has its own, written `2/SPEAKER_00` for the second part: the
   * service does not say who of one part is who of another.
   */
  readonly speakers: readonly string[];
  readonly filename: string | undefined;
  /** Of every request that was sent for it, in the order of the parts. */
  readonly requestIds: readonly string[];
  /** How many parts it was sent in. */
  readonly parts: number;
  /** Requests that were sent for it; more than there are parts where some were sent again. */
  readonly attempts: number;
}

const segment = z
  .looseObject({ start: z.number(), end: z.number(), text: z.string(), speaker: z.string().nullish().catch(undefined) })
  .transform(({ start, end, text, speaker }): MedicalSegment => ({
    startS: start,
    endS: end,
    text,
    speaker: speaker ?? undefined,
  }));

/** The medical answer (ASR doc, "Medical batch result"). */
export const medicalAnswer = z.looseObject({
  success: z.boolean().nullish(),
  text: z.string(),
  segments: z.array(segment).nullish(),
  filename: z.string().nullish().catch(undefined),
  unique_speakers: z.array(z.string()).nullish().catch(undefined),
});

/** The answer to one part of a recording. */
export interface MedicalPart {
  readonly startS: number;
  readonly answer: z.output<typeof medicalAnswer>;
  readonly requestId: string | undefined;
  readonly attempts: number;
}

/** Joins the answers to the parts of one recording, given in their order. @param name file name of the whole */
export function joinMedical(parts: readonly MedicalPart[], name: string): MedicalResult {
  const labelled = (index: number, speaker: string): string => (parts.length === 1 ? speaker : `${index + 1}/${speaker}`);
  const speakers = parts.flatMap(({ answer }, index) => (answer.unique_speakers ?? []).map((each) => labelled(index, each)));
  const segments = parts.flatMap(({ answer, startS }, index) =>
    (answer.segments ?? []).map((each) => ({
      ...each,
      startS: startS + each.startS,
      endS: startS + each.endS,
      speaker: each.speaker === undefined ? undefined : labelled(index, each.speaker),
    })),
  );
  return {
    text: parts
      .map(({ answer }) => answer.text.trim())
      .filter((text) => text !== '')
      .join(' '),
    segments,
    speakers,
    filename: parts.length === 1 ? (parts[0]?.answer.filename ?? name) : name,
    requestIds: parts.flatMap(({ requestId }) => requestId ?? []),
    parts: parts.length,
    attempts: parts.reduce((sum, { attempts }) => sum + attempts, 0),
  };
}
