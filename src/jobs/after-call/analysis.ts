import { z } from 'zod';
import { analysisFindings, analysisSegment, analysisWord } from '../analysis/document.ts';

const channel = z.object({ text: z.string(), segments: z.array(analysisSegment), words: z.array(analysisWord).optional() });

/** What is known of a call after its end: version 1 of the document. Older ones lack what a profile adds. */
export const callAnalysis = z.object({
  version: z.literal(1),
  callId: z.string(),
  channels: z.tuple([
    /** Recognised from the recording's caller channel; `live`: what was understood during a call that has no recording. */
    channel.extend({ role: z.literal('caller'), source: z.enum(['asr', 'medical', 'live']) }),
    /** What was heard of the bot, by the call's own ledger: nobody needs to recognise what we said ourselves. */
    channel.extend({ role: z.literal('bot'), source: z.literal('ledger') }),
  ]),
  /** Seconds; speech is measured from the audio's level. */
  durations: z.object({ totalS: z.number(), callerSpeechS: z.number(), botSpeechS: z.number() }),
  /** The caller's share of all speech, 0 to 1; null when nobody spoke. */
  talkRatio: z.number().nullable(),
  ...analysisFindings.partial().shape,
});

export type AnalysisSegment = z.infer<typeof analysisSegment>;
export type CallAnalysis = z.infer<typeof callAnalysis>;
