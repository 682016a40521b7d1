import type { TranscriptionOptions } from '../../speech/asr/transcription-options.ts';
import type { AnalysisProfile } from './profile.ts';

export interface ChannelRequest {
  /** Speakers to tell apart; 1 where the channel is one person's. */
  readonly speakers: number;
  /** Whether the insights are drawn from this request. */
  readonly insights: boolean;
}

/** What a profile asks of the batch endpoint for one channel, or for a whole recording (ASR doc, parameter table). */
export function recognitionOptions(profile: AnalysisProfile, { speakers, insights }: ChannelRequest): TranscriptionOptions {
  const { recognition, redaction, language } = profile;
  const identify = profile.speakers.identify;
  // Identification is sent together with two speakers or more (ASR doc, `speaker_id`).
  const told = identify ? Math.max(2, speakers) : speakers;
  const { outputScript, boostPhrases, boostWeight, emotion, medicalTerms, profanity, codeSwitch } = recognition;
  return {
    verbose: true,
    ...(language === 'auto' ? {} : { language }),
    ...(told > 1 ? { numSpeakers: told } : {}),
    ...(identify ? { identifySpeakers: true } : {}),
    ...(outputScript === undefined ? {} : { outputScript }),
    ...(boostPhrases.length === 0 ? {} : { boostPhrases }),
    ...(boostWeight === undefined ? {} : { boostWeight }),
    ...(emotion ? { emotion } : {}),
    ...(medicalTerms ? { medical: true } : {}),
    ...(profanity ? { profanity } : {}),
    ...(codeSwitch ? { codeSwitch } : {}),
    ...(redaction.keywords.length === 0 ? {} : { hashKeywords: redaction.keywords }),
    ...(insights ? insightOptions(profile) : {}),
  };
}

/** A platform that has to choose takes the first choice where none fits: this one is added, and means that none does. */
export const NO_CHOICE = 'other';

/** Of the insights only those that were asked for: they come sooner than all of them (ASR doc, `enable_*`). */
export function insightOptions({ insights }: AnalysisProfile): TranscriptionOptions {
  const { summary, sentiment, intent, keyTerms } = insights;
  return {
    ...(sentiment ? { sentiment } : {}),
    ...(summary === false ? {} : { summary: true }),
    ...(summary === false || summary.maxLength === undefined ? {} : { summaryMaxLength: summary.maxLength }),
    ...(intent === false ? {} : { intent: true }),
    ...(intent === false || intent.choices === undefined ? {} : { intentChoices: [...new Set([...intent.choices, NO_CHOICE])] }),
    ...(keyTerms === false ? {} : { keyterms: true }),
    ...(keyTerms === false || keyTerms.keywords === undefined ? {} : { keytermKeywords: keyTerms.keywords }),
  };
}

/** Whether the profile asks for any insight at all. */
export function wantsInsights({ insights: { summary, sentiment, intent, keyTerms } }: AnalysisProfile): boolean {
  return sentiment || summary !== false || intent !== false || keyTerms !== false;
}
